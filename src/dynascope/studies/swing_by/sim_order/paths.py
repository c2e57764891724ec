"""Which concept a path prefers half-way, what the signals predict, how a path winds."""

import numpy as np
from numpy.typing import ArrayLike

from dynascope.studies.swing_by.drawing import evenly_spaced
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.closed_form import flow_decay, output_growth
from dynascope.theories.swing_by.stages import crossing_times


def half_way(output: np.ndarray, target: ArrayLike) -> np.ndarray:
    """First two outputs as shares of their targets at the moment at which these add up to 1.

    From (..., time, d) to (..., 2), linear between samples; NaN where they never add up to 1.

    Example:
        >>> half_way(np.array([[0.0, 0.0], [0.5, 3.0]]), (1.0, 2.0)).tolist()
        [0.25, 0.75]
    """
    shares = output[..., :2] / np.asarray(target)
    samples = np.arange(shares.shape[-2])
    found = []
    for path in shares.reshape(-1, len(samples), 2):
        place = crossing_times(path.sum(axis=1), samples, 1.0)  # infinite if never
        found.append([np.interp(place, samples, x, right=np.nan) for x in path.T])
    return np.array(found).reshape(*shares.shape[:-2], 2)


def growth_from_zero(task: IdentityMapping, spread: bool = True) -> np.ndarray:
    """Theorem 4.1 at the test point from zero until the slower concept is learned, (time, 2).

    Without `spread` the signals are those of the means alone.
    """
    a = signal(task)[:2] if spread else np.square(task.means) / task.clusters
    times = np.linspace(0, 12 / a.min(), 4001)
    return output_growth(flow_decay(a, times), task.means)


def winding(paths: np.ndarray, points: int = 60) -> np.ndarray:
    """Total change of direction in radians along each path, (path, time, d) to (path,).

    Seen in the first two coordinates, over so many points at equal steps of length.

    Example:
        >>> corner = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])
        >>> round(float(winding(corner, points=5)[0]), 4)  # one right angle
        1.5708
    """
    found = []
    for path in paths[..., :2]:
        x, y = evenly_spaced(path, points).T
        heading = np.unwrap(np.arctan2(np.diff(y), np.diff(x)))
        found.append(np.abs(np.diff(heading)).sum())
    return np.array(found)
