"""What `load` gives: a data set as arrays, with its licence and what it is a part of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from dynascope.core.errors import bad

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # x_train, y_train, x_test, y_test


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set split for training and testing; one row a sample, labels whole numbers.

    Inputs are uint8 (0 to 255) or float32 as the files have them; `scaled` brings both to the
    same range. The arrays are read-only, since one copy is shared.
    """

    name: str
    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    licence: str
    note: str  # which part of the set this is, and what was done to it

    def __post_init__(self) -> None:
        """Check that rows match, and lock the arrays."""
        for part in ("train", "test"):
            x, y = getattr(self, f"x_{part}"), getattr(self, f"y_{part}")
            if x.ndim < 2 or y.shape != (len(x),):
                shapes = f"x_{part} {x.shape}, y_{part} {y.shape}"
                raise bad(self.name, shapes, "one row of x and one label for every sample")
            x.setflags(write=False)
            y.setflags(write=False)
        if self.x_train.shape[1:] != self.x_test.shape[1:]:
            came = (self.x_train.shape, self.x_test.shape)
            raise bad(self.name, came, "training and test inputs of one shape")

    @property
    def labels(self) -> tuple[int, ...]:
        """Every label that occurs in the training part."""
        return tuple(int(v) for v in np.unique(self.y_train))

    def checksum(self) -> str:
        """Sixteen hex digits of all four arrays: the same numbers, the same checksum."""
        digest = hashlib.sha256()
        for array in (self.x_train, self.y_train, self.x_test, self.y_test):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]
