"""Inputs with the spectrum of small pictures: a stand-in where no pictures are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal
from dynascope.tasks.base import Predict, Task
from dynascope.tasks.two_clusters import Samples, squared_loss

TELLS = 3  # the coordinate (from 0) along which the two classes differ


@dataclass(frozen=True)
class ImageLike(Task):
    """Two classes of normal inputs whose deviations fall off as a power, as those of pictures do.

    Coordinate j has deviation j^-decay, the classes differ by `shift` along the fourth, the
    whole is turned by a random rotation and scaled to mean square 1. Labels are 1 and -1,
    half of each. It is synthetic and must be called so wherever it is shown.

    Args:
        count: Number of samples.
        dimension: Number of input coordinates, at least 4.
        decay: Power by which deviations fall off.
        shift: How far each class lies from the middle.
        reduction: "mse" or "half".

    Example:
        >>> x, y = ImageLike(count=8, dimension=16).samples(jax.random.key(0))
        >>> x.shape, round(float((x**2).mean()), 5), float(y.sum())
        ((8, 16), 1.0, 0.0)
    """

    count: int = 128
    dimension: int = 300
    decay: float = 0.75
    shift: float = 0.15
    reduction: Literal["half", "mse"] = "mse"

    def check(self) -> None:
        """Raise for sizes that are too small."""
        if self.count < 2:
            raise bad("count", self.count, "a whole number of at least 2")
        if self.dimension <= TELLS:
            raise bad("dimension", self.dimension, f"a whole number of at least {TELLS + 1}")

    @property
    def input_size(self) -> int:
        """The dimension."""
        return self.dimension

    @property
    def output_size(self) -> int:
        """One label."""
        return 1

    def samples(self, key: jax.Array) -> Samples:
        """Inputs (count, dimension) and labels (count, 1)."""
        places, turn = jax.random.split(key)
        drawn = normal(places, (self.count, self.dimension))
        order = jnp.arange(1, self.dimension + 1).astype(drawn.dtype)
        y = jnp.where(jnp.arange(self.count) % 2 == 0, 1.0, -1.0).astype(drawn.dtype)
        x = (drawn * order**-self.decay).at[:, TELLS].add(self.shift * y)
        rotation = jnp.linalg.qr(normal(turn, (self.dimension, self.dimension)))[0]
        return x @ rotation / jnp.sqrt(jnp.mean(x**2)), y[:, None]

    def loss(self, predict: Predict, samples: Samples) -> jax.Array:
        """The squared error, reduced as the task says."""
        return squared_loss(predict, samples, self.reduction)
