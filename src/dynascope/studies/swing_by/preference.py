"""Which concept a trajectory prefers half-way, what the signals predict, how a path winds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynascope.studies.swing_by.start_noise import signals
from dynascope.tasks import IdentityMapping
from dynascope.theories.closed_form import flow_decay, output_growth
from dynascope.theories.stages import crossing_times


def half_way(output: np.ndarray, target: ArrayLike) -> np.ndarray:
    """Outputs as shares of their targets at the moment at which the two add up to 1.

    Args:
        output: Trajectories, (..., time, d); the first two coordinates are used.
        target: The two targets.

    Returns:
        Two shares, (..., 2), linear between samples; NaN where they never add up to 1.

    Example:
        >>> half_way(np.array([[0.0, 0.0], [0.5, 3.0]]), (1.0, 2.0)).tolist()
        [0.25, 0.75]
    """
    shares = output[..., :2] / np.asarray(target)
    total = np.moveaxis(shares.sum(axis=-1), -1, 0)  # time first
    place = crossing_times(total, np.arange(len(total)), 1.0)
    place = np.where(np.isfinite(place), place, np.nan)
    before = np.clip(np.nan_to_num(np.floor(place)), 0, len(total) - 2).astype(int)
    low, high = (
        np.take_along_axis(shares, (before + k)[..., None, None], axis=-2)[..., 0, :]
        for k in (0, 1)
    )
    return low + (place - before)[..., None] * (high - low)


def growth_from_zero(task: IdentityMapping, signal: ArrayLike | None = None) -> np.ndarray:
    """Theorem 4.1 at the test point from a start at zero, until the slower concept is learned.

    Args:
        task: Two concepts.
        signal: Signals to use instead of the task's own.

    Returns:
        Outputs, (time, 2).
    """
    a = signals(task) if signal is None else np.asarray(signal, float)
    times = np.linspace(0, 12 / a.min(), 4001)
    return output_growth(flow_decay(a, times), task.means)


def winding(paths: np.ndarray, points: int = 60) -> np.ndarray:
    """Total change of direction along each path, in radians, over equal steps of length.

    Args:
        paths: (path, time, d); the first two coordinates are used.
        points: How many places along the path are compared.

    Returns:
        One angle per path.

    Example:
        >>> corner = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])
        >>> round(float(winding(corner, points=5)[0]), 4)  # one right angle
        1.5708
    """
    found = []
    for path in paths[..., :2]:
        length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        spots = np.linspace(0, length[-1], points)
        x, y = (np.interp(spots, length, path[:, k]) for k in (0, 1))
        heading = np.unwrap(np.arctan2(np.diff(y), np.diff(x)))
        found.append(np.abs(np.diff(heading)).sum())
    return np.array(found)
