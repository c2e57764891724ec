"""Studies of installed packages, found through the entry point `dynascope.studies`."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

GROUP = "dynascope.studies"


def load_installed() -> None:
    """Import what installed packages name; a package that cannot be imported is told, not fatal."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"studies of {point.value} could not be loaded: {said}", file=sys.stderr)
