"""Runge-Kutta-Chebyshev steps: explicit, of order 2, stable far along the negative axis.

Gradient flows are moderately stiff: once a direction is learned it only has to stay where it is,
yet a usual explicit method must follow it with steps of 2 / (its curvature). With s stages this
method is stable for steps up to 0.65 s^2 / (largest curvature): eight stages reach as far as
twenty Euler steps. Coefficients as in Sommeijer, Shampine and Verwer (1998), "RKC: an explicit
solver for parabolic PDEs", (2.3) to (2.8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

MOST_STAGES = 16
_DAMPING = 2.0 / 13.0
Slope = Callable[[jax.Array], jax.Array]


class Step(NamedTuple):
    """Where one step ends: the state, its slope there, and the estimated local error."""

    state: jax.Array
    slope: jax.Array
    error: jax.Array


def _coefficients() -> np.ndarray:
    """(stages, j, 4): mu_j, nu_j, mu~_j, gamma~_j; row j = 1 holds mu~_1 in its third place."""
    table = np.zeros((MOST_STAGES + 1, MOST_STAGES + 2, 4))  # the last row is read, not used
    for s in range(2, MOST_STAGES + 1):
        w0 = 1 + _DAMPING / s**2
        t, d, d2 = _chebyshev(s, w0)
        w1 = d[s] / d2[s]
        b = np.zeros(s + 1)
        b[2:] = d2[2:] / d[2:] ** 2
        b[0] = b[1] = b[2]
        a = 1 - b * t
        table[s, 1, 2] = b[1] * w1
        for j in range(2, s + 1):
            rate = 2 * b[j] * w1 / b[j - 1]
            table[s, j] = 2 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2], rate, -a[j - 1] * rate
    return table


def _chebyshev(s: int, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The Chebyshev polynomials of degree 0 to s at x, with first and second derivatives."""
    t, d, d2 = np.zeros((3, s + 1))
    t[0], t[1], d[1] = 1.0, x, 1.0
    for j in range(2, s + 1):
        t[j] = 2 * x * t[j - 1] - t[j - 2]
        d[j] = 2 * t[j - 1] + 2 * x * d[j - 1] - d[j - 2]
        d2[j] = 4 * d[j - 1] + 2 * x * d2[j - 1] - d2[j - 2]
    return t, d, d2


_TABLE = _coefficients()


def reach(stages: int) -> float:
    """How far along the negative axis a step with that many stages is stable.

    Example:
        >>> [round(reach(s), 1) for s in (2, 4, 8)]
        [2.0, 9.8, 41.1]
    """
    return 2.0 / 3.0 * (stages**2 - 1) * (1 - 2.0 / 15.0 * _DAMPING)


def stages_for(step: jax.Array, stiffness: jax.Array) -> jax.Array:
    """The smallest number of stages, from 2 on, that is stable for a step at a stiffness."""
    needed = jnp.sqrt(1.0 + 1.54 * step * stiffness)
    return jnp.clip(1 + jnp.floor(needed), 2, MOST_STAGES).astype(jnp.int32)


def chebyshev_step(
    slope: Slope, state: jax.Array, first: jax.Array, step: jax.Array, stages: jax.Array
) -> Step:
    """One step of y' = slope(y).

    Args:
        slope: The right side.
        state: y, any shape.
        first: slope(y).
        step: h.
        stages: s, from 2 to `MOST_STAGES`; the step costs s evaluations.

    Returns:
        The end of the step.

    Example:
        >>> y = jnp.ones(1)
        >>> end = chebyshev_step(lambda y: -y, y, -y, 0.1, 2)  # e^-0.1 = 0.904837
        >>> round(float(end.state[0]), 3)
        0.905
    """
    table = jnp.asarray(_TABLE, state.dtype)[stages]
    step = jnp.asarray(step, state.dtype)

    def stage(j: jax.Array, carry: tuple) -> tuple:
        """Y_j from the two before it; the slope is taken here alone, which compiles it once."""
        before, last, _ = carry
        mu, nu, rate, back = table[j]
        now = slope(last)
        start = (1 - mu - nu) * state + mu * last + nu * before
        new = start + step * (rate * now + back * first)
        more = j <= stages  # the last round only takes the slope
        return jnp.where(more, last, before), jnp.where(more, new, last), now

    begun = (state, state + table[1, 2] * step * first, first)
    _, end, last = jax.lax.fori_loop(2, stages + 2, stage, begun)
    return Step(end, last, 0.8 * (state - end) + 0.4 * step * (first + last))
