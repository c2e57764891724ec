"""Dense witnesses: the Hessian at a minimiser, derivatives along a line, a two-step Jacobian."""

import numpy as np
from scipy.optimize import bisect

from dynascope.studies.oscillation.matrix_factorization.descents import descend
from dynascope.theories.oscillation.quartic import orbit_points


def hessian(x: np.ndarray, y: np.ndarray, target: np.ndarray | None = None) -> np.ndarray:
    """Dense Hessian of ||X Y - C||^2 / 2, for vec(X) then vec(Y), by rows; C = X Y by default."""
    m, n, k = x.shape[0], y.shape[1], x.shape[1]
    jacobian = np.hstack([np.kron(np.eye(m), y.T), np.kron(x, np.eye(n))])
    found = jacobian.T @ jacobian
    if target is not None:  # between X_ia and Y_aj the error at ij
        mixed = np.einsum("ij,ab->iabj", x @ y - target, np.eye(k)).reshape(m * k, k * n)
        found[: m * k, m * k :] += mixed
        found[m * k :, : m * k] += mixed.T
    return found


def line_derivatives(
    x: np.ndarray, y: np.ndarray, dx: np.ndarray, dy: np.ndarray
) -> tuple[float, float, float]:
    """Second to fourth derivative of the loss along a line through a minimiser, exactly."""
    first, second = dx @ y + x @ dy, dx @ dy
    return (first**2).sum(), 6 * (first * second).sum(), 12 * (second**2).sum()


def criticality_ratio(x: np.ndarray, y: np.ndarray, direction: np.ndarray) -> float:
    """3 f3^2 - f2 f4 over 96 ||dX Y + X dY||^2 ||dX dY||^2."""
    dx, dy = direction[: x.size].reshape(x.shape), direction[x.size :].reshape(y.shape)
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    return (3 * f3**2 - f2 * f4) / (8 * f2 * f4)


def two_step_radius(strength: float, other: float, columns: int) -> float:
    """Largest modulus of the orbit's two-step Jacobian for diag(K, b), by central differences.

    Multipliers within 1e-4 of 1 belong to rotations of the factors and are left out.
    """
    target = np.diag([strength, other])[None]
    low = float(orbit_points(strength, 1.0)[0])
    state = np.tile(np.diag([low, np.sqrt(other)])[:, :columns].ravel(), 2)
    size = len(state) // 2

    def steps(v: np.ndarray) -> np.ndarray:
        y, z = v.reshape(2, 1, 2, columns)
        found = descend(target, y, z, 2)
        return np.concatenate([found.y.ravel(), found.z.ravel()])

    h = 1e-6
    columns_of = [(steps(state + h * e) - steps(state - h * e)) / (2 * h) for e in np.eye(2 * size)]
    values = np.linalg.eigvals(np.array(columns_of).T)
    return float(np.abs(values[np.abs(values - 1) > 1e-4]).max())


def end_of_stability(strength: float, columns: int = 2) -> float:
    """The b at which the orbit's numerical two-step Jacobian has a radius of 1."""
    ends = (0.7, 0.99) if columns == 2 else (0.7, 1.2)
    return float(bisect(lambda b: two_step_radius(strength, b, columns) - 1, *ends))


def transition(y: float, z: float, strength: float, other: float, alpha: float) -> np.ndarray:
    """The 4 x 4 matrix Q of B.10.2, with eta = 1."""
    product = y * z
    off = product - strength
    u1, u2 = (-(product + off * (1 - w * w)) for w in (z, y))
    w1 = 1 - z * z - other * alpha**2 + product * off
    w2 = 1 - y * y - other / alpha**2 + product * off
    return np.array([[1, 0, u1, -other], [0, 1, -other, u2], [-off, 0, w1, 0], [0, -off, 0, w2]])
