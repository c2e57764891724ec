"""Compiled loops of the quadratic map over arrays of descents, in float64.

Divergence is a value: a descent whose residual passes `LARGE` times its scale is frozen and
its step noted; the others go on.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.runtime.precision import precision
from dynascope.theories.catapult.steps import quadratic_step

# The residual grows doubly exponentially: once here, the next steps overflow.
LARGE = 1e90
TOGETHER = 8192  # descents in one call: their states stay in the cache nearest to the core
SECTIONS = 64  # rates tried at once in the search for the first that diverges
ROUNDS = 7

Values = dict[str, np.ndarray]


class Ends(NamedTuple):
    """The last state of each descent and its highest residual, arrays of one shape."""

    residual: np.ndarray
    kernel: np.ndarray
    peak: np.ndarray  # largest |residual|
    peak_step: np.ndarray
    diverged: np.ndarray  # the step, or -1


def paths(values: Values, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residuals and kernels (..., steps + 1), NaN after a divergence, and its step or -1."""
    shape = values["label"].shape
    flat = _flat(values)
    with precision("float64"):
        residual, kernel, diverged = jax.device_get(_paths(flat, steps))
    along = (*shape, steps + 1)
    return residual.T.reshape(along), kernel.T.reshape(along), diverged.reshape(shape)


def ends(values: Values, steps: int) -> Ends:
    """The ends of any number of descents, a few thousand in one call."""
    shape, flat = values["label"].shape, _flat(values)
    count = flat["label"].size
    # Calls of one size share one program; only the last may be smaller, up to a power of two.
    parts = []
    for begin in range(0, count, TOGETHER):
        chunk = {k: v[begin : begin + TOGETHER] for k, v in flat.items()}
        size = chunk["label"].size
        padded = {k: np.pad(v, (0, _room(size) - size), "edge") for k, v in chunk.items()}
        with precision("float64"):
            found = jax.device_get(_ends(padded, np.int64(steps)))
        parts.append([v[:size] for v in found])
    if not parts:
        return Ends(*(np.zeros(shape) for _ in Ends._fields))
    return Ends(*(np.concatenate(column).reshape(shape) for column in zip(*parts, strict=True)))


def first_divergence(values: Values, steps: int) -> np.ndarray:
    """Lowest rate from 1 / lambda to 16 / lambda that diverges, by repeated sections."""
    low, high = 1 / values["kernel"], 16 / values["kernel"]
    for _ in range(ROUNDS):
        share = np.linspace(0, 1, SECTIONS + 1)
        rates = low[..., None] + (high - low)[..., None] * share
        wide = {k: np.broadcast_to(v[..., None], rates.shape) for k, v in values.items()}
        lost = ends({**wide, "learning_rate": rates}, steps).diverged >= 0
        first = np.where(lost.any(-1), np.maximum(lost.argmax(-1), 1), SECTIONS)
        low, high = (np.take_along_axis(rates, (first - k)[..., None], -1)[..., 0] for k in (1, 0))
    return high


def _flat(values: Values) -> Values:
    return {k: np.ascontiguousarray(v, np.float64).ravel() for k, v in values.items()}


def _room(size: int) -> int:
    return min(TOGETHER, 1 << max(size - 1, 0).bit_length())


class _State(NamedTuple):
    residual: jax.Array
    kernel: jax.Array
    diverged: jax.Array


def _begin(values: dict[str, jax.Array]) -> _State:
    residual = values["output"] - values["label"]
    return _State(residual, values["kernel"], jnp.full(residual.shape, -1, jnp.int32))


def _advance(values: dict[str, jax.Array], state: _State, count: jax.Array) -> _State:
    """One step of every descent that has not diverged; `count` is the step it leads to."""
    rate, label = values["learning_rate"], values["label"]
    curvature = values["input_scale"] / values["width"]
    residual, kernel = quadratic_step(state.residual, state.kernel, rate, curvature, label)
    fine = (jnp.abs(residual) < LARGE) & (jnp.abs(kernel) < LARGE)  # false for NaN too
    going = state.diverged < 0
    lost = jnp.where(going & ~fine, count.astype(jnp.int32), state.diverged)
    moves = going & fine
    return _State(
        jnp.where(moves, residual, state.residual), jnp.where(moves, kernel, state.kernel), lost
    )


@partial(jax.jit, static_argnums=1)
def _paths(values: dict[str, jax.Array], steps: int) -> tuple[jax.Array, ...]:
    def one(state: _State, count: jax.Array) -> tuple[_State, tuple[jax.Array, ...]]:
        after = _advance(values, state, count)
        seen = tuple(
            jnp.where(after.diverged < 0, v, jnp.nan) for v in (after.residual, after.kernel)
        )
        return after, seen

    first = _begin(values)
    last, (residual, kernel) = jax.lax.scan(one, first, jnp.arange(1, steps + 1))
    joined = [
        jnp.concatenate([start[None], rest])
        for start, rest in ((first.residual, residual), (first.kernel, kernel))
    ]
    return joined[0], joined[1], last.diverged


@jax.jit
def _ends(values: dict[str, jax.Array], steps: jax.Array) -> tuple[Any, ...]:
    def one(count: jax.Array, carry: tuple) -> tuple:
        state, peak, when = carry
        state = _advance(values, state, count + 1)
        size = jnp.abs(state.residual)
        higher = size > peak
        step = jnp.where(higher, (count + 1).astype(jnp.int32), when)
        return state, jnp.where(higher, size, peak), step

    first = _begin(values)
    carry = (first, jnp.abs(first.residual), jnp.zeros(first.residual.shape, jnp.int32))
    state, peak, when = jax.lax.fori_loop(jnp.int64(0), steps, one, carry)
    return state.residual, state.kernel, peak, when, state.diverged
