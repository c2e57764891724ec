"""Spectra of products W W'^T of two tall matrices, and of their change, without forming them.

boix2023 watches W_K W_Q^T and W_V W_O^T of every head: d x d matrices of rank d_h, whose change
since the start has rank 2 d_h at most. For left L = Q_1 R_1 and right M = Q_2 R_2 the singular
values of L M^T are those of the small R_1 R_2^T. The change is written as

    W W'^T - W_0 W_0'^T = [W - W_0, W_0] [W', W' - W_0']^T,

which is exactly zero where nothing has changed, and loses nothing to cancellation while little has.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from dynascope.numerics.decompositions import singular_values, triangle


def product_spectrum(left: Any, right: Any) -> jax.Array:
    """Singular values of left right^T, the largest first.

    Args:
        left: (..., d, k).
        right: (..., d', k).

    Returns:
        (..., min(d, d', k)); all others are zero.

    Example:
        >>> left = jnp.array([[3.0], [4.0]])
        >>> product_spectrum(left, left).tolist()  # the norm 5, squared
        [25.0]
    """
    left, right = jnp.asarray(left), jnp.asarray(right)
    return singular_values(triangle(left) @ triangle(right).swapaxes(-1, -2))


def difference_spectrum(left: Any, right: Any, left_start: Any, right_start: Any) -> jax.Array:
    """Singular values of left right^T - left_start right_start^T, the largest first.

    Args:
        left: (..., d, k).
        right: (..., d', k).
        left_start: What `left` was at the start.
        right_start: What `right` was at the start.

    Returns:
        (..., min(d, d', 2 k)).

    Example:
        >>> start, now = jnp.array([[1.0], [0.0]]), jnp.array([[0.0], [1.0]])
        >>> difference_spectrum(now, now, start, start).round(5).tolist()  # diag(-1, 1)
        [1.0, 1.0]
    """
    left, right = jnp.asarray(left), jnp.asarray(right)
    first = jnp.concatenate([left - left_start, jnp.asarray(left_start)], axis=-1)
    second = jnp.concatenate([right, right - right_start], axis=-1)
    return product_spectrum(first, second)


def stable_rank(spectrum: Any) -> jax.Array:
    """Sum of the squared singular values over the largest, squared; nan for the zero matrix.

    Between 1 and the rank, and blind to the size of the matrix. A matrix of zeros has none.

    Args:
        spectrum: Singular values (..., rank).

    Returns:
        (...).

    Example:
        >>> stable_rank(jnp.array([[2.0, 2.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
        [2.0, 1.0, nan]
    """
    return (normalized(spectrum) ** 2).sum(-1)


def normalized(spectrum: Any) -> jax.Array:
    """Singular values over the largest; nan for the zero matrix."""
    spectrum = jnp.asarray(spectrum)
    largest = spectrum.max(-1, keepdims=True)
    return jnp.where(largest > 0, spectrum / jnp.where(largest > 0, largest, 1.0), jnp.nan)
