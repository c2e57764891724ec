"""Colour and size of the one disc in a picture, from its pixels; or that there is none to read.

The background is brighter than 0.8 in all colours and the disc's green is at most about 0.5, so
that green below `DARK` is the disc. Its colour is the sign of blue less red, its diameter that of a
circle of as many pixels. A picture is readable where these pixels are as many as a disc may have,
and lie together as a disc's do. Plain numpy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad

DARK = 0.65  # green below it belongs to the disc
LEAST_PIXELS = 2  # a single dark pixel is noise as well as a disc
MOST_AREA = 0.68  # a disc of diameter 0.93, as the blur makes of one of 0.85
# Mean square distance from the middle over that of a full circle of the same area, which has 1.
# True pictures, discs cut off by the edge included, stay below 1.1; pixels all over the picture
# have 1.05 over the share that is dark, at least 1.5.
LOOSEST = 1.25


class Read(NamedTuple):
    """What pictures show: arrays of the pictures' leading shape."""

    readable: np.ndarray  # bool
    blue: np.ndarray  # bool; meaningless where not readable
    small: np.ndarray  # bool; likewise
    diameter: np.ndarray  # share of the side


def read_discs(pictures: ArrayLike, between: float = 0.45) -> Read:
    """Colour and size of the disc in each picture.

    Args:
        pictures: (..., side, side, 3), colours from 0 to 1.
        between: The diameter that parts small from big, as share of the side.

    Returns:
        What each shows.

    Example:
        >>> white = np.full((8, 8, 3), 0.9)
        >>> white[2:5, 2:5] = (0.1, 0.1, 0.9)
        >>> found = read_discs(white)
        >>> bool(found.readable), bool(found.blue), bool(found.small)
        (True, True, True)
    """
    shown = np.asarray(pictures, float)
    if shown.ndim < 3 or shown.shape[-1] != 3 or shown.shape[-2] != shown.shape[-3]:
        raise bad("pictures", shown.shape, "(..., side, side, 3)")
    side = shown.shape[-2]
    mask = shown[..., 1] < DARK
    area = mask.sum((-1, -2))
    some = np.maximum(area, 1)
    at = np.arange(side)
    middle = [(mask * place).sum((-1, -2)) / some for place in (at, at[:, None])]
    squares = [(mask * place**2).sum((-1, -2)) / some for place in (at, at[:, None])]
    spread = squares[0] + squares[1] - middle[0] ** 2 - middle[1] ** 2
    together = spread * 2 * np.pi <= LOOSEST * some
    share = area / side**2
    readable = (area >= LEAST_PIXELS) & (share <= MOST_AREA) & together
    contrast = ((shown[..., 2] - shown[..., 0]) * mask).sum((-1, -2))
    diameter = np.sqrt(4 * share / np.pi)
    return Read(readable, contrast > 0, diameter < between, diameter)
