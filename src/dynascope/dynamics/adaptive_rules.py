"""RMSprop, Adagrad and Adadelta, with the defaults and the places of epsilon of PyTorch.

zhu2024 Table C.1 compares them; constants that it leaves open are PyTorch's. Their elapsed time,
the sum of learning rates, is a convention: none of them is a flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from dynascope.core.errors import bad
from dynascope.dynamics.base import Descent, check_rate
from dynascope.dynamics.batches import Order, check_batch
from dynascope.dynamics.schedules import Schedule


@dataclass(frozen=True)
class _Adaptive(Descent):
    """What the three have in common."""

    learning_rate: float | Schedule
    batch_size: int | None = None
    order: Order = "fixed"  # as in `SGD`

    def check(self) -> None:
        """Raise for a rate, a batch or a decay outside its range."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size, self.order)
        decay = getattr(self, "decay", 0.0)
        if not 0 <= decay < 1:
            raise bad("decay", decay, "a number from 0 to below 1")


@dataclass(frozen=True)
class RMSprop(_Adaptive):
    """Gradients over the root of a running mean of their squares, plus epsilon."""

    decay: float = 0.99
    epsilon: float = 1e-8

    def optimizer(self) -> optax.GradientTransformation:
        """The optax rule with epsilon outside of the root."""
        return optax.rmsprop(self.learning_rate, self.decay, self.epsilon, eps_in_sqrt=False)


@dataclass(frozen=True)
class Adagrad(_Adaptive):
    """Gradients over the root of the sum of all their squares, plus epsilon."""

    epsilon: float = 1e-10

    def optimizer(self) -> optax.GradientTransformation:
        """Ours: optax adds epsilon within the root."""
        return optax.chain(
            _over_root_of_sum(self.epsilon), optax.scale_by_learning_rate(self.learning_rate)
        )


@dataclass(frozen=True)
class Adadelta(_Adaptive):
    """Gradients times the running root mean square of past updates over that of gradients."""

    decay: float = 0.9
    epsilon: float = 1e-6

    def optimizer(self) -> optax.GradientTransformation:
        """The optax rule, times the rate."""
        return optax.adadelta(self.learning_rate, self.decay, self.epsilon)


class _Sum(NamedTuple):
    squares: optax.Updates


def _over_root_of_sum(epsilon: float) -> optax.GradientTransformation:
    def init(params: optax.Params) -> _Sum:
        return _Sum(jax.tree.map(jnp.zeros_like, params))

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        squares = jax.tree.map(lambda s, g: s + g**2, state.squares, updates)
        scaled = jax.tree.map(lambda g, s: g / (jnp.sqrt(s) + epsilon), updates, squares)
        return scaled, _Sum(squares)

    return optax.GradientTransformation(init, update)
