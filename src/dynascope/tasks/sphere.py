"""Points on a sphere with one example twice as large as the others (zhu2024 D6, Fig. 4.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal
from dynascope.tasks.samples import Labelled, Samples


@dataclass(frozen=True)
class Sphere(Samples):
    """Inputs even on the unit sphere, targets 1; the first example is multiplied by a factor.

    With as many inputs as samples the inputs are nearly orthogonal, so that a step on one
    example hardly moves the others.

    Args:
        count: Number of samples.
        dimension: Number of inputs.
        factor: Multiplies input and target of the first example.

    Example:
        >>> x, y = Sphere(3, 5).samples(jax.random.key(0))
        >>> [round(float(v), 5) for v in jnp.linalg.norm(x, axis=1)], y[:, 0].tolist()
        ([2.0, 1.0, 1.0], [2.0, 1.0, 1.0])
    """

    offers: ClassVar[str | None] = "vectors"

    count: int = 100
    dimension: int = 100
    factor: float = 2.0

    def check(self) -> None:
        """Raise for sizes below one and factors that are not finite."""
        for name in ("count", "dimension"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if not math.isfinite(self.factor):
            raise bad("factor", self.factor, "a finite number")

    @property
    def input_size(self) -> int:
        """Number of inputs."""
        return self.dimension

    def samples(self, key: jax.Array) -> Labelled:
        """A seed's points; the first one is the large one."""
        x = normal(key, (self.count, self.dimension))
        x = x / jnp.linalg.norm(x, axis=1, keepdims=True)
        y = jnp.ones((self.count, 1), x.dtype)
        sizes = y.at[0].set(self.factor)
        return x * sizes, y * sizes
