"""The stages of section 4.2 read off a path of W: half-crossings, growth, brackets.

All functions take W as (..., time, d, d) with one time axis; times may be on any clock.
"Major" entries are w_kk of directions with signal, "minor" ones share a row or column with
them. Nothing here predicts; `schur` and `lemmas` do, and these are what to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad


def crossing_times(curves: ArrayLike, times: ArrayLike, level: float) -> np.ndarray:
    """First time each curve reaches a level from below, linear between samples.

    Args:
        curves: Values, (time, ...).
        times: (time,).
        level: The level.

    Returns:
        Times, (...); the first time where a curve starts at or above the level, infinite
        where it never gets there.

    Example:
        >>> crossing_times([0.0, 0.4, 0.8], [0.0, 1.0, 2.0], 0.5).tolist()
        1.25
    """
    y, t = np.asarray(curves, float), np.asarray(times, float)
    if t.shape != y.shape[:1] or not t.size:
        raise bad("times", t.shape, f"one time per value, ({len(y)},)")
    reached = y >= level
    after = reached.argmax(axis=0)  # 0 both for "at once" and for "never"
    before = np.maximum(after - 1, 0)
    low = np.take_along_axis(y, before[None], 0)[0]
    high = np.take_along_axis(y, after[None], 0)[0]
    share = np.where(high > low, (level - low) / np.where(high > low, high - low, 1.0), 0.0)
    crossed = t[before] + share * (t[after] - t[before])
    return np.where(reached.any(axis=0), np.where(after == 0, t[0], crossed), np.inf)


def _majors(jacobian: ArrayLike) -> np.ndarray:
    """Diagonal entries with time first, (time, ..., d)."""
    return np.moveaxis(np.diagonal(np.asarray(jacobian, float), axis1=-2, axis2=-1), -2, 0)


def half_crossings(jacobian: ArrayLike, times: ArrayLike) -> np.ndarray:
    """When each major entry reaches one half, (..., d)."""
    return crossing_times(_majors(jacobian), times, 0.5)


def growth_intervals(
    jacobian: ArrayLike, times: ArrayLike, low: float = 0.05, high: float = 0.95
) -> np.ndarray:
    """When each major entry grows: from `low` to `high`, (..., d, 2)."""
    major = _majors(jacobian)
    return np.stack([crossing_times(major, times, level) for level in (low, high)], axis=-1)


def growth_stops(jacobian: ArrayLike, times: ArrayLike) -> np.ndarray:
    """When each major entry passes 0.99 and stops for practical purposes, (..., d)."""
    return crossing_times(_majors(jacobian), times, 0.99)


def largest_dips(jacobian: ArrayLike) -> np.ndarray:
    """How far each major entry falls below an earlier value, as share of that value, (..., d).

    The text says that major entries never fall; the strongest one does not.
    """
    major = _majors(jacobian)
    before = np.maximum.accumulate(major, axis=0)
    drop = np.where(before > 0, 1 - major / np.where(before > 0, before, 1.0), 0.0)
    return drop.max(axis=0)


def smallest_shares(jacobian: ArrayLike) -> np.ndarray:
    """The smallest w_kk(t) / w_kk(0), (..., d): below 1, it left its start downwards (E.3)."""
    major = _majors(jacobian)
    with np.errstate(invalid="ignore", divide="ignore"):
        return major.min(axis=0) / major[0]


@dataclass(frozen=True)
class Stage:
    """A named bracket on the time axis; `end` is infinite if the path stops before."""

    name: str
    start: float
    end: float


def stage_brackets(
    jacobian: ArrayLike,
    times: ArrayLike,
    signal: ArrayLike,
    loss_peak: float | None = None,
) -> tuple[Stage, ...]:
    """Brackets for a chart of one run: initial growth, first suppression, k-th growths.

    Initial growth lasts until the largest minor entry of the strongest direction peaks. The
    first suppression follows, to the maximum of the test loss if there is one, else to the
    start of the second growth. The k-th growth takes w_kk from 0.05 to 0.95, k in order of
    signal strength.

    Args:
        jacobian: W of one run, (time, d, d).
        times: (time,).
        signal: Signal strengths a, (d,).
        loss_peak: Time of the first maximum of the test loss after its first minimum.

    Returns:
        The stages in order of their start; growths that never start are left out.

    Example:
        >>> path = np.array([[[x]] for x in (0.0, 0.1, 0.9, 1.0)])
        >>> stage_brackets(path, range(4), [1.0])[0].name
        'growth 1'
    """
    w, t, a = np.asarray(jacobian, float), np.asarray(times, float), np.asarray(signal, float)
    order = [k for k in np.argsort(-a, kind="stable") if a[k] > 0]
    intervals = growth_intervals(w, t)
    found = [
        Stage(f"growth {n}", *map(float, intervals[k]))
        for n, k in enumerate(order, start=1)
        if np.isfinite(intervals[k, 0])
    ]
    if len(order) > 1:
        found += _first_group_stages(w, t, order, intervals, loss_peak)
    return tuple(sorted(found, key=lambda stage: stage.start))


def _first_group_stages(
    w: np.ndarray, t: np.ndarray, order: list, intervals: np.ndarray, loss_peak: float | None
) -> list[Stage]:
    row = np.abs(w[:, order[0], order[1:]])
    peak = float(t[row.max(axis=1).argmax()])
    end = float(intervals[order[1], 0]) if loss_peak is None else loss_peak
    found = [Stage("initial growth", float(t[0]), peak)]
    return [*found, Stage("first suppression", peak, end)] if end > peak else found
