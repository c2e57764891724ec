"""Gradient descent on the whole training set, on batches, and with momentum."""

from __future__ import annotations

from dataclasses import dataclass

import optax

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.dynamics.base import Descent, check_rate
from dynascope.dynamics.batches import Order, check_batch
from dynascope.dynamics.schedules import Schedule


@dataclass(frozen=True)
class GradientDescent(Descent):
    """params <- params - learning_rate * gradient, on all samples.

    Example:
        >>> float(GradientDescent(0.01).elapsed(100))
        1.0
    """

    learning_rate: float | Schedule

    def check(self) -> None:
        """Raise for a rate that is not positive."""
        check_rate(self.learning_rate)

    def optimizer(self) -> optax.GradientTransformation:
        """Plain descent."""
        return optax.scale_by_learning_rate(self.learning_rate)


@dataclass(frozen=True)
class SGD(Descent):
    """Gradient descent on one batch a step.

    `order="fixed"` walks through the samples in the order in which the task shuffled them
    once, the same every epoch, as the authors' programs do; `"random"` draws each batch
    with replacement, `"shuffled"` without, in a new order every epoch; `"fresh"` has the task
    draw new samples for every step. All from the seed's own key.
    """

    learning_rate: float | Schedule
    batch_size: int = 128
    order: Order = "fixed"

    def check(self) -> None:
        """Raise for a rate or a batch size that is not positive."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size)

    def optimizer(self) -> optax.GradientTransformation:
        """Plain descent."""
        return optax.scale_by_learning_rate(self.learning_rate)


@dataclass(frozen=True)
class Momentum(Descent):
    """Heavy-ball or Nesterov momentum; full batch unless `batch_size` is given."""

    learning_rate: float | Schedule
    momentum: float = 0.9
    nesterov: bool = False
    batch_size: int | None = None
    order: Order = later_field("fixed")  # as in `SGD`

    def check(self) -> None:
        """Raise for values outside their ranges."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size, self.order)
        if not 0 <= self.momentum < 1:
            raise bad("momentum", self.momentum, "a number from 0 to below 1")

    def optimizer(self) -> optax.GradientTransformation:
        """Accumulated gradients, then the rate."""
        return optax.chain(
            optax.trace(self.momentum, self.nesterov),
            optax.scale_by_learning_rate(self.learning_rate),
        )
