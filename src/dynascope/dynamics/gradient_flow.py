"""Gradient flow: params' = -gradient, integrated with an adaptive Runge-Kutta method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.dynamics.base import NEVER, Dynamics, State, freeze, stand_still
from dynascope.dynamics.batches import Objective

# A cell that needs more steps than this is stiff beyond use or blows up: marked as diverged.
MOST_STEPS = 100_000


@dataclass(frozen=True)
class GradientFlow(Dynamics):
    """The flow down the gradient, in true time, at a stated tolerance.

    Every recorded time ends a solve of its own that lands on it, so what is recorded is
    the solution and not an interpolation, and where a run is cut makes no difference.

    Args:
        relative_tolerance: Local error allowed, relative to the size of each parameter.
        absolute_tolerance: Local error allowed for parameters near zero.
    """

    default_dtype: ClassVar[Literal["float32", "float64"]] = "float64"
    continuous: ClassVar[bool] = True

    relative_tolerance: float = static_field(1e-8)
    absolute_tolerance: float = static_field(1e-10)

    def check(self) -> None:
        """Raise for tolerances that are not positive."""
        for name in ("relative_tolerance", "absolute_tolerance"):
            if not 0 < getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a number above 0 and below 1")

    def begin(self, params: Any, objective: Objective) -> State:
        """The untrained parameters and a first guess of the step size, 1 % of |y| / |y'|."""
        slope = jax.grad(objective.loss)(params, objective.samples)
        guess = 0.01 * _norm(params) / jnp.maximum(_norm(slope), jnp.asarray(1e-300, float))
        usable = jnp.isfinite(guess) & (guess > 0)
        return State(params, jnp.where(usable, guess, 1e-3), jnp.asarray(NEVER, jnp.int32))

    def advance(
        self, state: State, objective: Objective, start: Any, stop: Any, times: tuple
    ) -> State:
        """Solve from the time of `start` to the time of `stop`."""
        import diffrax  # half a second to load, for flows alone

        t0, t1 = times
        moving = state.diverged == NEVER
        if objective.until is not None:
            moving &= start < objective.until
        moving = jnp.asarray(moving, t0.dtype)

        def slope(t: Any, params: Any, args: Any) -> Any:
            gradient = jax.grad(objective.loss)(params, objective.samples)
            return jax.tree.map(lambda g: -moving.astype(g.dtype) * g, gradient)

        first = jnp.minimum(state.memory, t1 - t0)
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            diffrax.Dopri8(),
            t0,
            t1,
            None,
            state.params,
            stepsize_controller=_from_first_step()(
                rtol=self.relative_tolerance,
                atol=self.absolute_tolerance,
                first=jnp.where(first > 0, first, 1.0),
            ),
            saveat=diffrax.SaveAt(t1=True),
            adjoint=diffrax.ForwardMode(),
            max_steps=MOST_STEPS,
            throw=False,
        )
        done = solution.result == diffrax.RESULTS.successful
        params = jax.tree.map(lambda y: jnp.where(done, y[-1], jnp.nan), solution.ys)
        # The mean accepted step is where the next cell starts; the last one was cut to land.
        accepted = jnp.maximum(solution.stats["num_accepted_steps"], 1)
        step = (t1 - t0) / accepted.astype(t0.dtype)
        moved = freeze(state, state._replace(params=params, memory=step), start)
        moved = stand_still(state, moved, start, objective.until)
        # A cell of no length (the first record) moves nothing.
        return jax.tree.map(lambda a, b: jnp.where(t1 > t0, a, b), moved, state)

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Flows have times of their own."""
        raise TypeError("gradient flow is recorded at times, not at steps")


@lru_cache(maxsize=1)
def _from_first_step() -> Any:
    """The class of step size controllers that begin with a step which they are given.

    `diffeqsolve` checks the sign of a first step by calling Python back, and XLA keeps no program
    that does: every process compiled its flows anew.
    """
    import diffrax

    class FromFirstStep(diffrax.PIDController):
        first: Any = None

        def init(self, terms: Any, t0: Any, t1: Any, y0: Any, dt0: Any, *others: Any) -> Any:
            return super().init(terms, t0, t1, y0, self.first, *others)

    return FromFirstStep


def _norm(tree: Any) -> jax.Array:
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))
