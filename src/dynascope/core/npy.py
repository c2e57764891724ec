"""One array from a file in numpy's .npy form that somebody else may have written."""

from __future__ import annotations

import struct
from typing import IO

import numpy as np


def read_npy(file: IO[bytes]) -> np.ndarray:
    """The array of an open .npy file; `ValueError` for whatever else is in it.

    `np.load` looks at the first bytes and also opens archives and pickles; this does not.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, np.arange(3))
        >>> read_npy(io.BytesIO(file.getvalue())).tolist()
        [0, 1, 2]
    """
    try:
        return np.lib.format.read_array(file, allow_pickle=False)
    except (EOFError, OverflowError, MemoryError, TypeError, struct.error) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
