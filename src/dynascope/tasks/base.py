"""The Task interface.

To add one: derive a frozen dataclass from `Task`, give `input_size` and `output_size`,
and write `samples(key)` (arrays with one row a sample) and `loss(predict, samples)`.
Override the rest only where the task has more to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from dynascope.core.spec import Spec


class Predict(Protocol):
    """A model with its parameters: maps inputs of shape (..., input) to (..., output)."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """The output at `x`."""
        ...

    @property
    def linear(self) -> bool:
        """Whether the model is linear or affine, so that `affine` answers."""
        ...

    def affine(self) -> tuple[jax.Array, jax.Array | None]:
        """Matrix (output, input) and offset of a linear or affine model."""
        ...


@dataclass(frozen=True)
class Task(Spec):
    """What is to be learned; frozen settings and pure functions of them."""

    @property
    def input_size(self) -> int:
        """Number of input coordinates."""
        raise NotImplementedError

    @property
    def output_size(self) -> int:
        """Number of output coordinates."""
        raise NotImplementedError

    @property
    def exact(self) -> bool:
        """Whether `samples` are the exact statistics of the population, not rows."""
        return False

    @property
    def test_point(self) -> tuple[float, ...]:
        """The input at which generalisation is measured, in the task's own coordinates."""
        raise NotImplementedError(f"{type(self).__name__} has no test point")

    def test_input(self) -> jax.Array:
        """The test point as an array; where settings are traced, so is this."""
        return jnp.asarray(self.test_point)

    def samples(self, key: jax.Array) -> Any:
        """The training set: arrays with one row a sample."""
        raise NotImplementedError

    def context(self, key: jax.Array) -> Any:
        """What else a seed draws once and keeps, such as a rotation; gets the same key."""
        return None

    def loss(self, predict: Predict, samples: Any) -> jax.Array:
        """The training objective on some or all of the samples."""
        raise NotImplementedError

    def lens(self, predict: Predict, context: Any) -> Predict:
        """The model as seen in the task's own coordinates (a rotated task turns it back)."""
        return predict

    def test_loss(self, predict: Predict) -> jax.Array:
        """Loss at the test point, for a model seen through `lens`."""
        raise NotImplementedError(f"{type(self).__name__} has no test point")
