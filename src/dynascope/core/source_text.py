"""The text of dynascope's own files as a digest: what was kept is valid for the same code only."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def text_digest(paths: tuple[Path, ...]) -> str:
    """Of names and texts; read once a process, as the modules were.

    Example:
        >>> text_digest((ROOT / "__init__.py",)) == text_digest((ROOT / "__main__.py",))
        False
    """
    whole = hashlib.sha256()
    for path in paths:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
        whole.update(name.as_posix().encode() + path.read_bytes())
    return whole.hexdigest()[:16]


@cache
def all_files() -> tuple[Path, ...]:
    """Every module of dynascope."""
    return tuple(sorted(ROOT.rglob("*.py")))
