"""Named random keys: a key says what it is for, so no two uses share one by accident."""

from __future__ import annotations

import zlib

import jax


def key_for(seed: jax.Array | int, *purpose: str | int | jax.Array) -> jax.Array:
    """The key of a seed for a purpose; it depends on nothing else.

    Args:
        seed: The seed, may be traced.
        *purpose: Words and counters, such as `"batch", step`.

    Returns:
        A typed jax key.

    Example:
        >>> bool((key_for(0, "init") == key_for(0, "init")).all())
        True
        >>> bool((key_for(0, "init") == key_for(0, "data")).all())
        False
    """
    key = jax.random.key(seed)
    for part in purpose:
        number = zlib.crc32(part.encode()) if isinstance(part, str) else part
        key = jax.random.fold_in(key, number)
    return key
