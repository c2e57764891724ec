"""LASER: a matrix without its small singular values (chen2025 section 4.3; Sharma et al. 2023).

With W = sum_i sigma_i u_i v_i^T, sigma falling, the truncation of rank k is the sum over i < k. A
share rho keeps k = floor(rho min(inputs, outputs)).
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad

Matrix = TypeVar("Matrix", np.ndarray, jax.Array)


def kept_rank(shape: tuple[int, ...], keep: float) -> int:
    """How many directions a share keeps: floor(keep min(shape)), as one would by hand.

    Args:
        shape: Of the matrix; stacks of matrices may stand before it.
        keep: The share rho, from 0 to 1.

    Returns:
        The rank.

    Example:
        >>> kept_rank((100, 400), 0.29)  # 0.29 * 100 is 28.999999999999996 in floating point
        29
    """
    if not 0 <= keep <= 1:  # NaN too
        raise bad("keep", keep, "a share from 0 to 1")
    return int(np.floor(keep * min(shape[-2:]) * (1 + 1e-9) + 1e-9))


def chosen_rank(shape: tuple[int, ...], rank: int | None, keep: float | None) -> int:
    """The rank that is asked for, one way or the other."""
    if (rank is None) == (keep is None):
        raise bad("rank", rank, "a rank or a share `keep`, one of the two")
    if keep is not None:
        return kept_rank(shape, keep)
    if rank is None or rank < 0 or rank != int(rank):
        raise bad("rank", rank, "a whole number of at least 0")
    return min(int(rank), *shape[-2:])


def truncate_matrix(w: Matrix, *, rank: int | None = None, keep: float | None = None) -> Matrix:
    """The best approximation of a matrix of a given rank: its largest singular values.

    Works on numpy arrays and, inside compiled programs too, on jax arrays; the rank is fixed by
    the shape. Stacks of matrices are cut one by one. Of full rank, the matrix comes back as it is.

    Args:
        w: (..., inputs, outputs) or the transpose; the rank does not depend on which.
        rank: How many directions stay, or
        keep: their share of min(inputs, outputs).

    Returns:
        The truncated matrix, in the precision of `w`.

    Example:
        >>> truncate_matrix(np.diag([3.0, 1.0, 2.0]), rank=2).diagonal().tolist()
        [3.0, 0.0, 2.0]
    """
    xp: Any = jnp if isinstance(w, jax.Array) else np
    if w.ndim < 2:
        raise bad("w", w.shape, "a matrix")
    if xp is np and not np.isfinite(w).all():
        raise bad("w", "NaN or infinite entries", "finite numbers")
    k = chosen_rank(w.shape, rank, keep)
    if k == min(w.shape[-2:]):
        return w
    if k == 0:
        return xp.zeros_like(w)
    u, s, vt = xp.linalg.svd(w, full_matrices=False)
    return ((u[..., :k] * s[..., None, :k]) @ vt[..., :k, :]).astype(w.dtype)
