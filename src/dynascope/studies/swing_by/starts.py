"""Starts that several studies use, and the signal that they meet."""

from __future__ import annotations

import numpy as np

from dynascope.engine import Experiment
from dynascope.runtime.precision import precision
from dynascope.tasks import IdentityMapping
from dynascope.theories.base import initial_jacobian

Rows = tuple[tuple[float, ...], ...]


def correlated(size: float, correlation: float) -> Rows:
    """W(0) of two equally long rows of U with a given cosine between them.

    Example:
        >>> correlated(0.01, 0.5)
        ((0.01, 0.005), (0.005, 0.01))
    """
    return ((size, size * correlation), (size * correlation, size))


def start_of(experiment: Experiment) -> np.ndarray:
    """W(0) of every seed, (seed, d, d)."""
    return initial_jacobian(experiment.task, experiment.model, np.array(experiment.seeds))


def signal(task: IdentityMapping) -> np.ndarray:
    """Signal strengths a of a task in float64, one per input.

    Example:
        >>> signal(IdentityMapping(means=(1.0, 2.0), scales=(0.0, 0.0))).tolist()
        [0.5, 2.0]
    """
    with precision("float64"):
        return np.asarray(task.moments())
