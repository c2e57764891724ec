"""The Task interface.

To add one: derive a frozen dataclass from `Task`, give `input_size` and `output_size`,
and write `samples(key)` (arrays with one row a sample) and `loss(predict, samples)`, or
`random_loss(predict, samples, key)` where the loss draws random numbers of its own.
`draw(key, count, context)` gives fresh samples to rules with `order="fresh"`; the probes
then measure on `samples`. Override the rest only where the task has more to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import jax
import jax.numpy as jnp

from dynascope.core.randomness import key_for
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

    # What the model is given as x: "vectors" (..., input), "sequences" of them (..., token,
    # input), "tokens" (..., token) as whole numbers, "asked tokens" with the places to answer at,
    # "graphs", "noised" inputs of a denoiser. None where it is not said.
    offers: ClassVar[str | None] = None

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

    @property
    def has_test_point(self) -> bool:
        """Whether there is an input at which generalisation is measured.

        Example:
            >>> Task().has_test_point
            False
        """
        return type(self).test_point is not Task.test_point

    @property
    def shared(self) -> bool:
        """Whether `samples` and `context` are the same for every seed.

        They are then held once, beside the lanes, instead of once in each.
        """
        return False

    def samples(self, key: jax.Array) -> Any:
        """The training set: arrays with one row a sample.

        Floating arrays are brought to the run's precision; whole numbers (tokens, the bytes
        of pictures, classes) stay as they are.
        """
        raise NotImplementedError

    def draw(self, key: jax.Array, count: int, context: Any) -> Any:
        """Fresh samples for one step, in the form of `samples`; the key is of seed and step."""
        raise NotImplementedError(f"{type(self).__name__} draws no fresh samples")

    def context(self, key: jax.Array) -> Any:
        """What else a seed draws once and keeps, such as a rotation; gets the same key."""
        return None

    def loss(self, predict: Predict, samples: Any) -> jax.Array:
        """The training objective on some or all of the samples; what the probes measure.

        Of a random loss it is the one with a key that is always the same, so that what is
        measured changes with the parameters alone.
        """
        if not self.has("random_loss"):
            raise NotImplementedError(f"{type(self).__name__} has no loss")
        return self.random_loss(predict, samples, key_for(0, "measured loss"))

    def random_loss(self, predict: Predict, samples: Any, key: jax.Array) -> jax.Array:
        """The training objective of one step; the key is of seed and step.

        For losses that draw random numbers, such as the times and the noise of diffusion.
        """
        return self.loss(predict, samples)

    def has(self, method: str) -> bool:
        """Whether the task has written one of the methods that most leave out.

        Example:
            >>> Task().has("draw")
            False
        """
        return getattr(type(self), method) is not getattr(Task, method)

    def lens(self, predict: Predict, context: Any) -> Predict:
        """The model as seen in the task's own coordinates (a rotated task turns it back)."""
        return predict

    def test_loss(self, predict: Predict) -> jax.Array:
        """Loss at the test point, for a model seen through `lens`."""
        raise NotImplementedError(f"{type(self).__name__} has no test point")
