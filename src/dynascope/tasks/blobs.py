"""Two classes as normal blobs in many dimensions: a stand-in for two kinds of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal, signs
from dynascope.tasks.samples import Labelled, Samples


@dataclass(frozen=True)
class Blobs(Samples):
    """Targets 0 and 1, as many of each; inputs are normal around one point for each.

    The defaults have the size, mean and deviation of the 79 pixels of MNIST's zeros and ones
    that vary most, from 0 to 1, and nothing else of them.

    Args:
        count: Number of samples.
        dimension: Number of inputs.
        offset: Mean of every input over both classes.
        distance: Of an input's mean in a class from `offset`; each seed draws its side.
        spread: Standard deviation of an input within a class.

    Example:
        >>> x, y = Blobs(count=4, dimension=3).samples(jax.random.key(0))
        >>> x.shape, y[:, 0].tolist()
        ((4, 3), [0.0, 1.0, 0.0, 1.0])
    """

    offers: ClassVar[str | None] = "vectors"

    count: int = 2000
    dimension: int = 79
    offset: float = 0.45
    distance: float = 0.35
    spread: float = 0.25

    def check(self) -> None:
        """Raise for sizes below one and for a negative distance or spread."""
        for name in ("count", "dimension"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        for name in ("distance", "spread"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise bad(name, getattr(self, name), "a finite number of at least 0")

    @property
    def input_size(self) -> int:
        """Number of inputs."""
        return self.dimension

    def samples(self, key: jax.Array) -> Labelled:
        """Inputs (count, dimension) and targets (count, 1)."""
        sides_key, noise_key = jax.random.split(key)
        y = (jnp.arange(self.count) % 2).astype(jnp.result_type(float))[:, None]
        middle = self.offset + self.distance * (2 * y - 1) * signs(sides_key, (self.dimension,))
        return middle + self.spread * normal(noise_key, (self.count, self.dimension)), y
