"""The Dynamics interface: how a state moves from one place on the grid to a later one.

A place is a number of steps for discrete rules, and the index of a recorded time for
flows. `begin` makes the state, `advance` moves it; the state of a lane whose parameters
leave finite numbers is put back to the last finite one and marked.

To add a discrete rule: derive from `Descent` and write `optimizer`. Anything else derives
from `Dynamics`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.dynamics.schedules import Schedule
from dynascope.numerics.precision import cast, foreign

NEVER = -1  # `diverged` of a lane that is still finite


class State(NamedTuple):
    """Where one lane is: parameters, what the rule remembers, and when it diverged."""

    params: Any
    memory: Any
    diverged: jax.Array  # place of the last finite state, or NEVER


class Objective(NamedTuple):
    """What moves the parameters: `loss(params, samples)`, the samples, the seed's batch key."""

    loss: Callable[[Any, Any], jax.Array]
    samples: Any
    key: jax.Array


@dataclass(frozen=True)
class Dynamics(Spec):
    """How parameters move."""

    default_dtype: ClassVar[Literal["float32", "float64"]] = "float32"
    continuous: ClassVar[bool] = False

    @property
    def samples_per_step(self) -> int | None:
        """How many samples one step sees; None for all of them."""
        return getattr(self, "batch_size", None)

    def begin(self, params: Any, objective: Objective) -> State:
        """The state before the first step."""
        raise NotImplementedError

    def advance(
        self, state: State, objective: Objective, start: Any, stop: Any, times: tuple
    ) -> State:
        """Move from place `start` to place `stop`; `times` are their times for flows."""
        raise NotImplementedError

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

        def step(i: jax.Array, state: State) -> State:
            batch = self._batch(objective, i)
            gradient = jax.grad(objective.loss)(state.params, batch)
            with foreign():
                updates, memory = optimizer.update(gradient, state.memory, state.params)
                params = optax.apply_updates(state.params, updates)
            # Some optax rules promote; a loop must keep its dtypes.
            params, memory = jax.tree.map(_like, (params, memory), (state.params, state.memory))
            return freeze(state, State(params, memory, state.diverged), i)

        return jax.lax.fori_loop(start, stop, step, state)

    def _batch(self, objective: Objective, step: jax.Array) -> Any:
        size = self.samples_per_step
        if size is None:
            return objective.samples
        count = jax.tree.leaves(objective.samples)[0].shape[0]
        if getattr(self, "order", "fixed") == "random":
            rows = jax.random.randint(jax.random.fold_in(objective.key, step), (size,), 0, count)
            return jax.tree.map(lambda a: a[rows], objective.samples)
        # Shuffled once by the task, then the same order every epoch; a last, shorter batch
        # is left out.
        first = (step % max(count // size, 1)) * size
        return jax.tree.map(
            lambda a: jax.lax.dynamic_slice_in_dim(a, first, size), objective.samples
        )

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """The sum of learning rates over that many steps."""
        rate = self.learning_rate  # type: ignore[attr-defined]
        return rate.elapsed(steps) if isinstance(rate, Schedule) else rate * np.asarray(steps)


def freeze(old: State, new: State, place: jax.Array) -> State:
    """`new` if its parameters are finite and the lane was never marked; else `old`, marked."""
    # A sum is finite exactly when all terms are, unless it overflows, which is divergence too.
    sums = [jnp.isfinite(jnp.sum(p)) for p in jax.tree.leaves(new.params)]
    fine = jnp.stack(sums).all() & (old.diverged == NEVER)
    params, memory = jax.tree.map(
        lambda a, b: jnp.where(fine, a, b), (new.params, new.memory), (old.params, old.memory)
    )
    marked = jnp.where(old.diverged == NEVER, jnp.asarray(place, jnp.int32), old.diverged)
    return State(params, memory, jnp.where(fine, jnp.asarray(NEVER, jnp.int32), marked))


def _like(new: Any, old: Any) -> Any:
    return cast(new, old.dtype) if hasattr(old, "dtype") else new


def check_rate(rate: float | Schedule) -> None:
    """Raise `BadInput` unless a learning rate is finite and positive."""
    if not isinstance(rate, Schedule) and not (0 < rate < float("inf")):
        raise bad("learning_rate", rate, "a finite number above 0")


def check_batch(size: int | None) -> None:
    """Raise `BadInput` unless a batch size is None or at least one."""
    if size is not None and size < 1:
        raise bad("batch_size", size, "a whole number of at least 1, or None for all samples")
