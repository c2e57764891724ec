"""Two clusters on a line, labelled by their side (D5: zhu2024 Figs. 3.3, B.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal, signs
from dynascope.tasks.samples import Labelled, Samples


@dataclass(frozen=True)
class TwoClusters(Samples):
    """Label 1 or -1; the input is normal around `distance` times the label.

    Args:
        count: Number of samples.
        distance: Of each cluster's middle from zero.
        spread: Standard deviation of each cluster.
        labels: "balanced" puts half of the samples on each side, "random" draws each label.
        reduction: "mse", whose critical rate is count / lambda, or "half" (2 / lambda).

    Example:
        >>> x, y = TwoClusters(count=6).samples(jax.random.key(0))
        >>> x.shape, y[:, 0].tolist()
        ((6, 1), [1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    """

    offers: ClassVar[str | None] = "vectors"

    count: int = 128
    distance: float = 2.0
    spread: float = 1.0
    labels: Literal["balanced", "random"] = "balanced"

    def check(self) -> None:
        """Raise for settings that describe no clusters."""
        if self.count < 1:
            raise bad("count", self.count, "a whole number of at least 1")
        for name in ("distance", "spread"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise bad(name, value, "a finite number of at least 0")
        if self.distance == self.spread == 0:
            raise bad("distance", 0.0, "a number above 0 where spread is 0: all inputs are 0")

    @property
    def input_size(self) -> int:
        """One number."""
        return 1

    def samples(self, key: jax.Array) -> Labelled:
        """Inputs (count, 1) and labels (count, 1)."""
        places, sides = jax.random.split(key)
        if self.labels == "balanced":
            y = jnp.where(jnp.arange(self.count) % 2 == 0, 1.0, -1.0).astype(jnp.result_type(float))
        else:
            y = signs(sides, (self.count,))
        y = y[:, None]
        return self.distance * y + self.spread * normal(places, (self.count, 1)), y
