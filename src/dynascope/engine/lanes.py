"""Lanes: every seed at every point of a sweep grid, as arrays for one compiled call.

Only numbers may differ between the points; whatever changes shapes or switches (a width,
an activation) is split off before, in `runner`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.code import Code
from dynascope.core.leaves import leaves, skeleton
from dynascope.core.plain import Codes
from dynascope.engine.experiment import Setup


@dataclass(frozen=True)
class Lanes:
    """Points x seeds, seeds fastest, padded to a size that is compiled for."""

    setup: Setup
    skeleton: str
    values: dict[str, np.ndarray]  # leaves; those in `batched` have a lane axis
    batched: frozenset[str]
    seeds: np.ndarray  # (padded lanes,)
    count: int  # how many lanes are real
    codes: tuple[Code, ...] = ()  # of classes and functions that are not ours


def stack(grid: list[Setup], seeds: tuple[int, ...]) -> Lanes:
    """The lanes of a grid; numbers that are the same at every point stay without lane axis."""
    codes: Codes = {}
    shapes = {skeleton(setup, codes) for setup in grid}
    if len(shapes) > 1:
        raise AssertionError("a grid with more than one skeleton must be split before")
    count = len(grid) * len(seeds)
    total = bucket(count)
    every = [leaves(setup) for setup in grid]
    values, batched = {}, set()
    for path, first in every[0].items():
        if all(np.array_equal(first, other[path]) for other in every):
            values[path] = first
        else:
            values[path] = pad(np.repeat([e[path] for e in every], len(seeds), axis=0), total)
            batched.add(path)
    lane_seeds = pad(np.tile(np.asarray(seeds, np.uint32), len(grid)), total)
    read = tuple(code for _, code in codes.values())
    return Lanes(grid[0], shapes.pop(), values, frozenset(batched), lane_seeds, count, read)


def bucket(lanes: int) -> int:
    """Lanes to compile for: even numbers up to 16, multiples of 8 up to 64, then of 32.

    A second seed or a longer sweep then mostly finds a program that is compiled already.
    Lanes that only fill up are computed as well, so the steps are small where lanes are few.

    Example:
        >>> [bucket(n) for n in (1, 3, 33, 65, 1000)]
        [1, 4, 40, 96, 1024]
    """
    if lanes <= 2:
        return lanes
    step = 2 if lanes <= 16 else 8 if lanes <= 64 else 32
    return -(-lanes // step) * step


def shares(lanes: int, devices: int) -> int:
    """How many of the devices get an equal share of a bucket of lanes.

    Example:
        >>> [shares(1, 2), shares(32, 2), shares(64, 6)]
        [1, 2, 4]
    """
    return max(n for n in range(1, min(lanes, devices) + 1) if lanes % n == 0)


def pad(array: np.ndarray, total: int) -> np.ndarray:
    """Repeat the last lane until there are `total`; what it computes is dropped again."""
    return np.concatenate([array, np.repeat(array[-1:], total - len(array), axis=0)])
