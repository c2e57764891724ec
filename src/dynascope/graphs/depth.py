"""Depths as they come from a caller: one whole number, or several."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from dynascope.core.errors import bad

MOST = 100_000  # no colouring of a graph that fits into memory is refined longer


def one_depth(depth: object, least: int = 0) -> int:
    """A depth of at least `least`, checked.

    Example:
        >>> one_depth(3)
        3
    """
    whole = isinstance(depth, Integral) and not isinstance(depth, bool)
    number = int(depth) if whole else -1  # type: ignore[call-overload]
    if not whole or not least <= number <= MOST:
        raise bad("depth", depth, f"a whole number of at least {least}, at most {MOST:,}")
    return number


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
