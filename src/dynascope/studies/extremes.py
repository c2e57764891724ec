"""The largest or smallest of some measurements, and how far one is from a known number.

Which of several is the largest is itself a matter of chance: the best of k reaches further
than each of them. The intervals here count that; one of the k picked by hand does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from dynascope.core.records import Kind, Measured
from dynascope.numerics import intervals


def distance(measured: Measured, point: float = 0.0) -> Measured:
    """How far a measurement is from a known number, with the interval that follows.

    Example:
        >>> found = distance(Measured(0.4, None, 9, 0.25, 0.75), 0.5)
        >>> round(found.value, 2), found.low, found.high
        (0.1, 0.0, 0.25)
    """
    if measured.value is None or measured.low is None or measured.high is None:
        return measured
    ends = abs(measured.low - point), abs(measured.high - point)
    low = 0.0 if measured.low <= point <= measured.high else min(ends)
    kind: Kind = "exact" if measured.kind == "exact" else "mean"  # it is no share of seeds
    return replace(measured, value=abs(measured.value - point), low=low, high=max(ends), kind=kind)


def largest(found: Iterable[Measured]) -> Measured:
    """The largest of some measurements, with an interval for the largest true value.

    All of them lie below the high end with the certainty of one. That some one lies above
    the low end is said of the best of k, so each interval's lower half is widened as
    Bonferroni asks, by the ratio of two of Student's quantiles. One that is no number, or has
    no interval, leaves nothing to say of the largest.

    Example:
        >>> found = largest([Measured(1.0, None, 9, 0.9, 1.1), Measured(0.5, None, 9, 0.0, 2.0)])
        >>> found.value, round(found.low, 3), found.high
        (1.0, 0.881, 2.0)
    """
    all_ = list(found)
    ends = [v for m in all_ for v in (m.value, m.low, m.high)]
    if not all_ or None in ends or np.isnan(np.array(ends, float)).any():
        return Measured(None, None, 0)
    lows = [m.value - _wider(m, len(all_)) * (m.value - m.low) for m in all_]  # type: ignore[operator]
    most = max(all_, key=lambda m: m.value or 0.0)
    return replace(most, low=max(lows), high=max(m.high or 0.0 for m in all_))


def smallest(found: Iterable[Measured]) -> Measured:
    """The smallest of some measurements; see `largest`.

    Example:
        >>> smallest([Measured(1.0, None, 9, 0.9, 1.1), Measured(0.5, None, 9, 0.2, 2.0)]).low
        0.2
    """
    return _negative(largest(map(_negative, found)))


def _wider(measured: Measured, k: int) -> float:
    """How much wider half an interval is that one of `k` misses as seldom as one alone does."""
    if measured.kind == "exact":
        return 1.0  # as wide as the numerical error, which is no matter of chance
    alone, one_of_all = stdtrit(
        max(measured.n - 1, 1), [1 - intervals.TAIL, 1 - intervals.TAIL / k]
    )
    return float(one_of_all / alone)


def _negative(m: Measured) -> Measured:
    if m.value is None or m.low is None or m.high is None:
        return m
    return replace(m, value=-m.value, low=-m.high, high=-m.low)
