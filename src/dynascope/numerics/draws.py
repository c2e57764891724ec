"""Random draws that are the same numbers in float32 and float64.

A seed then means the same network and the same data in both precisions.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def normal(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Standard normal numbers, drawn in float32 and given in the current precision."""
    return jax.random.normal(key, shape, jnp.float32).astype(jnp.result_type(float))


def uniform(key: jax.Array, shape: tuple[int, ...], low: float = 0.0) -> jax.Array:
    """Numbers evenly spread from `low` to 1, drawn in float32."""
    drawn = jax.random.uniform(key, shape, jnp.float32, minval=low, maxval=1.0)
    return drawn.astype(jnp.result_type(float))


def signs(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Plus or minus one with equal chances, drawn in float32.

    Example:
        >>> sorted(set(signs(jax.random.key(0), (20,)).tolist()))
        [-1.0, 1.0]
    """
    drawn = jax.random.uniform(key, shape, jnp.float32)
    return jnp.where(drawn < 0.5, 1.0, -1.0).astype(jnp.result_type(float))
