"""Precision as a context around our own compiled calls, never as a process-wide switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp


@contextmanager
def precision(dtype: str) -> Iterator[None]:
    """Trace and run in "float32" or "float64", with strict dtype promotion.

    The caller's jax configuration is the same before and after.
    """
    with jax.enable_x64(dtype == "float64"), jax.numpy_dtype_promotion("strict"):
        yield


def foreign() -> Any:
    """Standard promotion, for code that is not ours: optax, a user's model or task."""
    return jax.numpy_dtype_promotion("standard")


def cast(tree: Any, dtype: str) -> Any:
    """Bring every floating array of a tree to a dtype; whole numbers and keys stay."""

    def one(leaf: Any) -> Any:
        array = jnp.asarray(leaf)
        return array.astype(dtype) if jnp.issubdtype(array.dtype, jnp.floating) else array

    return jax.tree.map(one, tree)
