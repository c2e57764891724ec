"""Stage B: from a plateau with one new coordinate to the next plateau (boix2023 (13)).

The flow runs on the support and the new coordinates alone, in logarithms, until Newton's method
takes it to a stationary point that is stable on the support: there g vanishes, the curvature is
not negative, and every coordinate that shrank to nothing is pushed further down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.rank_increase.problem import Problem

VANISHED = 1e-6  # entries below this are leaving, if the flow pushes them down
MOST_EVALUATIONS = 30_000
_NEWTON_STEPS = 30


class Plateau(NamedTuple):
    """A limit of stage B."""

    products: np.ndarray
    signs: np.ndarray  # s, with 0 off the support
    curvature: np.ndarray  # Hessian of L in z on the support

    @property
    def strictness(self) -> float:
        """C of assumption 4.4: L >= L* + c |u - u*|^2 near u*, on the support.

        With z = s u^2 and g = 0 on the support the Hessian in u is 4 D H D, D = diag(s sqrt|z|);
        c is half its lowest eigenvalue. Infinite for an empty support.

        Example:
            >>> one = Plateau(np.array([3.0, 0.0]), np.array([1.0, 0.0]), np.ones((1, 1)))
            >>> round(one.strictness, 6)
            6.0
        """
        on = self.signs != 0
        if not on.any():
            return np.inf
        root = self.signs[on] * np.sqrt(np.abs(self.products[on]))
        return float(np.linalg.eigvalsh(4 * root[:, None] * self.curvature * root)[0]) / 2


def nothing_learned(size: int) -> Plateau:
    """The plateau theta^0 = 0."""
    return Plateau(np.zeros(size), np.zeros(size), np.zeros((0, 0)))


def settle(
    problem: Problem, z: np.ndarray, signs: np.ndarray, size: float, bent: float = 0.0
) -> Plateau | None:
    """The limit of the flow from a plateau with new coordinates at u = `size`.

    Args:
        problem: The loss.
        z: The old plateau.
        signs: s of the old support and of the new coordinates; 0 elsewhere.
        size: u of the coordinates that are new, so that z = s size^2.
        bent: By how much log u of the old support is moved first, up and down in turn.

    Returns:
        The new plateau, or None where the flow finds no finite one.
    """
    old = (z != 0) & (signs != 0)
    turns = bent * np.where(np.arange(len(z)) % 2, 1.0, -1.0)
    log_u = np.where(old, 0.5 * np.log(np.where(old, np.abs(z), 1.0)) + turns, np.log(size))
    pull = np.abs(problem.pull(z))[signs != 0].max()
    moving, now = problem.follow(log_u, signs, None, -np.log(size) / pull)
    length = 2 / pull
    while np.isfinite(now).all() and int(moving.evaluations) < MOST_EVALUATIONS:
        if found := _stationary(problem, now, signs, pull):
            return found
        if length > 1e12 / pull:
            return None
        moving, now = problem.follow(log_u, signs, moving, length)
        length *= 1.3
    return None


def _stationary(problem: Problem, z: np.ndarray, signs: np.ndarray, pull: float) -> Plateau | None:
    """The plateau next to z, if the flow is close to one."""
    g = problem.pull(z)
    small = (signs != 0) & (np.abs(z) < VANISHED) & (signs * g < 0)
    on = np.flatnonzero((signs != 0) & ~small)
    if not on.size or np.abs(g[on]).max() > 0.03 * pull:
        return None
    found = _newton(problem, np.where(small, 0.0, z), on)
    if found is None or np.abs(found - z).max() > 0.2 * np.abs(z).max():
        return None
    if (signs[on] * found[on] <= 0).any():
        return None
    if (signs * problem.pull(found))[small].max(initial=-1.0) > 1e-9 * pull:
        return None
    curvature = problem.curvature(found, on)
    values = np.linalg.eigvalsh(curvature)
    if values[0] < -1e-7 * values[-1]:
        return None  # a saddle, which the flow leaves again
    return Plateau(found, np.where(small, 0.0, signs), curvature)


def _newton(problem: Problem, z: np.ndarray, on: np.ndarray) -> np.ndarray | None:
    """G = 0 on some coordinates, with the curvature of the start throughout.

    The start is so close that every step is some thirty times smaller than the one before, and
    a curvature costs as much as many gradients. Directions without curvature are left alone.
    """
    z = z.copy()
    values, vectors = np.linalg.eigh(problem.curvature(z, on))
    safe = np.abs(values) > 1e-9 * np.abs(values).max()
    for _ in range(_NEWTON_STEPS):
        g = vectors.T @ problem.pull(z)[on]
        step = vectors @ np.where(safe, g / np.where(safe, values, 1.0), 0.0)
        z[on] += step
        # The step, not the gradient: where there is no minimum both g and the curvature fade,
        # and the step stays.
        if np.abs(step).max() <= 1e-10 * np.abs(z).max():
            return z
    return None
