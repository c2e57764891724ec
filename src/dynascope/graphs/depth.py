"""Depths as they come from a caller: one whole number, or several."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from dynascope.core.errors import bad


def one_depth(depth: object, least: int = 0) -> int:
    """A depth of at least `least`, checked.

    Example:
        >>> one_depth(3)
        3
    """
    if not isinstance(depth, Integral) or isinstance(depth, bool) or depth < least:
        raise bad("depth", depth, f"a whole number of at least {least}")
    return int(depth)


def several_depths(depth: int | Iterable[int]) -> tuple[list[int], bool]:
    """The depths asked for, and whether it was a single one.

    Example:
        >>> several_depths(2), several_depths(range(1, 3))
        (([2], True), ([1, 2], False))
    """
    if not isinstance(depth, Iterable):
        return [one_depth(depth)], True
    wanted = [one_depth(d) for d in depth]
    if not wanted:
        raise bad("depth", depth, "at least one depth")
    return wanted, False
