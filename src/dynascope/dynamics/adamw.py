"""AdamW, and the running average of its weights that measurements may be made on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.dynamics.base import Descent, State, check_rate
from dynascope.dynamics.batches import Order, check_batch
from dynascope.dynamics.schedules import Schedule


class Averaged(NamedTuple):
    """The running average of the parameters after so many steps."""

    steps: jax.Array
    params: Any


def running_average(decay: float) -> optax.GradientTransformation:
    """Passes updates on, and remembers an exponential average of where they lead.

    The average of the first steps forgets faster, min(decay, (1 + n) / (10 + n)) after n steps,
    so that the start does not stay in it.
    """

    def init(params: Any) -> Averaged:
        return Averaged(jnp.zeros((), jnp.int32), params)

    def update(updates: Any, state: Averaged, params: Any = None) -> tuple[Any, Averaged]:
        n = state.steps.astype(jnp.float32)
        keep = jnp.minimum(decay, (1 + n) / (10 + n))
        moved = optax.apply_updates(params, updates)
        mean = jax.tree.map(
            lambda a, p: keep.astype(p.dtype) * a + (1 - keep).astype(p.dtype) * p,
            state.params, moved,
        )  # fmt: skip
        return updates, Averaged(state.steps + 1, mean)

    return optax.GradientTransformation(init, update)


@dataclass(frozen=True)
class AdamW(Descent):
    """Adam with weight decay apart from the gradient.

    Args:
        learning_rate: A number or a schedule.
        weight_decay: Of all parameters, times the learning rate.
        batch_size: None for all samples.
        order: As in `SGD`.
        average: Decay of an exponential average of the weights. Where it is set, probes measure
            on the average; training goes on from the weights themselves.
    """

    learning_rate: float | Schedule
    weight_decay: float = 0.01
    batch_size: int | None = None
    order: Order = "fixed"
    average: float | None = static_field(None)

    def check(self) -> None:
        """Raise for values outside their ranges."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size, self.order)
        if not 0 <= self.weight_decay < float("inf"):
            raise bad("weight_decay", self.weight_decay, "a finite number of at least 0")
        if self.average is not None and not 0 < self.average < 1:
            raise bad("average", self.average, "a number between 0 and 1, or None")

    def optimizer(self) -> optax.GradientTransformation:
        """The optax optimiser, with the average behind it."""
        rule = optax.adamw(self.learning_rate, weight_decay=self.weight_decay)
        return rule if self.average is None else optax.chain(rule, running_average(self.average))

    def measured(self, state: State) -> Any:
        """The average, where there is one."""
        return state.params if self.average is None else state.memory[-1].params
