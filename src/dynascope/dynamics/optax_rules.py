"""Adam by name, and any optax optimiser as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import optax

from dynascope.core.errors import bad
from dynascope.dynamics.base import Descent, check_batch, check_rate
from dynascope.dynamics.schedules import Schedule


@dataclass(frozen=True)
class Adam(Descent):
    """Adam. Its elapsed time, the sum of learning rates, is a convention: Adam is no flow."""

    learning_rate: float | Schedule
    beta1: float = 0.9
    beta2: float = 0.999
    batch_size: int | None = None

    def check(self) -> None:
        """Raise for values outside their ranges."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size)
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a number from 0 to below 1")

    def optimizer(self) -> optax.GradientTransformation:
        """The optax optimiser."""
        return optax.adam(self.learning_rate, self.beta1, self.beta2)


@dataclass(frozen=True)
class Optax(Descent):
    """Any optax optimiser: `make(learning_rate)` returns the transformation.

    The rate is a field of its own so that it can be swept and gives the elapsed time.

    Example:
        >>> rule = Optax(optax.lion, learning_rate=1e-3)
        >>> float(rule.elapsed(1000))
        1.0
    """

    make: Callable[..., optax.GradientTransformation]
    learning_rate: float | Schedule
    batch_size: int | None = None

    def check(self) -> None:
        """Raise unless `make` is a function and the rate is positive."""
        if not callable(self.make):
            raise bad("make", self.make, "a function from a learning rate to an optax optimiser")
        check_rate(self.learning_rate)
        check_batch(self.batch_size)

    def optimizer(self) -> optax.GradientTransformation:
        """The user's optimiser."""
        return self.make(self.learning_rate)
