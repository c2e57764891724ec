"""The ways to measure: a value, its 95 % interval, and how many seeds it rests on.

A bound decides only where the whole interval lies on one side (`comparisons`). What has no
interval decides nothing: one seed of something random says nothing about the next. A largest
or smallest value over seeds grows with their number, so it is no measurement; put it as a
share of seeds, or as a statement about all seeds (`comparisons.in_all_seeds`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.records import Kind, Measured
from dynascope.numerics import intervals


def exact(value: float, error: float = 0.0) -> Measured:
    """A number into which nothing random enters: a closed form, a count, one certain run.

    Args:
        value: The number, or the worst over a grid that is fixed in advance.
        error: Its numerical error; 0 for counts, and where rounding is far below the bound.

    Returns:
        The value with an interval as wide as the error.

    Example:
        >>> exact(2.0, 0.5).low
        1.5
    """
    return Measured(float(value), None, 1, float(value - error), float(value + error), "exact")


def average(values: ArrayLike) -> Measured:
    """Mean over seeds, with Student's interval; one seed has none.

    Of numbers without gaps. Seeds that all agree have no spread, so what can only take a few
    values goes elsewhere: shares of events to `average_share`, yes or no to `share`.

    Example:
        >>> found = average(np.array([1.0, 2.0, 3.0]))
        >>> found.value, found.n, round(found.high, 2)
        (2.0, 3, 4.48)
    """
    values = np.asarray(values, float).ravel()
    if not len(values):
        return Measured(None, None, 0)
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return _measured(float(values.mean()), spread, len(values), intervals.of_mean(values))


def average_share(shares: ArrayLike, counts: ArrayLike) -> Measured:
    """Mean over seeds of shares, each of some events of its seed.

    Student's interval; but the spread is at least that of counting so few events, with one of
    each kind added to every seed. Seeds with an event or two that all agree would have none.

    Args:
        shares: For each seed, between 0 and 1.
        counts: Of how many events each share is.

    Example:
        >>> round(average_share([1.0, 1.0, 1.0, 1.0], [1, 1, 1, 1]).low, 2)
        0.25
        >>> round(average_share([1.0, 1.0, 1.0, 1.0], [90, 90, 90, 90]).low, 2)
        0.98
    """
    values, n = np.asarray(shares, float).ravel(), np.asarray(counts, float).ravel()
    found = average(values)
    if len(values) < 2 or found.spread is None:
        return found
    smoothed = (values * n + 1) / (n + 2)
    spread = max(found.spread, float(np.sqrt(np.mean(smoothed * (1 - smoothed) / n))))
    ends = intervals.around(float(values.mean()), spread / len(values) ** 0.5, len(values) - 1)
    within = ends and (max(ends[0], 0.0), min(ends[1], 1.0))
    return _measured(float(values.mean()), spread, len(values), within)


def share(flags: ArrayLike) -> Measured:
    """The share of seeds for which something is true, with the interval of Clopper and Pearson.

    Example:
        >>> found = share(np.array([True, False, True, False]))
        >>> found.value, round(found.low, 3), round(found.high, 3)
        (0.5, 0.068, 0.932)
    """
    flags = np.asarray(flags).ravel()
    if not len(flags) or not np.isin(flags, (0, 1)).all():  # NaN is neither yes nor no
        return Measured(None, None, 0)
    p, n = float(flags.mean()), len(flags)
    return _measured(p, (p * (1 - p)) ** 0.5, n, intervals.of_share(int(flags.sum()), n), "share")


def median(values: ArrayLike) -> Measured:
    """Median over seeds, with the interval of order statistics; six seeds at least.

    Example:
        >>> median(np.arange(7.0)).low
        0.0
    """
    values = np.asarray(values, float).ravel()
    if not len(values):
        return Measured(None, None, 0)
    spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    return _measured(float(np.median(values)), spread, len(values), intervals.of_median(values))


def minus(a: Measured, b: Measured) -> Measured:
    """One measurement less another, of seeds that have nothing to do with each other.

    Seeds that belong together in pairs are measured as `average(first - second)`.

    Example:
        >>> found = minus(share(np.arange(10) < 9), share(np.arange(10) < 2))
        >>> round(found.value, 2), round(found.low, 2), found.n
        (0.7, 0.2, 10)
    """
    if a.value is None or b.value is None:
        return Measured(None, None, 0)
    n, spread = min(a.n, b.n), None
    if a.spread is not None and b.spread is not None:
        spread = (n * (a.spread**2 / a.n + b.spread**2 / b.n)) ** 0.5
    ends = (a.low, a.high, b.low, b.high)
    if any(end is None for end in ends):
        return Measured(a.value - b.value, spread, n)
    interval = intervals.of_difference((a.value, b.value), ends[:2], ends[2:])  # type: ignore[arg-type]
    kind: Kind = "exact" if a.kind == b.kind == "exact" else "mean"
    return _measured(a.value - b.value, spread, n, interval, kind)


def farthest(values: ArrayLike, point: float) -> float:
    """The value farthest from a point; not a number if one of them is none.

    Example:
        >>> farthest([0.9, 1.3], 1.0), farthest([0.9, np.nan], 1.0)
        (1.3, nan)
    """
    values = np.asarray(values, float)
    return float(values[np.abs(values - point).argmax()])


def estimate(value: float, error: float, freedom: float, n: int) -> Measured:
    """An estimate whose standard error is known otherwise, such as the slope of a fit.

    Args:
        value: The estimate.
        error: Its standard error.
        freedom: Degrees of freedom of that error, for Student's interval.
        n: The number of seeds or points that it rests on.

    Returns:
        The estimate with its interval.

    Example:
        >>> round(estimate(1.0, 0.1, 10, 12).high, 3)
        1.223
    """
    return _measured(value, error * n**0.5, n, intervals.around(value, error, freedom))


def _measured(
    value: float, spread: float | None, n: int, interval: intervals.Interval | None,
    kind: Kind = "mean",
) -> Measured:  # fmt: skip
    low, high = interval or (None, None)
    return Measured(value, spread, n, low, high, kind)
