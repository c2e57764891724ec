"""Items with labels of their own, which a generic label replaces now and then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import static_field
from dynascope.tasks.base import Predict, Task


@dataclass(frozen=True)
class NoisyLabels(Task):
    """Each of N items has its label; with some probability the label is the N + 1st, the noise.

    chen2025 (4.5). The whole distribution is given at once, so nothing is random: inputs are
    the rows of the identity, targets the probabilities of the labels.

    Args:
        items: N.
        noise: How often the label is the noise.
        reduction: Whether the cross-entropy is the mean over the items or their sum.

    Example:
        >>> NoisyLabels(2, 0.25).samples(jax.random.key(0))[1].tolist()
        [[0.75, 0.0, 0.25], [0.0, 0.75, 0.25]]
    """

    items: int = 3
    noise: float = 0.03
    reduction: Literal["mean", "sum"] = static_field("mean")

    def check(self) -> None:
        """Raise for fewer than two items and for a noise that is no probability."""
        if self.items < 2:
            raise bad("items", self.items, "a whole number of at least 2")
        if not 0 <= self.noise <= 1:
            raise bad("noise", self.noise, "a number from 0 to 1")

    @property
    def input_size(self) -> int:
        """One for each item."""
        return self.items

    @property
    def output_size(self) -> int:
        """One for each item, and the noise."""
        return self.items + 1

    @property
    def shared(self) -> bool:
        """The same for every seed."""
        return True

    @property
    def ceiling(self) -> float:
        """The highest probability that the true distribution gives a right label."""
        return 1 - self.noise

    def samples(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Items (N, N) and the probabilities of their labels (N, N + 1)."""
        form = jnp.result_type(float)
        own = jnp.eye(self.items, self.items + 1, dtype=form)
        noise = jnp.zeros_like(own).at[:, -1].set(1.0)
        return jnp.eye(self.items, dtype=form), (1 - self.noise) * own + self.noise * noise

    def loss(self, predict: Predict, samples: tuple[jax.Array, jax.Array]) -> jax.Array:
        """Cross-entropy between the labels' probabilities and the predicted ones."""
        x, targets = samples
        losses = -jnp.sum(targets * jax.nn.log_softmax(predict(x)), axis=-1)
        return jnp.mean(losses) if self.reduction == "mean" else jnp.sum(losses)

    def pure_loss(self, predict: Predict) -> jax.Array:
        """Mean of -log p(own label), whatever the noise in training: the loss without noise."""
        x, _ = self.samples(jax.random.key(0))
        logs = jax.nn.log_softmax(predict(x))
        return -jnp.mean(jnp.diagonal(logs[:, : self.items]))
