"""Decompositions of dense matrices inside compiled programs, one matrix after the other.

jaxlib shares a batch of matrices out among the threads on one of which it is called, and waits
there (`ParallelBatchMap` of its LAPACK kernels). Where as many such calls meet as there are
threads, none is left to do the work, and the program stands still for ever: two singular value
decompositions did so on one core. A single matrix is decomposed where the call is. So what jax
batches, by `vmap` over lanes or by axes of its own, is mapped here, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import sequential_vmap


def _one_by_one(decompose: Callable[[jax.Array], Any]) -> Callable[[Any], Any]:
    """A decomposition of (m, n) matrices for (..., m, n)."""
    one = sequential_vmap(decompose)

    def each(matrices: Any) -> Any:
        matrices = jnp.asarray(matrices)
        axes = matrices.shape[:-2]
        if not axes:
            return one(matrices)
        found = lax.map(one, matrices.reshape(-1, *matrices.shape[-2:]))
        return jax.tree.map(lambda part: part.reshape(*axes, *part.shape[1:]), found)

    return each


_EIGH = _one_by_one(lambda m: tuple(jnp.linalg.eigh(m)))
_EIGVALSH = _one_by_one(lambda m: jnp.linalg.eigvalsh(m))
_QR = _one_by_one(lambda m: tuple(jnp.linalg.qr(m)))
_TRIANGLE = _one_by_one(lambda m: jnp.linalg.qr(m, mode="r"))
_SVD = _one_by_one(lambda m: tuple(jnp.linalg.svd(m, full_matrices=False)))
_SINGULAR_VALUES = _one_by_one(lambda m: jnp.linalg.svd(m, compute_uv=False))


def eigh(matrices: Any) -> tuple[jax.Array, jax.Array]:
    """Eigenvalues, ascending, and eigenvectors of symmetric matrices (..., n, n)."""
    return _EIGH(matrices)


def eigvalsh(matrices: Any) -> jax.Array:
    """Eigenvalues of symmetric matrices (..., n, n), ascending.

    Example:
        >>> eigvalsh(jnp.array([[[2.0, 1.0], [1.0, 2.0]], [[3.0, 0.0], [0.0, 5.0]]])).tolist()
        [[1.0, 3.0], [3.0, 5.0]]
    """
    return _EIGVALSH(matrices)


def qr(matrices: Any) -> tuple[jax.Array, jax.Array]:
    """Q and R of matrices (..., m, n)."""
    return _QR(matrices)


def triangle(matrices: Any) -> jax.Array:
    """R of matrices (..., m, n), without Q."""
    return _TRIANGLE(matrices)


def svd(matrices: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """U, singular values, descending, and V^T of matrices (..., m, n), without null spaces."""
    return _SVD(matrices)


def singular_values(matrices: Any) -> jax.Array:
    """Singular values of matrices (..., m, n), descending."""
    return _SINGULAR_VALUES(matrices)
