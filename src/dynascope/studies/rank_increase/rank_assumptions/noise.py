"""Noise on the weights along a flow from a tiny start, and what becomes of it."""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.numerics.log_flow import (
    LogWeights,
    Moving,
    at_rest,
    integrate,
    log_flow,
    log_weights,
)
from dynascope.runtime.precision import precision
from dynascope.theories import ProductProblem, Stages

ALPHA = 1e-32
NEGLIGIBLE = 1e-5  # weights below this get no noise (boix2023 app. A)
TOLERANCE = 1e-6
PLATEAU_NOISE, ESCAPE_NOISE = 0.05, 0.01  # standard deviations, printed
Kind = Literal["free", "balanced"]  # on u and v apart, or along v = s u


class Perturbed(NamedTuple):
    """A flow with noise and the same flow without it, in true time from the noise on."""

    times: np.ndarray  # (times,)
    noisy: np.ndarray  # u and v, (times, 2, p)
    clean: np.ndarray  # u and v without noise, (times, 2, p)

    @property
    def products(self) -> tuple[np.ndarray, np.ndarray]:
        """U * v with noise and without, (times, p) each."""
        return self.noisy[:, 0] * self.noisy[:, 1], self.clean[:, 0] * self.clean[:, 1]

    @property
    def end(self) -> int:
        """Row at which the stage ends with noise: all that the clean flow leaves out is small.

        A coordinate that noise brings up sooner ends its stage sooner, so the next one follows
        sooner too: with noise the stage has an end of its own.
        """
        outside = np.abs(self.clean[-1]).max(axis=0) <= NEGLIGIBLE
        small = (np.abs(self.noisy[:, :, outside]) <= NEGLIGIBLE).all(axis=(1, 2))
        return int(np.flatnonzero(small)[-1])


class Moments(NamedTuple):
    """When to add noise for one plateau, and until when to follow it, in rescaled time."""

    plateau: int
    crossing: float  # its newest coordinate exceeds the threshold
    settled: float  # the plateau is reached
    until: float  # the next coordinate exceeds the threshold


def quiet(problem: ProductProblem, stages: Stages, most: int, points: int = 400) -> list[Moments]:
    """The longest stretches in which a plateau is reached and all else is negligible.

    Noise outside of them reaches a coordinate that is about to be learned, and starts its stage.
    """
    times = np.linspace(0, min(stages.until, 1.03 * stages.times[-1]), points)
    flow = log_flow(problem.on, problem.u, problem.v, [ALPHA], times, parameters=problem.data)
    sizes = np.maximum(flow.log_sum, flow.log_difference)[0]
    large = sizes > np.log(2 * NEGLIGIBLE)  # u + v and u - v are about 2 u at their largest
    found = []
    for k in range(1, len(stages.products)):
        goal, new = stages.products[k], stages.order[k - 1]
        there = np.abs(flow.products[0] - goal).max(axis=1) < 1e-3 * np.abs(goal).max()
        rows = np.flatnonzero(there & ~(large & (goal == 0)).any(axis=1))
        earlier = np.flatnonzero(large[:, new])
        if len(rows) > 1 and earlier[0] < rows[0]:
            times = flow.times[[earlier[0], rows[0], rows[-1]]]
            found.append(Moments(k, *map(float, times)))
    longest = sorted(found, key=lambda m: m.settled - m.until)[:most]
    return sorted(longest, key=lambda m: m.plateau)


def weights_at(problem: ProductProblem, times: list[float], most: int) -> list[LogWeights]:
    """The weights at rescaled times, of which there are `most` at most, as numpy arrays."""
    # The last one again and again: as many for every problem, so that one program serves all.
    given = [*times, *times[-1:] * (most - len(times))]
    flow = log_flow(problem.on, problem.u, problem.v, [ALPHA], given, parameters=problem.data)
    signs = np.sign(problem.u + problem.v), np.sign(problem.u - problem.v)
    rows = zip(flow.log_sum[0], flow.log_difference[0], strict=True)
    return [LogWeights(a, b, *signs) for a, b in rows][: len(times)]


def add_noise(weights: LogWeights, size: float, kind: Kind, seed: tuple[int, ...]) -> LogWeights:
    """Gaussian noise on the coordinates that are not negligible; the others stay as they are."""
    random = np.random.default_rng(seed)
    with precision("float64"):
        u, v = (np.asarray(x) for x in LogWeights(*map(jnp.asarray, weights)).factors)
        hit = np.maximum(np.abs(u), np.abs(v)) > NEGLIGIBLE
        first, second = size * random.normal(size=(2, len(u)))
        second = np.sign(u * v) * first if kind == "balanced" else second
        new = log_weights(jnp.asarray(u + first), jnp.asarray(v + second))
        pairs = zip(new, weights, strict=True)
        return LogWeights(*(jnp.where(hit, a, b) for a, b in pairs))


@partial(jax.jit, static_argnums=0)
def _after(
    loss: Callable, data: tuple[jax.Array, ...], start: LogWeights, lengths: jax.Array
) -> jax.Array:
    def pull(z: jax.Array) -> jax.Array:
        return -jax.grad(loss)(z, *data)

    def cell(moving: Moving, length: jax.Array) -> tuple:
        moving = integrate(pull, start, moving, length, TOLERANCE)
        return moving, jnp.stack(start.moved(moving.displacement).factors)

    return jax.lax.scan(cell, at_rest(pull, start), lengths)[1]


def after(
    problem: ProductProblem, starts: list[LogWeights], lengths: list[np.ndarray]
) -> list[np.ndarray]:
    """U and v along the flow from each start, over its own times, (times, 2, p) each."""
    with precision("float64"):
        data = tuple(map(jnp.asarray, problem.data))
        return [
            np.asarray(_after(
                problem.on, data, LogWeights(*map(jnp.asarray, start)), jnp.asarray(own)
            ))
            for start, own in zip(starts, lengths, strict=True)
        ]  # fmt: skip


def perturb(
    problem: ProductProblem, moments: list[Moments], most: int, seed: int
) -> dict[str, list[Perturbed]]:
    """Noise of both kinds as a plateau is reached, and as its newest coordinate comes up.

    All are followed until the next coordinate comes up; one compiled program serves all.

    Args:
        problem: What is learned.
        moments: When, for each plateau.
        most: Plateaus of a problem at most.
        seed: Of the noise.

    Returns:
        The flows with noise and without it, by the kind of noise.
    """
    settled, crossing = [m.settled for m in moments], [m.crossing for m in moments]
    times = sorted({*settled, *crossing})
    weights = dict(zip(times, weights_at(problem, times, 2 * most), strict=True))
    ends, n = [m.until for m in moments], len(moments)
    starts = [*settled, *settled, *crossing]
    kinds: tuple[tuple[float, Kind], ...] = (
        (PLATEAU_NOISE, "free"), (PLATEAU_NOISE, "balanced"), (ESCAPE_NOISE, "free"),
    )  # fmt: skip
    noisy = [add_noise(weights[t], *kinds[k // n], (seed, k % n)) for k, t in enumerate(starts)]
    lengths = np.log(1 / ALPHA) * np.subtract(ends * 3, starts)
    grids = [length * np.linspace(0, 1, 41) ** 2 for length in lengths]
    steps = [np.diff(g, prepend=0.0) for g in grids]
    found = after(problem, [*noisy, *(weights[t] for t in starts)], steps * 2)
    rows = [Perturbed(*row) for row in zip(grids, found[: 3 * n], found[3 * n :], strict=True)]
    return {"free": rows[:n], "balanced": rows[n : 2 * n], "escapes": rows[2 * n :]}
