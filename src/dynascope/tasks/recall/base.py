"""What the tasks of recall share: some places of a row are asked, each has an answer and a noise.

A model reads `Asked`: rows of tokens and the places at which it is asked. It gives logits at these
places alone, (rows, places, tokens), so that nothing is computed for places that do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.tasks.base import Predict, Task
from dynascope.tasks.classes import cross_entropy, weighted_mean


class Asked(NamedTuple):
    """Rows of tokens, and the places at which the next token is asked for."""

    tokens: jax.Array  # (rows, length), whole numbers
    places: jax.Array  # (rows, places), whole numbers below length


class RecallSamples(NamedTuple):
    """Rows with what is asked of them."""

    tokens: jax.Array  # (rows, length)
    places: jax.Array  # (rows, places)
    targets: jax.Array  # (rows, places), the next token as drawn, noise and all
    answers: jax.Array  # (rows, places), the next token that the context tells
    weights: jax.Array  # (rows, places), 0 where a place is only there to fill up

    @property
    def asked(self) -> Asked:
        """What a model reads."""
        return Asked(self.tokens, self.places)


@dataclass(frozen=True)
class Recall(Task):
    """A task whose samples are `RecallSamples`; the context holds a test set without noise."""

    offers: ClassVar[str | None] = "asked tokens"

    @property
    def generic(self) -> int:
        """The noise token."""
        raise NotImplementedError

    @property
    def output_size(self) -> int:
        """Number of tokens."""
        return self.input_size

    def sequences(self, key: jax.Array, count: int, noise: Any) -> RecallSamples:
        """Rows drawn with a given noise."""
        raise NotImplementedError

    @property
    def ceiling(self) -> float:
        """The best accuracy that any rule can have on the test set."""
        raise NotImplementedError

    def samples(self, key: jax.Array) -> RecallSamples:
        """Noisy rows, to measure on."""
        return self.sequences(key, self.test, self.noise)  # type: ignore[attr-defined]

    def context(self, key: jax.Array) -> RecallSamples:
        """The test set: as many rows without noise."""
        return self.sequences(jax.random.fold_in(key, 1), self.test, 0.0)  # type: ignore[attr-defined]

    def draw(self, key: jax.Array, count: int, context: Any) -> RecallSamples:
        """Fresh noisy rows."""
        return self.sequences(key, count, self.noise)  # type: ignore[attr-defined]

    def loss(self, predict: Predict, samples: RecallSamples) -> jax.Array:
        """Cross-entropy of the next token at the asked places."""
        return cross_entropy(predict(samples.asked), samples.targets, samples.weights)  # type: ignore[arg-type]

    def readout(self, logits: jax.Array, samples: RecallSamples) -> jax.Array:
        """What a model says at the asked places, (5,).

        Probability of the answer, probability of the noise token, cross-entropy of the answer,
        share of places where the noise token is on top, share where the answer is.
        """
        logs = jax.nn.log_softmax(logits)
        right = jnp.take_along_axis(logs, samples.answers[..., None], axis=-1)[..., 0]
        noise, top = logs[..., self.generic], jnp.argmax(logits, axis=-1)
        form = logits.dtype
        parts = (
            jnp.exp(right), jnp.exp(noise), -right, (top == self.generic).astype(form),
            (top == samples.answers).astype(form),
        )  # fmt: skip
        return jnp.stack([weighted_mean(part, samples.weights.astype(form)) for part in parts])


READOUT = ("right", "noise", "loss", "says_noise", "accuracy")  # the parts of `Recall.readout`
