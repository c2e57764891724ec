"""Where data sets lie: the folder that `DYNASCOPE_DATA` names, then `data` in the results folder.

The first is the user's and may be read-only; the second is the product's cache, into which
downloads go.
"""

from __future__ import annotations

import os
from pathlib import Path

from dynascope.core.errors import MissingData
from dynascope.runtime.home import home


def cache() -> Path:
    """The folder into which downloads go, whether it is there or not."""
    return home() / "data"


def folder() -> Path:
    """The folder to put data sets into by hand: the named one, else the cache."""
    return folders()[0]


def folders() -> list[Path]:
    """Where data sets are looked for, in this order."""
    chosen = os.environ.get("DYNASCOPE_DATA")
    return [Path(chosen).expanduser(), cache()] if chosen else [cache()]


def present(name: str) -> bool:
    """Whether a data set lies in one of the folders."""
    return any((place / name).exists() for place in folders())


def find(name: str) -> Path:
    """The file or folder of a data set.

    Args:
        name: Its place in the data folder, such as "planetoid/ind.cora.graph".

    Returns:
        The path; it exists.

    Example:
        >>> find("planetoid/ind.nowhere.graph")
        Traceback (most recent call last):
        dynascope.core.errors.MissingData: ...
    """
    for place in folders():
        if (place / name).exists():
            return place / name
    raise MissingData(missing(name))


def missing(name: str) -> str:
    """What to do about a data set that is not there, in one line."""
    if os.environ.get("DYNASCOPE_DATA"):
        return f"{name} is not there: put it into {folder()}, which DYNASCOPE_DATA names"
    return f"{name} is not there: set DYNASCOPE_DATA to the folder that holds it"
