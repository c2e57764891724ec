"""Layer norm and RMS norm over the last axis."""

from __future__ import annotations

from typing import Literal

import jax

from dynascope.models.transformer.drawing import Entry

Norm = Literal["layer", "rms", "none"]


def norm_entries(kind: Norm, width: int) -> dict[str, Entry]:
    """What a norm learns: a scale, and an offset where means are taken off; nothing for "none"."""
    scale = {"scale": Entry((width,), "constant", 1.0)}
    offset = {"offset": Entry((width,), "constant", 0.0)}
    return {"layer": scale | offset, "rms": scale, "none": {}}[kind]


def normed(kind: Norm, weights: dict[str, jax.Array], x: jax.Array, epsilon: float) -> jax.Array:
    """Rows brought to deviation 1 ("layer": and mean 0), then scaled by what was learned.

    Example:
        >>> import jax.numpy as jnp
        >>> weights = {"scale": jnp.ones(2), "offset": jnp.zeros(2)}
        >>> normed("layer", weights, jnp.array([1.0, 3.0]), 0.0).tolist()
        [-1.0, 1.0]
    """
    if kind == "none":
        return x
    if kind == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + epsilon) * weights["scale"]
    return x + weights["offset"] if kind == "layer" else x
