"""Gradient descent on a function of one number, iterated: n steps, and where n steps return."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.numerics.derivatives import derivative
from dynascope.runtime.precision import foreign


@partial(jax.jit, static_argnums=0)
def _steps(f: Callable, x: jax.Array, rate: jax.Array, n: jax.Array) -> jax.Array:
    slope = derivative(f)
    return jax.lax.fori_loop(0, n, lambda _, y: y - rate * slope(y), x)


def steps(f: Callable, x: np.ndarray | float, rate: np.ndarray | float, n: int) -> np.ndarray:
    """Where n steps lead from every x, each at its own rate or all at one, in float64.

    Example:
        >>> float(steps(lambda x: x**2 / 2, 1.0, 0.5, 3))
        0.125
    """
    with jax.enable_x64(True), foreign():
        start, etas = np.asarray(x, np.float64), np.asarray(rate, np.float64)
        return np.asarray(_steps(f, start, etas, np.int64(n)))


@partial(jax.jit, static_argnums=0)
def _round_and_jacobian(f: Callable, place: jax.Array, n: jax.Array) -> tuple:
    def rest(place: jax.Array) -> jax.Array:
        x, rate = place
        end, growth = jax.jvp(lambda y: _steps(f, y, rate, n), (x,), (jnp.ones_like(x),))
        return jnp.stack([end - x, growth + 1])

    return rest(place), jax.jacfwd(rest)(place)


def doubling(f: Callable, x: float, rate: float, n: int) -> tuple[float, float]:
    """Point and rate at which an orbit of period n has multiplier -1, by Newton's method.

    Args:
        f: A function of one number that jax can trace.
        x: A point close to the orbit.
        rate: A learning rate close to the one sought.
        n: The period.

    Returns:
        The point and the rate; not finite if the search fails.
    """
    place = np.array([x, rate], np.float64)
    with jax.enable_x64(True), foreign():
        for _ in range(60):
            rest, jacobian = (np.asarray(v) for v in _round_and_jacobian(f, place, np.int64(n)))
            if not (np.isfinite(jacobian).all() and np.linalg.det(jacobian)):
                return float("nan"), float("nan")
            move = np.linalg.solve(jacobian, rest)
            place = place - move
            if np.abs(move).max() < 1e-14 * np.abs(place).max():
                break
    return float(place[0]), float(place[1])
