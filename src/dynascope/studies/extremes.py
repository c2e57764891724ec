"""The largest or smallest of some measurements, and how far one is from a known number.

Which of several is the largest is itself a matter of chance: the best of k reaches further
than each of them. The intervals here count that; one of the k picked by hand does not have it.
All of k lie on the near side of their own ends with the certainty of one; that some one lies
beyond its other end is said of the best of k, so that end is one that a single measurement would
miss k times as seldom (Bonferroni): the share's own, or wider by the ratio of Student's quantiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from dynascope.core.records import Kind, Measured
from dynascope.numerics import intervals

NOTHING = Measured(None, None, 0)


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

    Medians, whose ends are order statistics, go elsewhere. One that is no number, or has no
    interval, leaves nothing to say of the largest.

    Example:
        >>> found = largest([Measured(1.0, None, 9, 0.9, 1.1), Measured(0.5, None, 9, 0.0, 2.0)])
        >>> found.value, round(found.low, 3), found.high
        (1.0, 0.881, 2.0)
    """
    return largest_distance((m, None) for m in found)


def smallest(found: Iterable[Measured]) -> Measured:
    """The smallest of some measurements; see `largest`.

    Example:
        >>> smallest([Measured(1.0, None, 9, 0.9, 1.1), Measured(0.5, None, 9, 0.2, 2.0)]).low
        0.2
    """
    all_ = list(found)
    if not _known(all_):
        return NOTHING
    least = min(all_, key=lambda m: m.value or 0.0)
    surely = min(_wider(m, len(all_)).high or 0.0 for m in all_)
    return replace(least, low=min(m.low or 0.0 for m in all_), high=surely)


def largest_distance(pairs: Iterable[tuple[Measured, float | None]]) -> Measured:
    """The largest distance of measurements, each from a number known without error.

    None for the number takes the measurement itself.

    Example:
        >>> found = largest_distance([(Measured(1.0, None, 9, 0.9, 1.1), 0.5),
        ...                           (Measured(0.5, None, 9, 0.3, 0.7), 0.5)])
        >>> found.value, round(found.low, 3), round(found.high, 3)
        (0.5, 0.381, 0.6)
    """
    all_ = list(pairs)
    if not _known([m for m, _ in all_]):
        return NOTHING
    own = [m if x is None else distance(m, x) for m, x in all_]
    wide = [(_wider(m, len(all_)), x) for m, x in all_]
    surely = max((m if x is None else distance(m, x)).low or 0.0 for m, x in wide)
    most = max(own, key=lambda m: m.value or 0.0)
    return replace(most, low=surely, high=max(m.high or 0.0 for m in own))


def _known(found: Sequence[Measured]) -> bool:
    """Whether there are measurements, and all of them have an interval of numbers."""
    ends = [v for m in found for v in (m.value, m.low, m.high)]
    return bool(found) and None not in ends and not np.isnan(np.array(ends, float)).any()


def _wider(m: Measured, k: int) -> Measured:
    """With an interval each of whose ends one of `k` misses as seldom as one alone does."""
    assert m.value is not None and m.low is not None and m.high is not None
    if m.kind == "exact":
        return m  # as wide as the numerical error, which is no matter of chance
    if m.kind == "share":
        low, high = intervals.of_share(round(m.value * m.n), m.n, intervals.TAIL / k) or (0.0, 1.0)
        return replace(m, low=low, high=high)
    alone, of_all = stdtrit(max(m.n - 1, 1), [1 - intervals.TAIL, 1 - intervals.TAIL / k])
    more = float(of_all / alone)
    low, high = (m.value + more * (end - m.value) for end in (m.low, m.high))
    return replace(m, low=low, high=high)
