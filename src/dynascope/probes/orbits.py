"""Where a trajectory has settled: its period, and how fast nearby ones part from it.

Both functions read recorded states; neither moves anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.runtime.precision import foreign

MAX_PERIOD = 64
SPACING = float(np.finfo(np.float64).eps)


def period(
    trajectory: ArrayLike,
    max_period: int = MAX_PERIOD,
    tolerance: float = 1e-9,
    scale: float | None = None,
) -> int | None:
    """How many steps pass until the trajectory repeats itself, judged by its second half.

    A return counts if it is exact to `tolerance` of the orbit's own extent. So a slow,
    algebraic approach to a fixed point, whose swings shrink by a little every round, is no
    orbit of period 2; nor is it a fixed point until it has arrived.

    Args:
        trajectory: States, (time,) or (time, ...).
        max_period: The longest period that is looked for.
        tolerance: Error of a return as a share of the extent; and extent of a fixed point as
            a share of `scale`.
        scale: What counts as a large number; the largest in the trajectory by default.

    Returns:
        The period, 1 for a fixed point; None if there is none up to `max_period`, or if a
        state is not finite.

    Example:
        >>> period([0.9, 1.1] * 200, max_period=8)
        2
        >>> period(np.arange(400.0), max_period=8) is None
        True
    """
    states = np.asarray(trajectory, np.float64)
    states = states.reshape(len(states), -1)
    if max_period < 1 or len(states) < 4 * max_period:
        expected = f"at least {4 * max_period} states for periods up to {max_period}"
        raise bad("trajectory", f"{len(states)} states", expected)
    if not np.isfinite(states).all():
        return None
    size = np.abs(states).max() if scale is None else scale
    tail = states[len(states) // 2 :]
    extent = np.ptp(tail, axis=0).max()
    if extent <= tolerance * size:
        return 1
    allowed = max(tolerance * extent, 16 * SPACING * size)
    misses = (np.abs(tail[p:] - tail[:-p]).max() for p in range(2, max_period + 1))
    return next((p for p, miss in enumerate(misses, 2) if miss <= allowed), None)


def lyapunov(trajectory: ArrayLike, step: Callable) -> float:
    """Mean rate, per step, at which a small error grows along a trajectory: the top exponent.

    Args:
        trajectory: States, (time,) or (time, ...), without the way to the attractor.
        step: The map from a state to the next, for jax to trace.

    Returns:
        The exponent: positive for chaos, zero for quasi-periodic motion, negative for an
        orbit that attracts, minus infinity if an error vanishes altogether.

    Example:
        >>> round(lyapunov(np.zeros(100), lambda x: x / 2), 6)
        -0.693147
    """
    with jax.enable_x64(True), foreign():
        return float(_growth(step, jnp.asarray(trajectory, jnp.float64)).mean())


@partial(jax.jit, static_argnums=0)
def _growth(step: Callable, states: jax.Array) -> jax.Array:
    """Logarithm of the growth of a small error in each step, (time,)."""

    def push(error: jax.Array, state: jax.Array) -> tuple[jax.Array, jax.Array]:
        moved = jax.jvp(step, (state,), (error,))[1]
        size = jnp.sqrt((moved**2).sum())
        return jnp.where(size > 0, moved / size, moved), jnp.log(size)

    # A fixed, uneven direction: an even one can lie in a symmetric subspace.
    first = jnp.cos(jnp.arange(1.0, states[0].size + 1)).reshape(states[0].shape)
    return jax.lax.scan(push, first / jnp.sqrt((first**2).sum()), states)[1]
