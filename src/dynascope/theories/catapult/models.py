"""Any quadratic model f = f0 + J d + d^T H d / 2 on some examples (zhu2024 (3.15), (3.16)).

With residuals r, Jacobian J (n, p), one Hessian per example and G_i = r^T J H_i (n, p), a step
of descent on |r|^2 / 2 gives

    r' = (I - eta K + eta^2 G J^T / 2) r,    J' = J - eta G,
    K' = K - eta (G J^T + J G^T) + eta^2 G G^T.

The document prints K - eta (4 G J^T - eta G G^T) / 4, which is no expansion of J' J'^T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.catapult.quadratic_map import QuadraticMap


class QuadraticState(NamedTuple):
    """Residuals (n,) and Jacobian (n, p) of a quadratic model."""

    residuals: np.ndarray
    jacobian: np.ndarray

    @property
    def kernel(self) -> np.ndarray:
        """The tangent kernel J J^T."""
        return self.jacobian @ self.jacobian.T


def _turn(state: QuadraticState, hessians: np.ndarray) -> np.ndarray:
    """G, (n, p): how the Jacobian turns; `hessians` is (n, p, p)."""
    return np.einsum("p,npq->nq", state.residuals @ state.jacobian, hessians)


def general_step(state: QuadraticState, hessians: np.ndarray, rate: float) -> QuadraticState:
    """One step of descent on half the sum of squares, without parameters.

    Example:
        >>> state = QuadraticState(np.array([1.0]), np.array([[1.0, 0.0]]))
        >>> after = general_step(state, np.array([[[0.0, 1.0], [1.0, 0.0]]]), 0.5)
        >>> after.residuals.tolist(), after.jacobian.tolist()
        ([0.5], [[1.0, -0.5]])
    """
    turn = _turn(state, hessians)
    bend = rate**2 / 2 * turn @ state.jacobian.T
    moved = state.residuals - rate * state.kernel @ state.residuals + bend @ state.residuals
    return QuadraticState(moved, state.jacobian - rate * turn)


def general_kernel(state: QuadraticState, hessians: np.ndarray, rate: float) -> np.ndarray:
    """The kernel after a step, from G and J as in the corrected (3.16)."""
    turn = _turn(state, hessians)
    cross = turn @ state.jacobian.T
    return state.kernel - rate * (cross + cross.T) + rate**2 * turn @ turn.T


def printed_general_kernel(state: QuadraticState, hessians: np.ndarray, rate: float) -> np.ndarray:
    """The kernel after a step as (3.16) is printed."""
    turn = _turn(state, hessians)
    return state.kernel - rate / 4 * (4 * turn @ state.jacobian.T - rate * turn @ turn.T)


def pure_quadratic(
    rate: float, gamma: float, squared_norm: float, output: float, kernel: float
) -> QuadraticMap:
    """G = gamma w^T S w / 2 with label 0 (B.13) as a map: c = gamma^2 |x|^2.

    It needs S^3 = |x|^2 S, which the two-layer linear network has for every input; the printed
    condition S^2 = |x|^2 I it has only for one-dimensional inputs.
    """
    return QuadraticMap(rate, 1 / gamma**2, 0.0, squared_norm, output, kernel)


def printed_pure_step(
    output: float, kernel: float, rate: float, gamma: float, squared_norm: float
) -> tuple[float, float]:
    """One step of B.13 as printed: gamma in place of gamma^2, and a rate missing."""
    bend = gamma * squared_norm * output**2
    after = (1 - rate * kernel + rate**2 * bend) * output
    return after, kernel - bend * (4 - rate * kernel)


def two_layer_form(x: np.ndarray, width: int) -> np.ndarray:
    """S of the two-layer linear network v^T U x / sqrt(m) for w = (U row by row, v), B.13."""
    d = len(x)
    form = np.zeros((width * (d + 1), width * (d + 1)))
    block = np.kron(np.eye(width), x[:, None])  # (m d, m): which v each entry of U meets
    form[: width * d, width * d :] = block
    return form + form.T
