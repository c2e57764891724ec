"""The Dynamics interface: how a state moves from one step to a later one.

For flows a step is the index of a recorded time. `begin` makes the state, `advance` moves
it; the state of a lane whose parameters leave finite numbers is put back to the last finite
one and marked.

To add a discrete rule: derive from `Descent` and write `optimizer`. Anything else derives
from `Dynamics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.dynamics.batches import Batches, Objective, Order
from dynascope.dynamics.schedules import Schedule
from dynascope.runtime.precision import cast, foreign

NEVER = -1  # `diverged` of a lane that is still finite


class State(NamedTuple):
    """Where one lane is: parameters, what the rule remembers, and when it diverged."""

    params: Any
    memory: Any
    diverged: jax.Array  # step of the last finite state, or NEVER
    seen: Any = ()  # what is observed of every step, where anything is


@dataclass(frozen=True)
class Dynamics(Spec):
    """How parameters move."""

    default_dtype: ClassVar[Literal["float32", "float64"]] = "float32"
    continuous: ClassVar[bool] = False

    @property
    def samples_per_step(self) -> int | None:
        """How many samples one step sees; None for all of them."""
        return getattr(self, "batch_size", None)

    @property
    def batch_order(self) -> Order:
        """How the batches of a lane follow each other; see `batches.Batches`."""
        return getattr(self, "order", "fixed")

    def check_model(self, model: Any) -> None:
        """Raise `BadInput` for a model whose parameters cannot be moved like this."""

    def begin(self, params: Any, objective: Objective) -> State:
        """The state before the first step."""
        raise NotImplementedError

    def advance(
        self, state: State, objective: Objective, start: Any, stop: Any, times: tuple
    ) -> State:
        """Move from step `start` to step `stop`; `times` are their times for flows."""
        raise NotImplementedError

    def measured(self, state: State) -> Any:
        """The parameters that probes measure on: those that move, or an average of them."""
        return state.params

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """Gradient-flow time that a number of steps stands for: the sum of learning rates."""
        raise NotImplementedError


@dataclass(frozen=True)
class Descent(Dynamics):
    """A discrete rule given by an optax optimiser; full batch unless `batch_size` is set."""

    def optimizer(self) -> optax.GradientTransformation:
        """The optax transformation that turns gradients into updates."""
        raise NotImplementedError

    def begin(self, params: Any, objective: Objective) -> State:
        """The untrained parameters with a fresh optimiser state."""
        with foreign():
            memory = self.optimizer().init(params)
        return State(params, memory, jnp.asarray(NEVER, jnp.int32))

    def advance(
        self, state: State, objective: Objective, start: Any, stop: Any, times: tuple
    ) -> State:
        """Take the steps `start` to `stop` - 1."""
        optimizer = self.optimizer()
        batches = Batches(objective, self.samples_per_step, self.batch_order, start)

        def step(i: jax.Array, carry: tuple) -> tuple:
            state, carried = carry
            batch, carried = batches.at(i, carried)
            gradient = objective.gradient(state.params, batch, i)
            with foreign():
                updates, memory = optimizer.update(gradient, state.memory, state.params)
                params = optax.apply_updates(state.params, updates)
            # Some optax rules promote; a loop must keep its dtypes.
            params, memory = jax.tree.map(_like, (params, memory), (state.params, state.memory))
            seen = objective.observed(state.seen, state.params, params, batch, i)
            moved = freeze(state, State(params, memory, state.diverged, seen), i)
            return stand_still(state, moved, i, objective.until), carried

        return jax.lax.fori_loop(start, stop, step, (state, batches.begin()))[0]

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """The sum of learning rates over that many steps."""
        rate = self.learning_rate  # type: ignore[attr-defined]
        return rate.elapsed(steps) if isinstance(rate, Schedule) else rate * np.asarray(steps)


def freeze(old: State, new: State, step: jax.Array) -> State:
    """`new` if its parameters are finite and the lane was never marked; else `old`, marked."""
    # A sum is finite exactly when all terms are, unless it overflows, which is divergence too.
    sums = [jnp.isfinite(jnp.sum(p)) for p in jax.tree.leaves(new.params)]
    fine = jnp.stack(sums).all() & (old.diverged == NEVER)
    params, memory, seen = jax.tree.map(
        lambda a, b: jnp.where(fine, a, b),
        (new.params, new.memory, new.seen), (old.params, old.memory, old.seen),
    )  # fmt: skip
    marked = jnp.where(old.diverged == NEVER, jnp.asarray(step, jnp.int32), old.diverged)
    return State(params, memory, jnp.where(fine, jnp.asarray(NEVER, jnp.int32), marked), seen)


def stand_still(old: State, new: State, step: jax.Array, until: jax.Array | None) -> State:
    """`new` before the step at which the lane stops, `old` from there on."""
    if until is None:
        return new
    return jax.tree.map(lambda a, b: jnp.where(step < until, a, b), new, old)


def _like(new: Any, old: Any) -> Any:
    return cast(new, old.dtype) if hasattr(old, "dtype") else new


def check_rate(rate: float | Schedule) -> None:
    """Raise `BadInput` unless a learning rate is finite and positive."""
    if not isinstance(rate, Schedule) and not (0 < rate < float("inf")):
        raise bad("learning_rate", rate, "a finite number above 0")
