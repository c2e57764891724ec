"""Learning a sum of ReLU neurons from points on a sphere (chen2025 section 3.7.1, Fig. B.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal
from dynascope.tasks.samples import Labelled, Samples


@dataclass(frozen=True)
class TeacherStudent(Samples):
    """Fit y(x) = sum of relu(x_i) over the first `neurons` coordinates, by squared error.

    Args:
        neurons: Neurons of the teacher; neuron i looks along axis i.
        dimension: Coordinates of a point.
        points: How many points a seed draws, evenly spread on the unit sphere.

    Example:
        >>> task = TeacherStudent(neurons=1, dimension=2, points=100)
        >>> x, y = task.samples(jax.random.key(0))
        >>> x.shape, bool((y[:, 0] == x[:, 0].clip(0)).all())
        ((100, 2), True)
    """

    offers: ClassVar[str | None] = "vectors"

    neurons: int = 16
    dimension: int = 16
    points: int = 10_000

    def check(self) -> None:
        """Raise for sizes below one, and for more neurons than axes."""
        for name in ("dimension", "points"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if not 1 <= self.neurons <= self.dimension:
            raise bad("neurons", self.neurons, f"from 1 to the dimension, {self.dimension}")

    @property
    def input_size(self) -> int:
        """Coordinates of a point."""
        return self.dimension

    def samples(self, key: jax.Array) -> Labelled:
        """Points on the sphere and the teacher's answers."""
        drawn = normal(key, (self.points, self.dimension))
        x = drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)
        return x, jax.nn.relu(x[:, : self.neurons]).sum(axis=1, keepdims=True)
