"""Bifurcation diagrams: a million gradient descents, of which only a histogram is kept.

Every trajectory has a learning rate of its own. Those of a few neighbouring columns of the
diagram make one compiled call that runs them past their burn-in and counts, on the device,
the points they then visit; no visited point is ever stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.numerics.derivatives import derivative
from dynascope.numerics.iteration import steps as steps_of
from dynascope.runtime.precision import foreign
from dynascope.runtime.progress import Progress

TOGETHER = 8000  # trajectories in one call: their states stay in the cache nearest to the core
UNROLLED = 10  # steps between two writes of the states
LARGE = 1e3  # times the start: such a value belongs to a descent that is on its way out


@dataclass(frozen=True)
class Diagram:
    """How often each value was visited at each learning rate."""

    learning_rates: np.ndarray  # (columns,), the middle of each column
    values: np.ndarray  # (bins,), the middle of each bin
    counts: np.ndarray  # (columns, bins), visits
    inside: np.ndarray  # (columns,), share of visits that fell into some bin
    escaped: np.ndarray  # (columns,), share of trajectories that left finite numbers


def bifurcation(
    f: Callable,
    rates: tuple[float, float],
    start: float,
    values: tuple[float, float],
    *,
    columns: int = 500,
    bins: int = 400,
    per_column: int = 20,
    steps: int = 2000,
    counted: int = 200,
    progress: bool = True,
) -> Diagram:
    """Count where gradient descent goes, over a stretch of learning rates.

    Args:
        f: A function of one number that jax can trace.
        rates: First and last learning rate.
        start: The first iterate of every trajectory.
        values: Lowest and highest value that is counted.
        columns: Columns of the diagram.
        bins: Bins from the lowest to the highest value.
        per_column: Trajectories in a column, at evenly spaced rates inside it.
        steps: Steps of every trajectory.
        counted: The last so many steps are counted.
        progress: Whether to show progress.

    Returns:
        The diagram.

    Example:
        >>> seen = bifurcation(lambda x: x**2 / 2, (0.1, 1.9), 1.0, (-1.0, 1.05), columns=4,
        ...                    bins=41, steps=300, counted=100)
        >>> seen.counts.argmax(axis=1).tolist(), seen.values[20].round(12)
        ([20, 20, 20, 20], np.float64(0.025))
    """
    _check(rates, start, values, columns, bins, per_column, steps, counted)
    group = max(1, min(columns, TOGETHER // per_column))  # columns in one call
    centres = rates[0] + (np.arange(columns) + 0.5) * (rates[1] - rates[0]) / columns
    within = (np.arange(per_column) + 0.5) / per_column - 0.5
    width = (rates[1] - rates[0]) / columns
    grid = (math.ceil(columns / group), group)
    padded = np.concatenate([centres, np.repeat(centres[-1], grid[0] * grid[1] - columns)])
    counts = np.zeros((grid[0], group, bins + 1), np.int32)
    lost = np.zeros((grid[0], group))
    with Progress("bifurcation diagram", len(padded), progress) as bar:
        for k, chunk in enumerate(padded.reshape(grid)):
            bar.update(k * group, "compiling" if k == 0 else "")
            etas = (chunk[:, None] + within * width).ravel()
            counts[k], lost[k] = _call(f, etas, start, values, steps, (counted, group, bins))
    counts = counts.reshape(-1, bins + 1)[:columns]
    places = values[0] + (np.arange(bins) + 0.5) * (values[1] - values[0]) / bins
    share = counts[:, :bins].sum(axis=1) / (counted * per_column)
    return Diagram(centres, places, counts[:, :bins], share, lost.ravel()[:columns])


def visited_values(
    f: Callable, rates: tuple[float, float], start: float, burn: int = 1000
) -> tuple[float, float] | None:
    """Between which values to draw a diagram: where 99% of the visits fall, and a margin.

    Returns:
        Lowest and highest value; None if every descent escapes.
    """
    etas = np.linspace(*rates, 400)
    x = steps_of(f, np.full_like(etas, start), etas, burn)
    seen = []
    for _ in range(64):
        x = steps_of(f, x, etas, 1)
        seen.append(x)
    kept = np.array(seen)[:, np.isfinite(x) & (np.abs(x) < LARGE * max(1.0, abs(start)))]
    if not kept.size:
        return None
    low, high = (float(v) for v in np.quantile(kept, (0.005, 0.995)))
    margin = max(0.1 * (high - low), 1e-3 * max(abs(low), abs(high), 1e-3))
    return low - margin, high + margin


def _call(f: Callable, etas: np.ndarray, start: float, values: tuple, steps: int, sizes: tuple):
    with jax.enable_x64(True), foreign():
        low, high = (np.float64(v) for v in values)
        return jax.device_get(_chunk(f, steps, sizes, etas, np.float64(start), low, high))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _chunk(f: Callable, steps: int, sizes: tuple, etas: Any, start: Any, low: Any, high: Any):
    """Counts (columns, bins + 1), the last for what lies outside, and the share that escaped."""
    counted, columns, bins = sizes
    slope = derivative(f)
    first_bin = jnp.arange(len(etas), dtype=jnp.int32) // (len(etas) // columns) * (bins + 1)
    per_value = bins / (high - low)

    def step(x: jax.Array) -> jax.Array:
        return x - etas * slope(x)

    def several(_: Any, x: jax.Array) -> jax.Array:
        for _ in range(UNROLLED):
            x = step(x)
        return x

    def count(_: Any, carry: tuple) -> tuple:
        x = step(carry[0])
        place = (x - low) * per_value
        inside = (place >= 0) & (place < bins)  # false where x is not finite
        index = first_bin + jnp.where(inside, place, bins).astype(jnp.int32)
        return x, carry[1].at[index].add(1)

    x = jnp.full_like(etas, start)
    whole, rest = divmod(steps - counted, UNROLLED)
    x = jax.lax.fori_loop(0, whole, several, x)
    x = jax.lax.fori_loop(0, rest, lambda _, x: step(x), x)
    counts = jnp.zeros(columns * (bins + 1), jnp.int32)
    x, counts = jax.lax.fori_loop(0, counted, count, (x, counts))
    lost = ~jnp.isfinite(x)
    return counts.reshape(columns, bins + 1), lost.reshape(columns, -1).mean(axis=1)


def _check(
    rates: tuple, start: float, values: tuple, columns: int, bins: int, *counts: int
) -> None:
    per_column, steps, counted = counts
    for name, (low, high) in {"rates": rates, "values": values}.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise bad(name, (low, high), "two finite numbers, the smaller one first")
    if rates[0] <= 0:
        raise bad("rates", rates, "learning rates above 0")
    if not math.isfinite(start):
        raise bad("start", start, "a finite number")
    if min(columns, bins, per_column, counted) < 1 or steps < counted:
        got = {"columns": columns, "bins": bins, "per_column": per_column, "counted": counted}
        raise bad("diagram", got, f"at least 1 of each, and counted up to steps = {steps}")
