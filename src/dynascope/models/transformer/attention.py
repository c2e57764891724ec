"""Attention: every position asks all others (or those before it) and adds up what they answer.

attn(X) = softmax(X W_Q W_K^T X^T) X W_V W_O^T for one head, summed over heads, with X the
positions as rows. boix2023 (1) writes W_K W_Q^T in the place of W_Q W_K^T; the two differ by the
names, and their spectra are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from dynascope.models.transformer import one_head
from dynascope.models.transformer.drawing import Entry, Start
from dynascope.models.transformer.rotary import rotated

Weights = dict[str, jax.Array]


class Attention(NamedTuple):
    """The settings of attention; a head's maps are (width, head_size)."""

    width: int
    heads: int
    head_size: int
    groups: int  # of heads that share keys and values; as many as heads is the usual kind
    bias: bool  # whether queries, keys and values have offsets
    output_bias: bool
    scaled: bool  # whether scores are over sqrt(head_size)
    causal: bool  # whether a position sees only itself and those before it
    rotary: tuple[float, float, tuple[float, ...]] | None  # base, share, factors of the angles
    identity_query: bool = False  # one head whose queries are the tokens themselves

    def entries(self, start: Start) -> dict[str, Entry]:
        """The arrays: maps as (width, head, size), the output's as (head, size, width)."""
        counts = {"query": self.heads, "key": self.groups, "value": self.groups}
        if self.identity_query:
            counts.pop("query")
        found = {}
        for name, count in counts.items():
            found[name] = start.weight((self.width, count, self.head_size), self.width)
            if self.bias:
                found[f"{name}_bias"] = start.offset((count, self.head_size), self.width)
        inner = self.heads * self.head_size
        shape = (self.heads, self.head_size, self.width)
        found["output"] = start.weight(shape, inner, writes=True)
        if self.output_bias:
            found["output_bias"] = start.offset((self.width,), inner)
        return found

    def __call__(self, weights: Weights, x: jax.Array, at: jax.Array | None = None) -> jax.Array:
        """What positions add to themselves, (..., positions, width); all, or those `at` places."""
        if self.identity_query:
            return one_head.output(weights, self.pattern(weights, x, at), x)
        return self.output(weights, self.pattern(weights, x, at), x)

    def pattern(self, weights: Weights, x: jax.Array, at: jax.Array | None = None) -> jax.Array:
        """Who looks where: (..., group, head in it, asking position, answering position).

        Args:
            weights: Of this attention.
            x: (..., positions, width).
            at: (..., asking) positions that ask; all of them by default.

        Returns:
            Rows that sum to 1.
        """
        if self.identity_query:
            scores = one_head.scores(weights, asking(x, at), x)
        else:
            scores = self._scores(weights, x, at)
        if self.scaled:
            scores = scores * self.head_size**-0.5
        if self.causal:
            scores = jnp.where(self._seen(x.shape[-2], at), scores, -jnp.inf)
        return jax.nn.softmax(scores, axis=-1)

    def _scores(self, weights: Weights, x: jax.Array, at: jax.Array | None) -> jax.Array:
        q, k = _mapped(weights, "query", x), _mapped(weights, "key", x)
        if self.rotary is not None:
            q, k = rotated(q, *self.rotary), rotated(k, *self.rotary)
        if at is not None:
            q = jnp.take_along_axis(q, at[..., None, None], axis=-3)
        # Heads first: XLA sees plain products of matrices, a quarter less time of this part.
        lead, places = q.shape[:-3], q.shape[-3]
        asked = q.swapaxes(-2, -3).reshape(*lead, self.groups, -1, self.head_size)
        scores = asked @ k.swapaxes(-2, -3).swapaxes(-1, -2)  # (..., group, head and i, j)
        return scores.reshape(*lead, self.groups, -1, places, scores.shape[-1])

    def _seen(self, count: int, at: jax.Array | None) -> jax.Array:
        """Which positions those that ask may look at."""
        if at is None:
            return jnp.tril(jnp.ones((count, count), bool))
        seen = jnp.arange(count) <= at[..., None]
        return seen if self.identity_query else seen[..., None, None, :, :]

    def output(self, weights: Weights, pattern: jax.Array, x: jax.Array) -> jax.Array:
        """What is read at the places of the pattern, through W_V and W_O."""
        v = _mapped(weights, "value", x)
        lead, places = pattern.shape[:-4], pattern.shape[-2]
        weighted = pattern.reshape(*lead, self.groups, -1, pattern.shape[-1])
        read = weighted @ v.swapaxes(-2, -3)  # (..., group, head and i, size)
        read = read.reshape(*lead, self.heads, places, self.head_size).swapaxes(-2, -3)
        read = read.reshape(*lead, places, self.heads * self.head_size)
        written = read @ weights["output"].reshape(self.heads * self.head_size, self.width)
        return written + weights["output_bias"] if self.output_bias else written


def asking(x: jax.Array, at: jax.Array | None) -> jax.Array:
    """The positions that ask: those `at` some places (..., asking), or all."""
    return x if at is None else jnp.take_along_axis(x, at[..., None], axis=-2)


def _mapped(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    """X W of all heads in one product: (..., position, head, size)."""
    weight = weights[name]
    flat = x @ weight.reshape(weight.shape[0], -1)
    split = flat.reshape(*flat.shape[:-1], *weight.shape[1:])
    return split + weights[f"{name}_bias"] if f"{name}_bias" in weights else split
