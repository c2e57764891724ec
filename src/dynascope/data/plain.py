"""The plain layout: four arrays in a folder. Also the way to bring a set of one's own.

`x_train.npy`, `y_train.npy`, `x_test.npy`, `y_test.npy`, each also as `.npy.xz`. A file
`SOURCE.md` beside them tells what they are; its first line becomes the note.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.npy import read_npy
from dynascope.data.record import Split

PARTS = ("x_train", "y_train", "x_test", "y_test")


def is_plain(place: Path) -> bool:
    """Whether a folder holds training arrays in the plain layout."""
    return any((place / f"x_train.npy{end}").is_file() for end in ("", ".xz"))


def read_plain(place: Path) -> Split:
    """The four arrays of a folder; numbers only, nothing pickled."""
    x_train, y_train, x_test, y_test = (_read(place, part) for part in PARTS)
    return _inputs(x_train), y_train.astype(np.int64), _inputs(x_test), y_test.astype(np.int64)


def described(place: Path) -> str:
    """The first line of `SOURCE.md`, without its mark; empty where there is none."""
    file = place / "SOURCE.md"
    return file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") if file.exists() else ""


def _read(place: Path, part: str) -> np.ndarray:
    packed, bare = place / f"{part}.npy.xz", place / f"{part}.npy"
    if not packed.is_file() and not bare.is_file():
        raise bad(place.name, f"no {part}.npy", f"the four arrays {', '.join(PARTS)}")
    try:
        with lzma.open(packed) if packed.is_file() else open(bare, "rb") as file:
            array = read_npy(file)
    except (ValueError, EOFError, OSError, lzma.LZMAError) as error:
        raise bad(f"{place.name}/{part}", str(error), "an array of numbers in .npy form") from None
    if not np.issubdtype(array.dtype, np.number):
        raise bad(f"{place.name}/{part}", array.dtype.name, "an array of numbers")
    return array


def _inputs(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == np.uint8 else x.astype(np.float32)
