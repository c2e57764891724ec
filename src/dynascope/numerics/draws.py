"""Random draws that are the same numbers in float32 and float64.

A seed then means the same network and the same data in both precisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

LEAST = 4096  # numbers drawn at once outside of compiled calls


def normal(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Standard normal numbers, drawn in float32 and given in the current precision."""
    return _drawn(jax.random.normal, key, shape).astype(jnp.result_type(float))


def uniform(key: jax.Array, shape: tuple[int, ...], low: float = 0.0) -> jax.Array:
    """Numbers evenly spread from `low` to 1, drawn in float32."""
    drawn = _drawn(partial(jax.random.uniform, minval=low), key, shape)
    return drawn.astype(jnp.result_type(float))


def signs(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Plus or minus one with equal chances, drawn in float32.

    Example:
        >>> sorted(set(signs(jax.random.key(0), (20,)).tolist()))
        [-1.0, 1.0]
    """
    drawn = _drawn(jax.random.uniform, key, shape)
    return jnp.where(drawn < 0.5, 1.0, -1.0).astype(jnp.result_type(float))


def _drawn(draw: Callable, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The numbers of `draw(key, shape)`; outside of compiled calls without a program per shape.

    XLA takes half a second for each shape of a draw. Numbers depend on their place alone, so
    that the first of a longer draw are those of a shorter one; lengths are powers of two.
    """
    traced = isinstance(key, jax.core.Tracer)
    if traced or not jax.config.jax_threefry_partitionable:  # type: ignore[attr-defined]
        return draw(key, shape, jnp.float32)
    size = math.prod(shape)
    length = max(LEAST, 1 << (size - 1).bit_length()) if size else 1
    return jnp.asarray(np.asarray(draw(key, (length,), jnp.float32))[:size].reshape(shape))
