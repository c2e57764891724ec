"""Is the disc blue, is it small? The two questions that the classifier of yang2025 G.3 learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.numerics.draws import normal
from dynascope.tasks.base import Predict, Task
from dynascope.tasks.diffusion.circles import CLASSES, Circles


class Answered(NamedTuple):
    """Pictures with the two answers, 0 or 1."""

    x: jax.Array  # (samples, D)
    concepts: jax.Array  # (samples, 2)


@dataclass(frozen=True)
class DiscConcepts(Task):
    """All four kinds of discs with the answers to both questions; a logistic loss for each.

    Args:
        circles: The pictures; their `shuffled` is not looked at.
        noise: Largest deviation of extra pixel noise, in the model's coordinates: generated
            pictures keep some. Each picture has its own share of it.

    Example:
        >>> draw = jax.jit(DiscConcepts(Circles(side=8)).draw, static_argnums=1)
        >>> x, answers = draw(jax.random.key(0), 4, None)
        >>> x.shape, answers.tolist()
        ((4, 192), [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    """

    circles: Circles = Circles()
    noise: float = 0.1

    @property
    def input_size(self) -> int:
        """Numbers of a picture."""
        return self.circles.output_size

    @property
    def output_size(self) -> int:
        """Blue and small."""
        return 2

    def draw(self, key: jax.Array, count: int, context: Any) -> Answered:
        """Fresh pictures of all four kinds in turn."""
        form = jnp.result_type(float)
        classes = jnp.asarray(CLASSES[np.arange(count) % 4], form)
        own, extra = jax.random.split(key)
        x = self.circles.pictures(own, classes).x
        shares = (jnp.arange(count) // 4 % 5).astype(form) / 4
        return Answered(x + self.noise * shares[:, None] * normal(extra, x.shape), classes)

    def samples(self, key: jax.Array) -> Answered:
        """A set that the probes measure on; a rule with fresh samples never trains on it."""
        return self.draw(key, 4 * self.circles.samples_per_class, None)

    def loss(self, predict: Predict, samples: Any) -> jax.Array:
        """Mean logistic loss of both answers."""
        score = predict(samples.x)
        return (jax.nn.softplus(score) - score * samples.concepts).mean()
