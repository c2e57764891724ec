"""What tasks for conditional diffusion models have in common.

A sample is data x and the condition it is asked for with; the loss is the variational bound. Two
concepts are each seen alone, and the condition of both together is kept for the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.diffusion import Parts, ancestral, antithetic_times, bound_parts
from dynascope.numerics.draws import normal, uniform
from dynascope.tasks.base import Predict, Task


class Noised(NamedTuple):
    """What a denoiser is given: corrupted data, their noise level, the condition."""

    z: jax.Array  # (samples, D)
    gamma: jax.Array  # (samples,)
    condition: jax.Array  # (samples, conditions)


class Conditioned(NamedTuple):
    """Samples with their conditions."""

    x: jax.Array  # (samples, D)
    condition: jax.Array  # (samples, conditions)


class Denoises(Protocol):
    """A denoiser with its parameters: it estimates the noise and knows its noise levels."""

    def __call__(self, x: Noised) -> jax.Array:
        """The estimate of the noise, (samples, D)."""
        ...

    def noise_level(self, t: jax.Array) -> jax.Array:
        """Gamma at a time from 0 (data) to 1 (noise)."""
        ...


@dataclass(frozen=True)
class DiffusionTask(Task):
    """A task whose model generates x on a condition; `draw` and the sizes are its own."""

    offers: ClassVar[str | None] = "noised"

    @property
    def data_noise(self) -> float:
        """Deviation of the data's own noise, in the coordinates that the model sees."""
        raise NotImplementedError

    @property
    def condition_size(self) -> int:
        """How many numbers a condition has."""
        raise NotImplementedError

    @property
    def input_size(self) -> int:
        """Coordinates of data and condition together."""
        return self.output_size + self.condition_size

    def test_condition(self) -> jax.Array:
        """The condition that combines what was only seen apart, (conditions,)."""
        raise NotImplementedError

    def parts(self, predict: Denoises, samples: Conditioned, key: jax.Array) -> Parts:
        """The bound's three parts, mean over the samples, in bits per dimension."""
        time_key, noise_key = jax.random.split(key)
        x, condition = samples
        times = antithetic_times(uniform(time_key, ()), x.shape[0])
        found = bound_parts(
            predict.noise_level, lambda z, gamma: predict(Noised(z, gamma, condition)),
            x, times, normal(noise_key, x.shape), self.data_noise,
        )  # fmt: skip
        return Parts(*(part.mean() for part in found))

    def random_loss(self, predict: Predict, samples: Any, key: jax.Array) -> jax.Array:
        """The bound: the sum of its parts."""
        return sum(self.parts(predict, samples, key), jnp.zeros((), samples.x.dtype))  # type: ignore[arg-type]

    def generate(
        self, predict: Denoises, condition: jax.Array, key: jax.Array, steps: int
    ) -> jax.Array:
        """One sample a row of `condition`, in the coordinates that the model sees."""
        shape = (condition.shape[0], self.output_size)
        return ancestral(
            predict.noise_level, lambda z, gamma: predict(Noised(z, gamma, condition)),
            key, shape, steps,
        )  # fmt: skip

    def shown(self, x: jax.Array) -> jax.Array:
        """Generated data as they are looked at."""
        return x


def shuffled_conditions(samples: Conditioned, share: Any, key: jax.Array) -> Conditioned:
    """The same data, a share of them each with the condition of another at random.

    With a share of 1 conditions mean nothing, which is a control. The share may be traced, so
    that a control runs in the same compiled program.
    """
    count = samples.x.shape[0]
    picked, order = uniform(key, (2, count))
    other = samples.condition[jnp.argsort(order)]
    change = picked < jnp.asarray(share, picked.dtype)
    return Conditioned(samples.x, jnp.where(change[:, None], other, samples.condition))


def check_share(share: float) -> None:
    """Raise `BadInput` unless a share lies between 0 and 1."""
    if not 0 <= share <= 1:
        raise bad("shuffled", share, "a share from 0 to 1")
