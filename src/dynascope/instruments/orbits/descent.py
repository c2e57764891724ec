"""Gradient descent on a function of one number, run until it shows what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.numerics.derivatives import derivative, derivatives
from dynascope.probes.orbits import period
from dynascope.runtime.precision import foreign

WINDOW = 8192  # states that are looked at, after the steps that are not
PATIENCE = (20_000, 200_000, 2_000_000)  # steps before the window: longer while undecided
ESCAPED = 1e8  # times the size of the start
NEAR = 1e-6  # at rest a Newton step would be shorter, in units of the place
BLOCKS = 16  # of the window, for the error of the exponent


@dataclass(frozen=True)
class Observed:
    """What a simulation showed; points ascend."""

    verdict: str  # converges, period-N, chaotic, diverges, undecided
    period: int | None
    points: tuple[float, ...]
    multiplier: float | None  # growth of a small error over one period
    lyapunov: float | None
    steps: int  # until the end, or until it escaped
    last: tuple[float, ...]  # the states of the window, in the order of time


def observe(f: Callable, learning_rate: float, start: float) -> Observed:
    """Run gradient descent from a start and say what it settles to.

    In one dimension there is no quasi-periodic motion: a bounded trajectory is periodic,
    chaotic, or not decided within two million steps.

    Args:
        f: A function of one number that jax can trace.
        learning_rate: The learning rate.
        start: The first iterate.

    Returns:
        Verdict, period, points, multiplier, Lyapunov exponent.

    Example:
        >>> seen = observe(lambda x: (x**2 - 1) ** 2 / 4, 1.05, 0.9)
        >>> seen.verdict, [round(x, 9) for x in seen.points]
        ('period-2', [0.872871561, 1.091089451])
    """
    if not np.isfinite(start):
        raise bad("start", start, "a finite number")
    seen = _diverged(0)
    for burn in PATIENCE:
        with jax.enable_x64(True), foreign():
            limit = np.float64(ESCAPED * max(1.0, abs(start)))
            given = np.float64(start), np.float64(learning_rate), limit, np.int64(burn)
            escaped, states = _run(f, *given)
        if int(escaped) < burn + WINDOW:
            return _diverged(int(escaped))
        seen = _judge(np.asarray(states), f, learning_rate, abs(start), burn)
        if seen.verdict != "undecided":
            break
    return seen


@partial(jax.jit, static_argnums=0)
def _run(f: Callable, start: Any, rate: Any, limit: Any, burn: Any) -> tuple[Any, Any]:
    """The number of steps taken before it escaped, and the states of the window."""
    slope = derivative(f)

    def going(carry: tuple) -> jax.Array:
        return (carry[1] < burn) & (jnp.abs(carry[0]) < limit)  # false for nan too

    x, count = jax.lax.while_loop(
        going, lambda c: (c[0] - rate * slope(c[0]), c[1] + 1), (start, jnp.int64(0))
    )

    def one(carry: tuple, _: None) -> tuple:
        y, n = carry
        inside = jnp.abs(y) < limit
        return (jnp.where(inside, y - rate * slope(y), y), n + inside), y

    states: Any
    (_, count), states = jax.lax.scan(one, (x, count), None, WINDOW)
    return count, states


def _judge(states: np.ndarray, f: Callable, rate: float, size: float, burn: int) -> Observed:
    found = period(states, scale=max(size, float(np.abs(states).max())))
    with jax.enable_x64(True), foreign():
        slopes = np.asarray(_slopes(f, states, np.float64(rate)))
        growth = np.asarray(jnp.log(jnp.abs(slopes)))  # minus infinity where a slope is zero
    rest = (float(growth.mean()), burn + WINDOW, tuple(states.tolist()))
    if found is None:
        return Observed(
            "chaotic" if _is_chaos(states, growth) else "undecided", None, (), None, *rest
        )
    if found == 1 and not _at_rest(f, float(states[-1])):
        return Observed("undecided", None, (), None, *rest)
    points = tuple(sorted(states[-found:].tolist()))
    word = "converges" if found == 1 else f"period-{found}"
    return Observed(word, found, points, float(np.prod(slopes[-found:])), *rest)


@partial(jax.jit, static_argnums=0)
def _slopes(f: Callable, states: Any, rate: Any) -> jax.Array:
    """Growth of a small error in one step from each state: 1 - eta f''."""
    return 1 - rate * derivative(f, 2)(states)


def _at_rest(f: Callable, x: float) -> bool:
    """Whether a point that no longer moves has no slope; at a tiny rate nothing ever moves."""
    _, slope, bend = derivatives(f, x, 2)
    return abs(slope) <= NEAR * abs(bend) * max(1.0, abs(x))


def _is_chaos(states: np.ndarray, growth: np.ndarray) -> bool:
    """Errors grow beyond doubt, while the trajectory itself does not spread."""
    blocks = growth.reshape(BLOCKS, -1).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(BLOCKS)
    first, second = np.ptp(states[: WINDOW // 2]), np.ptp(states[WINDOW // 2 :])
    return bool(blocks.mean() > max(5 * error, 1e-3) and second < 1.5 * first)


def _diverged(steps: int) -> Observed:
    return Observed("diverges", None, (), None, None, steps, ())
