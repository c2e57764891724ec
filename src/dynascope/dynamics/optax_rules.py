"""Adam by name, and any optax optimiser as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import optax

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.dynamics.base import Descent, check_rate
from dynascope.dynamics.batches import Order, check_batch
from dynascope.dynamics.schedules import Schedule


@dataclass(frozen=True)
class Adam(Descent):
    """Adam. Its elapsed time, the sum of learning rates, is a convention: Adam is no flow."""

    learning_rate: float | Schedule
    beta1: float = 0.9
    beta2: float = 0.999
    batch_size: int | None = None
    order: Order = later_field("fixed")  # as in `SGD`

    def check(self) -> None:
        """Raise for values outside their ranges."""
        check_rate(self.learning_rate)
        check_batch(self.batch_size, self.order)
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a number from 0 to below 1")

    def optimizer(self) -> optax.GradientTransformation:
        """The optax optimiser."""
        return optax.adam(self.learning_rate, self.beta1, self.beta2)


@dataclass(frozen=True)
class Optax(Descent):
    """Any optax optimiser, as it is: `Optax(optax.lion(1e-3))`, or made from a rate.

    `Optax(optax.lion, 1e-3)` keeps the rate as a field of its own: it can be swept, scheduled and
    followed, and its sum is the elapsed time. An optimiser that is made already keeps its rates to
    itself; its elapsed time is then the number of steps.

    Args:
        make: An optimiser, or a function from a learning rate to one.
        learning_rate: For a function only.
        batch_size: Samples a step; all of them by default.
        order: Of the batches, as in `SGD`.

    Example:
        >>> float(Optax(optax.lion, learning_rate=1e-3).elapsed(1000))
        1.0
        >>> float(Optax(optax.lion(1e-3)).elapsed(1000))
        1000.0
    """

    make: Any
    learning_rate: float | Schedule | None = None
    batch_size: int | None = None
    order: Order = later_field("fixed")  # as in `SGD`

    def check(self) -> None:
        """Raise unless there is an optimiser, or a function and a positive rate for it."""
        if self._made:
            if self.learning_rate is not None:
                raise bad(
                    "learning_rate", self.learning_rate, "none: the optimiser has its own",
                    "give the function, as in Optax(optax.adam, 1e-3)",
                )  # fmt: skip
        elif not callable(self.make):
            raise bad("make", self.make, "an optax optimiser, such as optax.adam(1e-3)")
        elif self.learning_rate is None:
            name = getattr(self.make, "__name__", "make")
            raise bad("learning_rate", None, f"a rate for {name}", f"Optax({name}, 1e-3)")
        else:
            check_rate(self.learning_rate)
        check_batch(self.batch_size, self.order)

    @property
    def _made(self) -> bool:
        return isinstance(self.make, tuple) and {"init", "update"} <= set(dir(self.make))

    def optimizer(self) -> optax.GradientTransformation:
        """The user's optimiser."""
        return self.make if self._made else self.make(self.learning_rate)

    def elapsed(self, steps: np.ndarray) -> np.ndarray:
        """The sum of learning rates; the number of steps where they are not known."""
        return np.asarray(steps, float) if self._made else super().elapsed(steps)
