"""A single example: a normal input and a label (zhu2024 section 3.3, and D7 of Fig. B.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.draws import normal
from dynascope.tasks.samples import Labelled, Samples


@dataclass(frozen=True)
class OneExample(Samples):
    """x ~ N(0, I) of a given dimension with one label.

    The loss is half the squared error, "half", unless it is said otherwise.

    Example:
        >>> x, y = OneExample(dimension=3, label=2.0).samples(jax.random.key(0))
        >>> x.shape, y.tolist()
        ((1, 3), [[2.0]])
    """

    offers: ClassVar[str | None] = "vectors"

    dimension: int = 100
    label: float = 1.0
    reduction: Literal["mse", "half"] = "half"

    def check(self) -> None:
        """Raise for a dimension below one or a label that is no number."""
        if self.dimension < 1:
            raise bad("dimension", self.dimension, "a whole number of at least 1")
        # A traced label has been checked before.
        if isinstance(self.label, float) and not math.isfinite(self.label):
            raise bad("label", self.label, "a finite number")

    @property
    def input_size(self) -> int:
        """The dimension."""
        return self.dimension

    def samples(self, key: jax.Array) -> Labelled:
        """One input (1, dimension) and its label (1, 1)."""
        x = normal(key, (1, self.dimension))
        return x, jnp.full((1, 1), self.label, x.dtype)
