"""Major entries that grow alone: the closed form, which planted runs use."""

import numpy as np

from dynascope.core.run import Run


def strengths(run: Run) -> np.ndarray:
    """Signals of a run, written out: mean^2 / s + scale^2."""
    task = run.experiment.task
    return np.square(task.means) / len(task.means) + np.square(task.scales)


def logistic(strengths: np.ndarray, times: np.ndarray, start: float = 0.01) -> np.ndarray:
    """Major entries without minor ones at true times, (time, d)."""
    return 1 / (1 + (1 / start - 1) * np.exp(-4 * np.multiply.outer(times, strengths)))
