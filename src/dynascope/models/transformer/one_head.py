"""One head as wide as the tokens, whose queries are the tokens themselves.

Scores x_i^T W_K^T x_j and outputs sum_j a_ij x_j W_V W_O: both maps are applied on the side of the
positions that ask, which are fewer where only some are asked, and W_V W_O is one product.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

Weights = dict[str, jax.Array]


def scores(weights: Weights, asked: jax.Array, x: jax.Array) -> jax.Array:
    """(..., asking, answering): how well every position answers those that ask."""
    key = weights["key"][:, 0]  # (width, width): k_j = x_j W
    return jnp.einsum("...iw,...jw->...ij", asked @ key.T, x)


def output(weights: Weights, pattern: jax.Array, x: jax.Array) -> jax.Array:
    """What is read at the places of the pattern, through W_V and W_O."""
    read = jnp.einsum("...ij,...jw->...iw", pattern, x)
    return read @ (weights["value"][:, 0] @ weights["output"][0])
