"""Which installed distribution a module belongs to, and in which version.

What is installed is known by name and version; its code need not be read. A user's own
module belongs to nothing: also where it stands in an editable install.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import sysconfig
from functools import cache
from importlib import metadata
from pathlib import Path

PYTHON = f"python {sys.version_info.major}.{sys.version_info.minor}"
_FOLDERS = {"site-packages", "dist-packages"}


def installed(module: str | None) -> str | None:
    """Name and version of the distribution that a module is of; None for a user's own.

    Our own modules are known by name alone, like our own specs.

    Example:
        >>> installed("dynascope.tasks"), installed("math") == PYTHON, installed("__main__")
        ('dynascope', True, None)
    """
    if not module or module in ("__main__", "__mp_main__"):  # launchers lie in site-packages
        return None
    top = module.partition(".")[0]
    return top if top == "dynascope" else _owner(top, _file(module, top))


def _file(module: str, top: str) -> str | None:
    """Where the module, or the package that it would be imported from, is kept."""
    loaded = sys.modules.get(module)
    if loaded is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
        return spec.origin if spec and spec.has_location else None
    names = vars(loaded)  # a module may answer for names that it does not have
    return names.get("__file__") or next(iter(names.get("__path__", ())), None)


@cache
def _owner(top: str, file: str | None) -> str | None:
    if file is None:
        return PYTHON if top in sys.stdlib_module_names else None
    path = Path(file)
    if _FOLDERS & set(path.parts):
        found = [d for d in _distributions(top) if path.is_relative_to(str(d.locate_file("")))]
        return ", ".join(sorted(map(_version, found))) or None
    home = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    known = top in sys.stdlib_module_names and any(path.is_relative_to(h) for h in home)
    return PYTHON if known else None


def _distributions(top: str) -> list[metadata.Distribution]:
    try:
        return [metadata.distribution(top)]
    except metadata.PackageNotFoundError:  # scikit-learn is imported as sklearn
        return [metadata.distribution(name) for name in set(_names().get(top, ()))]


@cache
def _names() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())  # reads every distribution: 0.3 s


def _version(distribution: metadata.Distribution) -> str:
    """Name and version; with the files' checksums where it was built from a folder.

    Somebody who installs a folder again after an edit seldom gives it a new version.
    """
    label = f"{distribution.metadata['Name']} {distribution.version}"
    if distribution.read_text("direct_url.json") is None:
        return label
    files = [line for line in (distribution.read_text("RECORD") or "").split() if ".py," in line]
    return f"{label} {hashlib.sha256(repr(sorted(files)).encode()).hexdigest()[:16]}"
