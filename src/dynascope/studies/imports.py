"""Which files of the library a module rests on, told from the texts without importing anything.

A name is followed to the file that defines it: `from dynascope.probes import bump` leads through
the package's `__init__` to `probes/curves.py`, and to no other probe.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dynascope.core.source_text import ROOT

PACKAGE = "dynascope"


class Import(NamedTuple):
    """`from module import name`, or `import module` with no name."""

    module: str
    name: str | None
    bound: str  # what it is called where it is imported


def rests_on(module: str, root: Path = ROOT, left_out: frozenset[str] = frozenset()) -> set[Path]:
    """The file of a module and those of all modules of the library whose names it imports.

    Args:
        module: Its full name.
        root: The folder of the package.
        left_out: Modules that are not followed.

    Returns:
        The files, that of the module among them.

    Example:
        >>> sorted(path.name for path in rests_on("dynascope.numerics.intervals"))
        ['intervals.py']
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or name in left_out:
            continue
        path = _file(name, root)
        if path is None:
            continue
        found[name] = path
        for wanted in _imports(path):
            waiting += [wanted.module] if wanted.name is None else _origin(wanted, root)
    return set(found.values())


def _origin(wanted: Import, root: Path) -> list[str]:
    """The modules that a name comes from: itself a module, passed on, or defined there."""
    inner = f"{wanted.module}.{wanted.name}"
    if _file(inner, root):
        return [inner]
    path = _file(wanted.module, root)
    if path is None:
        return []
    if path.name == "__init__.py":
        passed_on = [i for i in _imports(path) if i.bound == wanted.name and i.name]
        if passed_on:
            return [origin for i in passed_on for origin in _origin(i, root)]
    return [wanted.module]


def _file(module: str, root: Path) -> Path | None:
    """The file of a module of the library, if there is one."""
    first, *rest = module.split(".")
    place = root.joinpath(*rest)
    if first != PACKAGE:
        return None
    inside = place / "__init__.py"
    if inside.exists():
        return inside
    return place.with_suffix(".py") if rest and place.with_suffix(".py").exists() else None


@cache
def _imports(path: Path) -> tuple[Import, ...]:
    """What a file imports of the library, inside of functions too; read once a process."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            found += [Import(str(node.module), a.name, a.asname or a.name) for a in node.names]
        elif isinstance(node, ast.Import):
            found += [Import(a.name, None, a.asname or a.name) for a in node.names
                      if a.name.startswith(PACKAGE)]  # fmt: skip
    return tuple(found)
