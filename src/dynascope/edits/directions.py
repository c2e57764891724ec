"""A matrix as its singular directions, and what is left of it when some of them are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad


class Directions(NamedTuple):
    """W = sum_i sigma_i u_i v_i^T, the largest first; one decomposition serves every edit."""

    u: np.ndarray  # (inputs, direction)
    sigma: np.ndarray
    vt: np.ndarray  # (direction, outputs)

    def kept(self, which: np.ndarray) -> np.ndarray:
        """The sum over some of the directions.

        Example:
            >>> directions(np.diag([3.0, 1.0, 2.0])).kept(np.array([0])).diagonal().tolist()
            [3.0, 0.0, 0.0]
        """
        left, right = self.factors(which)
        return left @ right

    def factors(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """That sum as (inputs, rank) and (rank, outputs)."""
        return self.u[:, which] * self.sigma[which], self.vt[which]

    def energy(self, which: np.ndarray) -> float:
        """Share of the squared entries that is kept; 1 for a matrix of zeros."""
        squares = np.square(self.sigma.astype(float))
        whole = squares.sum()
        return float(squares[which].sum() / whole) if whole else 1.0


def directions(w: np.ndarray, name: str = "matrix") -> Directions:
    """The singular directions of a matrix, by LAPACK, in the precision of `w`."""
    if w.ndim != 2:
        raise bad(name, w.shape, "a matrix")
    if not np.isfinite(w).all():
        raise bad(name, "NaN or infinite entries", "finite numbers")
    return Directions(*np.linalg.svd(w, full_matrices=False))
