"""Vectors around the corners of a rectangle, generated on the condition of being themselves.

The identity mapping task as a diffusion model: yang2024 Fig. 5b. The clusters are at the origin
and at `means[p]` on axis p, the test condition is the corner that combines them, and further
axes hold noise alone. The condition of a sample is the sample itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.numerics.draws import normal
from dynascope.tasks.diffusion.base import (
    Conditioned,
    DiffusionTask,
    check_share,
    shuffled_conditions,
)


@dataclass(frozen=True)
class VectorDiffusion(DiffusionTask):
    """Clusters of vectors, with their own coordinates as the condition.

    Args:
        means: Distance of each concept's cluster from the one at the origin.
        spread: Deviation of all clusters along all axes.
        nuisance: Axes on which all clusters are at 0.
        samples_per_cluster: Size of a training set, for rules that do not draw fresh samples, and
            of what the probes measure on.
        shuffled: Share of the samples that get the condition of another: a control.

    Example:
        >>> task = VectorDiffusion(means=(1.0, 2.0), spread=0.0)
        >>> task.samples(jax.random.key(0)).x[:3].tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
        >>> task.test_condition().tolist()
        [1.0, 2.0, 0.0]
    """

    means: tuple[float, ...] = (1.0, 2.0)
    spread: float = 0.05
    nuisance: int = 1
    samples_per_cluster: int = 1024
    shuffled: float = 0.0
    noise: float = static_field(1e-3)

    def check(self) -> None:
        """Raise for settings that describe no task."""
        check_share(self.shuffled)
        if len(self.means) < 2:
            raise bad("means", self.means, "at least two: one concept has no order")
        for i, mean in enumerate(self.means):
            if not (math.isfinite(mean) and mean > 0):
                raise bad(
                    f"means[{i}]", mean, "a finite number above 0",
                    "a concept without strength is never learned, so its order is undefined",
                )  # fmt: skip
        if not 0 <= self.spread < float("inf"):
            raise bad("spread", self.spread, "a finite number of at least 0")
        for name, least in (("nuisance", 0), ("samples_per_cluster", 1)):
            if getattr(self, name) < least:
                raise bad(name, getattr(self, name), f"a whole number of at least {least}")
        if not 0 < self.noise < float("inf"):
            raise bad("noise", self.noise, "a finite number above 0")

    @property
    def data_noise(self) -> float:
        """Deviation of the data's own noise."""
        return self.noise

    @property
    def output_size(self) -> int:
        """Concepts and nuisance axes."""
        return len(self.means) + self.nuisance

    @property
    def condition_size(self) -> int:
        """A condition is a vector of the same kind."""
        return self.output_size

    @property
    def test_point(self) -> tuple[float, ...]:
        """Every concept at once."""
        return (*self.means, *(0.0,) * self.nuisance)

    def test_condition(self) -> jax.Array:
        """The test point, also where the means are traced."""
        return jnp.pad(jnp.asarray(self.means), (0, self.nuisance))

    def centres(self) -> jax.Array:
        """Of the training clusters: the origin first, (clusters, D)."""
        own = self.test_condition()
        return jnp.concatenate([jnp.zeros_like(own)[None], jnp.diag(own)[: len(self.means)]])

    def draw(self, key: jax.Array, count: int, context: Any) -> Conditioned:
        """Fresh samples, cluster after cluster in turn."""
        centres, (own, order) = self.centres(), jax.random.split(key)
        cluster = jnp.arange(count, dtype=jnp.int32) % centres.shape[0]
        x = centres[cluster] + self.spread * normal(own, (count, self.output_size))
        found = Conditioned(x, x)
        return shuffled_conditions(found, self.shuffled, order)

    def samples(self, key: jax.Array) -> Conditioned:
        """A training set."""
        return self.draw(key, self.samples_per_cluster * (len(self.means) + 1), None)
