"""Rotary positions: queries and keys are turned by angles that grow with the position.

The i-th of m pairs of coordinates at position t is turned by t base^(-i / m). A pair is
coordinate i and i + m, as in Llama's and GPT-NeoX's published weights; what stands in neighbouring
coordinates elsewhere (llama2.c) is sorted when the file is read. Scores of two positions depend on
their distance alone; at distance zero they are those without rotation.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def rotated(
    x: jax.Array,
    base: float,
    share: float,
    factors: tuple[float, ...] = (),
    first: jax.Array | int = 0,
) -> jax.Array:
    """Queries or keys (..., position, head, size), turned.

    Args:
        x: What is turned.
        base: Of the angles; 10000 is usual.
        share: Which part of the coordinates is turned; the last ones stay as they are.
        factors: On the angle of every pair, for models stretched to longer texts (Llama 3.1).
        first: The position of the first row.

    Returns:
        The same shape.

    Example:
        >>> x = jnp.ones((3, 1, 2))
        >>> turned = rotated(x, 10000.0, 1.0)
        >>> bool(jnp.allclose(turned[1, 0], jnp.array([jnp.cos(1) - jnp.sin(1),
        ...                                            jnp.cos(1) + jnp.sin(1)])))
        True
    """
    pairs = int(x.shape[-1] * share) // 2
    frequency = base ** (-jnp.arange(pairs, dtype=x.dtype) / pairs)
    if factors:
        frequency = frequency * jnp.asarray(factors, x.dtype)
    position = jnp.arange(x.shape[-3]) + first
    angle = position.astype(x.dtype)[:, None, None] * frequency
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    first, second, rest = jnp.split(x, (pairs, 2 * pairs), axis=-1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin, rest], axis=-1)
