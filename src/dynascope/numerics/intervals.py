"""Intervals that hold the true value in 95 of 100 repetitions, for the seeds that there are.

Few seeds are not certain: the intervals are exact for normal draws (Student) or
conservative for yes-or-no draws (Clopper and Pearson), at any number of seeds. `None` means
that nothing can be said: one seed has no spread.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
Interval = tuple[float, float]


def around(value: float, error: float, freedom: float) -> Interval | None:
    """Student's interval around an estimate with a standard error.

    Args:
        value: The estimate.
        error: Its standard error, itself estimated.
        freedom: Degrees of freedom of that error; below 1 nothing can be said.

    Returns:
        Low and high end, or None.

    Example:
        >>> low, high = around(0.0, 1.0, 3)
        >>> round(high, 3)
        3.182
    """
    if not freedom >= 1 or not math.isfinite(error):
        return None
    half = float(special.stdtrit(freedom, 1 - TAIL)) * error
    return value - half, value + half


def of_mean(values: np.ndarray) -> Interval | None:
    """Of the mean of independent draws.

    Example:
        >>> [round(v, 3) for v in of_mean(np.array([1.0, 2.0, 3.0]))]
        [-0.484, 4.484]
        >>> of_mean(np.array([1.0])) is None
        True
    """
    n = len(values)
    if n < 2:
        return None
    return around(float(values.mean()), float(values.std(ddof=1)) / n**0.5, n - 1)


def of_share(yes: int, n: int, tail: float = TAIL) -> Interval | None:
    """Of the chance of a yes, from `yes` of `n` draws (Clopper and Pearson).

    Each end is missed in at most a share `tail` of repetitions.

    Example:
        >>> [round(v, 3) for v in of_share(0, 10)]
        [0.0, 0.308]
    """
    if n < 1:
        return None
    low = float(special.betaincinv(yes, n - yes + 1, tail)) if yes else 0.0
    high = float(special.betaincinv(yes + 1, n - yes, 1 - tail)) if yes < n else 1.0
    return low, high


def of_difference(values: Interval, first: Interval, second: Interval) -> Interval:
    """Of the difference of two independent estimates, from the interval of each.

    The distances to the ends are squared and added (Newcombe's construction), so that each
    estimate may have a lopsided interval of its own kind.

    Args:
        values: The two estimates.
        first: Interval of the first.
        second: Interval of the second.

    Returns:
        Low and high end of first minus second.

    Example:
        >>> [round(v, 2) for v in of_difference((0.9, 0.2), of_share(9, 10), of_share(2, 10))]
        [0.2, 0.9]
    """
    (p, q), (p_low, p_high), (q_low, q_high) = values, first, second
    return p - q - math.hypot(p - p_low, q_high - q), p - q + math.hypot(p_high - p, q - q_low)


def of_median(values: np.ndarray, tail: float = TAIL) -> Interval | None:
    """Of the median of independent draws, by order statistics; needs six of them, all numbers.

    Each end is missed in at most a share `tail` of repetitions; a smaller one needs more draws.

    Example:
        >>> of_median(np.arange(6.0)), of_median(np.arange(5.0))
        ((0.0, 5.0), None)
    """
    ordered = np.sort(np.asarray(values, float))
    n = len(ordered)
    # The k smallest may be left out if fewer than k of n fair coins fall heads in a tail of cases.
    left_out = np.flatnonzero(special.bdtr(np.arange(n), n, 0.5) <= tail)
    if not len(left_out) or np.isnan(ordered).any():
        return None
    k = int(left_out[-1])
    return float(ordered[k]), float(ordered[n - 1 - k])
