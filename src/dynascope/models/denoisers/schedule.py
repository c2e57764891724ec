"""The learned linear noise schedule gamma(t) = b + |w| t, and how a network is told of a level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.spec import Spec, static_field
from dynascope.models.transformer.drawing import Entry

FREQUENCIES = 8  # of the sines and cosines that stand for a level
COORDINATES = 2 * FREQUENCIES + 1


class Levels(eqx.Module):
    """b and w of gamma(t) = b + |w| t."""

    b: Any
    w: Any

    def __call__(self, t: jax.Array) -> jax.Array:
        """The level at a time."""
        return self.b + jnp.abs(self.w) * t


@dataclass(frozen=True)
class NoiseLevels(Spec):
    """Where the learned schedule starts: gamma(0) and gamma(1)."""

    least: float = static_field(-5.0)
    most: float = static_field(10.0)

    def check(self) -> None:
        """Raise unless the level rises from one finite number to another."""
        if not (math.isfinite(self.least) and math.isfinite(self.most) and self.least < self.most):
            raise bad("least", self.least, f"a finite number below most = {self.most}")

    def entries(self) -> Levels:
        """B and w at the start."""
        return Levels(
            Entry((), "constant", self.least), Entry((), "constant", self.most - self.least)
        )

    def coordinates(self, gamma: jax.Array) -> jax.Array:
        """A level as numbers of order one, (..., COORDINATES): its place, sines and cosines.

        Example:
            >>> NoiseLevels().coordinates(jnp.asarray(-5.0))[:2].tolist()
            [-1.0, 0.0]
        """
        place = 2 * (gamma - self.least) / (self.most - self.least) - 1
        angles = (place[..., None] + 1) * jnp.asarray(
            math.pi * 2.0 ** (np.arange(FREQUENCIES) - 2), place.dtype
        )
        return jnp.concatenate([place[..., None], jnp.sin(angles), jnp.cos(angles)], axis=-1)
