"""Theorem 4.1 as a theory: the one-layer linear model in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.models import MLP, Linear, Model
from dynascope.runtime.precision import precision
from dynascope.tasks import Task
from dynascope.theories.base import LinearTheory, initial_jacobian
from dynascope.theories.swing_by.closed_form import flow_decay, one_layer_jacobian


@dataclass(frozen=True)
class OneLayer(LinearTheory):
    """W(t) = I + (W(0) - I) exp(-A t): every direction decays at its own rate a_k.

    Assumes the exact population and gradient flow; gradient descent at rate eta has
    (1 - eta a)^n in place of exp(-a eta n).
    """

    def applies(self, task: Task, model: Model) -> None:
        """Raise unless the model has one layer."""
        super().applies(task, model)
        one_layer = isinstance(model, Linear) or (isinstance(model, MLP) and model.depth == 1)
        if not one_layer:
            raise bad("model", type(model).__name__, "Linear, or an MLP of depth 1")

    def jacobian(self, task: Any, model: Model, seeds: np.ndarray, times: np.ndarray) -> np.ndarray:
        """W of shape (seed, time, d, d)."""
        with precision("float64"):
            a = np.asarray(task.moments()) * task.gradient_factor
        return one_layer_jacobian(flow_decay(a, times), initial_jacobian(task, model, seeds))
