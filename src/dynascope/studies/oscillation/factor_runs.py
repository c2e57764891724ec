"""Many descents on ||Y Z^T - C||^2 / 2 at once, in plain float64 numpy; and dense witnesses.

The learning rate is 1 throughout: a diagonal target holds the learning rate times the singular
values. A descent that escapes is put to zero, where it stays, and is marked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.quartic import orbit_points

LARGE = 1e6


class Descents(NamedTuple):
    """Where many descents are."""

    y: np.ndarray  # (runs, m, k)
    z: np.ndarray  # (runs, n, k)
    escaped: np.ndarray  # (runs,)


def descend(
    targets: np.ndarray, y: np.ndarray, z: np.ndarray, steps: int, terms: np.ndarray | float = 1.0
) -> Descents:
    """Take steps of gradient descent with rate 1.

    Args:
        targets: (runs, m, n).
        y: (runs, m, k).
        z: (runs, n, k).
        steps: How many.
        terms: Weights of the squared entries, (runs, m, n); all count alike by default.

    Returns:
        The factors, and which descents escaped.
    """
    escaped = np.zeros(len(targets), bool)
    for _ in range(steps):
        error = terms * (y @ z.swapaxes(1, 2) - targets)
        y, z = y - error @ z, z - error.swapaxes(1, 2) @ y
        out = ~(np.abs(y).max(axis=(1, 2)) + np.abs(z).max(axis=(1, 2)) < LARGE)
        if out.any():
            escaped |= out
            y, z = (np.where(out[:, None, None], 0.0, w) for w in (y, z))
    return Descents(y, z, escaped)


def generic(runs: int, d: int, seed: int, scale: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Normal starts with entries of standard deviation scale / sqrt(d)."""
    y, z = scale / np.sqrt(d) * np.random.default_rng(seed).normal(size=(2, runs, d, d))
    return y, z


def spectra(strength: np.ndarray, other: np.ndarray, d: int) -> np.ndarray:
    """Diagonal targets with the given two largest values and small others, (runs, d, d)."""
    values = np.broadcast_to(np.linspace(0.15, 0.05, d), (len(strength), d)).copy()
    values[:, 0], values[:, 1] = strength, other
    return values[:, :, None] * np.eye(d)


def top_values(found: Descents, targets: np.ndarray, looks: int) -> np.ndarray:
    """Largest singular values of Y and of Z over further steps, (looks, runs, 2)."""
    seen = []
    for _ in range(looks):
        seen.append(np.stack([np.linalg.norm(w, 2, axis=(1, 2)) for w in found[:2]], axis=1))
        found = descend(targets, found.y, found.z, 1)
    return np.array(seen)


class QuasiRun(NamedTuple):
    """Fig. B.3: a descent from near (alpha X0, X0 / alpha).

    Lengths are those of u1^T Y and u1^T Z over sigma_1. Unlike s_max they do not depend on how
    close the second singular value is.
    """

    losses: np.ndarray  # (looks,)
    tops: np.ndarray  # (looks, 2) lengths
    settled: np.ndarray  # (2, 2) lengths in two late steps


def quasi_run(alpha: float, seed: int, looks: int = 300, steps: int = 6000) -> QuasiRun:
    """Descent on a random 8 x 8 target at K = 1.02; see `QuasiRun`."""
    random = np.random.default_rng(seed)
    factor = random.normal(size=(1, 8, 8))
    factor *= np.sqrt(1.02) / np.linalg.norm(factor[0], 2)  # K = 1.02
    noise = 2e-3 * random.normal(size=(2, 1, 8, 8))
    target = factor @ factor.swapaxes(1, 2)
    top = np.linalg.eigh(target[0])[1][:, -1]

    def lengths(state: Descents) -> list[float]:
        return [float(np.linalg.norm(top @ w[0]) / np.sqrt(1.02)) for w in state[:2]]

    state = Descents(alpha * factor + noise[0], factor / alpha + noise[1], np.zeros(1, bool))
    losses, tops = [], []
    for _ in range(looks):
        losses.append(((state.y @ state.z.swapaxes(1, 2) - target) ** 2).sum() / 2)
        tops.append(lengths(state))
        state = descend(target, state.y, state.z, 1)
    late = descend(target, state.y, state.z, steps - looks)
    after = descend(target, late.y, late.z, 1)
    return QuasiRun(*(np.array(v) for v in (losses, tops, [lengths(late), lengths(after)])))


def hessian(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Dense Hessian of ||X Y - C||^2 / 2 at a minimiser, for vec(X) then vec(Y), by rows."""
    m, n = x.shape[0], y.shape[1]
    jacobian = np.hstack([np.kron(np.eye(m), y.T), np.kron(x, np.eye(n))])
    return jacobian.T @ jacobian


def line_derivatives(
    x: np.ndarray, y: np.ndarray, dx: np.ndarray, dy: np.ndarray
) -> tuple[float, float, float]:
    """Second to fourth derivative of the loss along a line through a minimiser, exactly."""
    first, second = dx @ y + x @ dy, dx @ dy
    return (
        float((first**2).sum()),
        float(6 * (first * second).sum()),
        float(12 * (second**2).sum()),
    )


def two_step_radius(strength: float, other: float, start: float) -> float:
    """Largest modulus of the two-step Jacobian of the 2 x 2 problem, by central differences.

    Multipliers within 1e-4 of 1 belong to rotations of the factors and are left out.
    """
    target = np.diag([strength, other])[None]
    state = np.tile(np.diag([start, np.sqrt(other)]).ravel(), 2)

    def steps(v: np.ndarray) -> np.ndarray:
        found = descend(target, v[:4].reshape(1, 2, 2), v[4:].reshape(1, 2, 2), 2)
        return np.concatenate([found.y.ravel(), found.z.ravel()])

    h = 1e-6
    columns = [(steps(state + h * e) - steps(state - h * e)) / (2 * h) for e in np.eye(8)]
    values = np.linalg.eigvals(np.array(columns).T)
    return float(np.abs(values[np.abs(values - 1) > 1e-4]).max())


def criticality_ratio(x: np.ndarray, y: np.ndarray, direction: np.ndarray) -> float:
    """3 f3^2 - f2 f4 over 96 ||dX Y + X dY||^2 ||dX dY||^2."""
    dx, dy = direction[: x.size].reshape(x.shape), direction[x.size :].reshape(y.shape)
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    first, second = dx @ y + x @ dy, dx @ dy
    return (3 * f3**2 - f2 * f4) / (96 * (first**2).sum() * (second**2).sum())


def on_orbit(trace: np.ndarray, strength: float) -> np.ndarray:
    """Whether Y and Z of each seed are on the orbit's two points, within 1e-6, (seeds,)."""
    points = orbit_points(strength, 1.0)[:, None, None]
    pair = np.sort(trace[-2:], axis=0)  # (2, seeds, 2)
    return (np.abs(pair - points) < 1e-6).all(axis=(0, 2))


def orbit_error(seen: np.ndarray, strength: float) -> float:
    """Largest relative distance of two late steps from the orbit's points, for sigma_1 = 1."""
    points = orbit_points(1.0, strength)[:, None]
    return float(np.abs(np.sort(seen[-2:], axis=0) / points - 1).max())
