"""The flow of the symmetric two-layer model, (4.1) with W = U U^T, as a theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.models import Model, TiedLinear
from dynascope.runtime.precision import precision
from dynascope.tasks import Task
from dynascope.theories.base import LinearTheory, initial_params
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow


@dataclass(frozen=True)
class SymmetricTwoLayer(LinearTheory):
    """W(t) from the exact flow of U, integrated in float64 at tolerance 1e-10.

    The printed flow (4.3) runs twice as fast as the gradient of the loss: paper time is
    twice true time (F0.1). Assumes the exact population and gradient flow.
    """

    def applies(self, task: Task, model: Model) -> None:
        """Raise unless the model is tied."""
        super().applies(task, model)
        if not isinstance(model, TiedLinear):
            raise bad("model", type(model).__name__, "TiedLinear")

    def jacobian(self, task: Any, model: Model, seeds: np.ndarray, times: np.ndarray) -> np.ndarray:
        """W of shape (seed, time, d, d)."""
        with precision("float64"):
            a = np.asarray(task.moments()) * task.gradient_factor
        start = initial_params(task, model, seeds)  # U(0)
        return read_jacobian(tied_flow(start, a, 2 * np.asarray(times, float)))
