"""Steps on a logarithmic axis, with the start."""

import numpy as np

from dynascope.core.run import Run

LOG_STEP = "step (the start, 0, at 0.5)"


def log_steps(run: Run) -> np.ndarray:
    """Steps of a run for a logarithmic axis, which has no place for 0: `LOG_STEP` says where."""
    return np.maximum(run["step"].values, 0.5)
