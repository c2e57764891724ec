"""Several calls at once, on threads: for calls that mostly wait for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from dynascope.runtime.cores import cores

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`function` of every item, in their order; as many at a time as there are cores.

    Example:
        >>> side_by_side(abs, [-1, 2, -3])
        [1, 2, 3]
    """
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(function, items))
