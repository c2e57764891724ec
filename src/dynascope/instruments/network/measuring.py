"""How linear a padded network is around its start, and what training does to its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.instruments.network.padded import Padded
from dynascope.models.expansion import first_order
from dynascope.numerics.decompositions import eigvalsh
from dynascope.numerics.eigenpairs import starts, top_eigenpairs
from dynascope.numerics.products import flatten, hessian_product
from dynascope.probes.kernels import tangent_kernel
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.precision import precision

HESSIAN_TOLERANCE = 1e-3  # residual of every Hessian norm
MOST_PRODUCTS = 200
MOST_POINTS = 12  # that one call measures


class Linearity(NamedTuple):
    """What was measured at each point; see `measure_linearity`."""

    norms: np.ndarray  # spectral norm of the Hessian of the watched number
    values: np.ndarray  # the watched number
    linear: np.ndarray  # its linear expansion around the start
    converged: np.ndarray


def measure_linearity(
    network: Padded, seed: int, x: np.ndarray, radii: Sequence[float], top: Sequence[bool]
) -> Linearity:
    """Hessian norm, value and linear expansion of the first number around a random start.

    Args:
        network: The padded network.
        seed: Seed of the start and of the random directions.
        x: One input, (padded inputs,).
        radii: Distance from the start of up to MOST_POINTS points; the first must be 0.
        top: For every point, whether it lies along the top eigenvector of the Hessian at the
            start (the direction in which linearity fails most) or along a random one.
    """
    count = len(radii)
    far, along = np.zeros(MOST_POINTS), np.zeros(MOST_POINTS, bool)
    far[:count], along[:count] = radii, top
    random = np.random.default_rng(seed)
    start, aside = network.draw(random), network.draw(random)
    with precision("float64"), compilation_cache():
        seen = _measure_linearity(network, start, aside, x, far, along, np.int32(count))
        return Linearity(*(np.asarray(v)[:count] for v in seen))


@jax.jit
def _measure_linearity(
    network: Padded, weights: Any, direction: Any, x: jax.Array, radii: jax.Array, top: jax.Array,
    count: jax.Array,
) -> tuple:  # fmt: skip
    start, restore = flatten(weights)
    aside, _ = flatten(direction)
    aside = aside / jnp.linalg.norm(aside)

    def f(weights: Any) -> jax.Array:
        return network.outputs(weights, x[None])[0, 0]

    def visit(i: jax.Array, carry: tuple) -> tuple:
        vector, seen = carry
        step = radii[i] * jnp.where(top[i], vector, aside)
        here = restore(start + step)
        pairs = top_eigenpairs(
            hessian_product(f, here), starts(1, start.size, start.dtype), which="magnitude",
            tolerance=HESSIAN_TOLERANCE, max_products=MOST_PRODUCTS,
        )  # fmt: skip
        linear = first_order(f, restore(start), restore(step))
        now = (jnp.abs(pairs.values[0]), f(here), linear, pairs.converged[0])
        seen = tuple(all_.at[i].set(one) for all_, one in zip(seen, now, strict=True))
        return jnp.where(i == 0, pairs.vectors[0], vector), seen

    blank = jnp.zeros(MOST_POINTS, start.dtype)
    empty = (blank, blank, blank, jnp.zeros(MOST_POINTS, bool))
    # A loop whose length is an argument: measuring one point compiles nothing new.
    return jax.lax.fori_loop(0, count, visit, (jnp.zeros_like(start), empty))[1]


class Training(NamedTuple):
    """What gradient descent did to a network and to its kernel; see `train`."""

    kernels: np.ndarray  # (records, rows * numbers, rows * numbers)
    loss: np.ndarray  # (records,) half the sum of squares
    slope: np.ndarray  # (records,) |gradient|^2 of that loss
    distance: np.ndarray  # (records,) of the weights from the start

    @property
    def drift(self) -> np.ndarray:
        """Largest |K_t - K_0| / |K_0| up to each record, in the spectral norm.

        Of a run that diverged, what was seen while it was finite: a lower bound.
        """
        change = np.array([_norm(k - self.kernels[0]) for k in self.kernels])
        return np.fmax.accumulate(change) / _norm(self.kernels[0])

    @property
    def smallest(self) -> np.ndarray:
        """Smallest eigenvalue of every kernel, the constant of PL*; NaN after divergence."""
        finite = np.isfinite(self.kernels).all(axis=(1, 2))
        values = np.full(len(finite), np.nan)
        values[finite] = np.linalg.eigvalsh(self.kernels[finite])[:, 0]
        return values


def _norm(matrix: np.ndarray) -> float:
    return float(np.linalg.norm(matrix, 2)) if np.isfinite(matrix).all() else np.nan


def train(
    network: Padded, seed: int, x: np.ndarray, y: np.ndarray, steps: int, every: int
) -> Training:
    """Gradient descent at half the critical rate of the first kernel, on half the sum of squares.

    Args:
        network: The padded network.
        seed: Seed of the start.
        x: Inputs, (rows, padded inputs).
        y: Labels, (rows, numbers).
        steps: Number of steps.
        every: Steps between two records.
    """
    start = network.draw(np.random.default_rng(seed))
    with precision("float64"), compilation_cache():
        seen = _train(steps // every, every, network, start, x, y)
        return Training(*(np.asarray(v) for v in seen))


@partial(jax.jit, static_argnums=(0, 1))
def _train(
    records: int, every: int, network: Padded, start: Any, x: jax.Array, y: jax.Array
) -> tuple:
    def loss(weights: Any) -> jax.Array:
        return jnp.sum((network.outputs(weights, x) - y) ** 2) / 2

    def record(carry: tuple, i: jax.Array) -> tuple:
        weights, rate = carry
        kernel = tangent_kernel(network.outputs, weights, x)
        # Descent on the linear model is stable below 2 / (largest eigenvalue).
        rate = jnp.where(i == 0, 1 / eigvalsh(kernel)[-1], rate)
        now, slope = jax.value_and_grad(loss)(weights)
        square = sum(jnp.sum(g**2) for g in slope)
        moved = jnp.sqrt(sum(jnp.sum((w - v) ** 2) for w, v in zip(weights, start, strict=True)))

        def step(_: Any, weights: Any) -> Any:
            return jax.tree.map(lambda w, g: w - rate * g, weights, jax.grad(loss)(weights))

        return (jax.lax.fori_loop(0, every, step, weights), rate), (kernel, now, square, moved)

    begin = (start, jnp.zeros((), x.dtype))
    return jax.lax.scan(record, begin, jnp.arange(records + 1))[1]
