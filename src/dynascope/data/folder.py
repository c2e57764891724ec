"""The data folder: named by `DYNASCOPE_DATA`, else `data` in the results folder."""

from __future__ import annotations

import os
from pathlib import Path

from dynascope.core.errors import MissingData
from dynascope.core.home import home


def folder() -> Path:
    """The folder that holds the data sets, whether it is there or not."""
    if chosen := os.environ.get("DYNASCOPE_DATA"):
        return Path(chosen).expanduser()
    return home() / "data"


def present(name: str) -> bool:
    """Whether a data set lies in the folder."""
    return (folder() / name).exists()


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
    if not present(name):
        raise MissingData(missing(name))
    return folder() / name


def missing(name: str) -> str:
    """What to do about a data set that is not there, in one line."""
    if os.environ.get("DYNASCOPE_DATA"):
        return f"{name} is not in {folder()}, which DYNASCOPE_DATA names: put it there"
    return f"{name} is not in {folder()}: set DYNASCOPE_DATA to the folder that holds it"
