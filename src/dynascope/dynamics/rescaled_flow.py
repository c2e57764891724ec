"""Gradient flow of products u * v from a start of size alpha, in the clock of its stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.dynamics.base import NEVER, Dynamics, Objective, State, freeze, stand_still
from dynascope.models.diagonal import DiagonalLinear
from dynascope.numerics.log_flow import (
    LogWeights,
    Moving,
    at_rest,
    check_alpha,
    check_unequal,
    integrate,
    log_weights,
)


@dataclass(frozen=True)
class RescaledFlow(Dynamics):
    """The flow from (alpha u, alpha v), in time t / log(1 / alpha) (boix2023 (14)).

    For models with parameters "u" and "v" of which only the product matters, such as
    `models.DiagonalAttention`; `alpha` multiplies what the model draws. Logarithms of u + v and
    u - v are moved (`numerics/log_flow.py`), so that u^2 - v^2 is conserved exactly and alpha may
    be as small as 1e-300. Needs float64. Full batch.

    Args:
        alpha: Scale of the start, above 0 and below 1.
        tolerance: Largest local error of any log|u + v| in a step.
    """

    default_dtype: ClassVar[Literal["float32", "float64"]] = "float64"
    continuous: ClassVar[bool] = True

    alpha: float
    tolerance: float = static_field(1e-3)

    def check(self) -> None:
        """Raise for a scale or a tolerance outside of (0, 1)."""
        check_alpha(self.alpha)
        if not 0 < self.tolerance < 1:
            raise bad("tolerance", self.tolerance, "a number above 0 and below 1")

    def check_model(self, model: Any) -> None:
        """Raise for a given start with |u| = |v|, from which one sign is out of reach."""
        if isinstance(model, DiagonalLinear) and model.start is not None:
            check_unequal(*np.asarray(model.start, float))

    def begin(self, params: Any, objective: Objective) -> State:
        """The start, scaled by alpha."""
        if not isinstance(params, dict) or set(params) != {"u", "v"}:
            raise bad(
                "model", "its parameters", 'a model whose parameters are "u" and "v"',
                "DiagonalLinear, DiagonalAttention and DiagonalTransformer are",
            )  # fmt: skip
        start = log_weights(params["u"], params["v"], jnp.log(self.alpha))
        moving = at_rest(_pull(objective), start)
        return State(_visible(start), (start, moving), jnp.asarray(NEVER, jnp.int32))

    def advance(
        self, state: State, objective: Objective, start: Any, stop: Any, times: tuple
    ) -> State:
        """Solve from the time of `start` to the time of `stop`."""
        t0, t1 = times
        first: LogWeights
        moving: Moving
        first, moving = state.memory
        goes_on = state.diverged == NEVER
        if objective.until is not None:
            goes_on &= start < objective.until
        length = jnp.where(goes_on, -jnp.log(self.alpha) * (t1 - t0), 0.0)
        moving = integrate(_pull(objective), first, moving, length, self.tolerance)
        params = _visible(first.moved(moving.displacement))
        moved = freeze(state, state._replace(params=params, memory=(first, moving)), start)
        return stand_still(state, moved, start, objective.until)

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Flows have times of their own."""
        raise TypeError("a flow is recorded at times, not at steps")


def _pull(objective: Objective) -> Any:
    """G of z, by way of u = z and v = 1: no number is ever too small."""

    def loss(z: jax.Array) -> jax.Array:
        return objective.loss({"u": z, "v": jnp.ones_like(z)}, objective.samples)

    return lambda z: -jax.grad(loss)(z)


def _visible(weights: LogWeights) -> dict[str, jax.Array]:
    """U and v as probes see them."""
    u, v = weights.factors
    return {"u": u, "v": v}
