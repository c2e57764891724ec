"""Many descents on ||Y Z^T - C||^2 / 2 at once, in plain float64 numpy.

The learning rate is 1 throughout: a diagonal target holds the learning rate times the singular
values. A descent that escapes is put to zero, where it stays, and is marked.
"""

from typing import NamedTuple

import numpy as np

LARGE = 1e6


class Descents(NamedTuple):
    """Where many descents are."""

    y: np.ndarray  # (runs, m, k)
    z: np.ndarray  # (runs, n, k)
    escaped: np.ndarray  # (runs,)


def descend(
    targets: np.ndarray, y: np.ndarray, z: np.ndarray, steps: int,
    terms: np.ndarray | float = 1.0, *, tied: bool = False,
) -> Descents:  # fmt: skip
    """Take steps of gradient descent with rate 1.

    Args:
        targets: (runs, m, n).
        y: (runs, m, k).
        z: (runs, n, k).
        steps: How many.
        terms: Weights of the squared entries, (runs, m, n); all count alike by default.
        tied: Whether Z is Y after every step, which is descent on ||X X^T - C||^2 / 4.

    Returns:
        The factors, and which descents escaped.
    """
    escaped = np.zeros(len(targets), bool)
    for _ in range(steps):
        error = terms * (y @ z.swapaxes(1, 2) - targets)
        y, z = y - error @ z, z - error.swapaxes(1, 2) @ y
        z = y if tied else z
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


def top_values(found: Descents, targets: np.ndarray, times: int) -> np.ndarray:
    """Largest singular values of Y and of Z over further steps, (times, runs, 2)."""
    seen = []
    for _ in range(times):
        seen.append(np.stack([np.linalg.norm(w, 2, axis=(1, 2)) for w in found[:2]], axis=1))
        found = descend(targets, found.y, found.z, 1)
    return np.array(seen)
