"""Learning an attention head from the outputs of another one (boix2023 appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.numerics.decompositions import qr
from dynascope.numerics.draws import normal
from dynascope.tasks.base import Predict, Task


def attention(x: jax.Array, scores: jax.Array, values: jax.Array) -> jax.Array:
    """softmax(X A X^T) X C, row by row, without a factor 1 / sqrt(d) (boix2023 (1)).

    Args:
        x: Tokens X, (..., tokens, d).
        scores: A = W_K W_Q^T, (d, d), or its diagonal, (d,).
        values: C = W_V W_O^T, (d, d), or its diagonal, (d,).

    Returns:
        (..., tokens, d).

    Example:
        >>> x = jnp.array([[1.0, 0.0], [3.0, 0.0]])  # scores 0: every token sees the mean
        >>> attention(x, jnp.zeros(2), jnp.ones(2)).tolist()
        [[2.0, 0.0], [2.0, 0.0]]
    """
    asked = x * scores if scores.ndim == 1 else x @ scores
    seen = jax.nn.softmax(asked @ jnp.swapaxes(x, -1, -2), axis=-1) @ x
    return seen * values if values.ndim == 1 else seen @ values


@dataclass(frozen=True)
class AttentionTeacher(Task):
    """Fit a diagonal attention head: 1,000 samples of 10 Gaussian tokens in 50 dimensions.

    The document gives neither the teacher's law nor the reduction. Here its four diagonals are
    N(0, teacher_scale^2), and the loss is half the squared error of a sample, averaged.

    Args:
        size: d, the dimension of a token.
        tokens: Tokens of a sample.
        points: Samples.
        teacher_scale: Of the teacher's diagonals; at 1 the softmax saturates.
    """

    offers: ClassVar[str | None] = "sequences"

    size: int = 50
    tokens: int = 10
    points: int = 1000
    teacher_scale: float = 0.5

    def check(self) -> None:
        """Raise for sizes below one."""
        for name in ("size", "tokens", "points"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")

    @property
    def input_size(self) -> int:
        """Coordinates of a token."""
        return self.size

    @property
    def output_size(self) -> int:
        """Coordinates of a token."""
        return self.size

    def teacher(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """A and C of the teacher: diagonals, (d,) each."""
        k, q, v, o = self.teacher_scale * normal(key, (4, self.size))
        return k * q, v * o

    def samples(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Tokens and the teacher's outputs, (points, tokens, d) each."""
        inputs, weights = jax.random.split(key)
        x = normal(inputs, (self.points, self.tokens, self.size))
        return x, attention(x, *self.teacher(weights))

    def loss(self, predict: Predict, samples: tuple[jax.Array, jax.Array]) -> jax.Array:
        """Half the squared error of a sample, averaged over samples."""
        x, y = samples
        return jnp.sum((predict(x) - y) ** 2) / (2 * x.shape[0])


@dataclass(frozen=True)
class LowRankAttentionTeacher(AttentionTeacher):
    """Fit a full attention head whose two products have given singular values.

    Args:
        scores: Singular values of A; the rest is zero.
        values: Singular values of C; the rest is zero.
    """

    size: int = 8
    tokens: int = 6
    points: int = 200
    scores: tuple[float, ...] = (1.0, 0.6, 0.3, 0.1)
    values: tuple[float, ...] = (3.0, 2.0, 1.2, 0.6, 0.3)

    def check(self) -> None:
        """Raise for sizes below one, and for more singular values than dimensions."""
        super().check()
        for name in ("scores", "values"):
            if len(getattr(self, name)) > self.size:
                raise bad(name, getattr(self, name), f"at most size = {self.size} numbers")

    def teacher(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """A and C, (d, d) each, with random singular vectors."""

        def product(key: jax.Array, given: tuple[float, ...]) -> jax.Array:
            drawn = normal(key, (2, self.size, len(given)))
            left, right = qr(drawn)[0]
            return (left * jnp.stack([jnp.asarray(s, drawn.dtype) for s in given])) @ right.T

        first, second = jax.random.split(key)
        return product(first, self.scores), product(second, self.values)
