"""Difference quotients: whether they stay bounded as points come closer (boix2023 D.5 to D.7).

The lemmas have constants that exist by compactness and are not computed. What can be seen is that
the largest quotient over pairs in a ball does not grow as the distance of the pairs falls; with a
kink it grows like one over the distance.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.models import DiagonalAttention, DiagonalLinear
from dynascope.runtime.precision import precision
from dynascope.tasks import AttentionTeacher
from dynascope.theories import product_problem

DISTANCES = (1e-1, 1e-2, 1e-3)
PAIRS = 4000
RADIUS = 2.0


class Quotients(NamedTuple):
    """The largest quotient of each function at each distance."""

    names: tuple[str, ...]
    largest: np.ndarray  # (functions, distances)


def ball(count: int, size: int, radius: float, seed: int) -> np.ndarray:
    """Points evenly spread over a ball, (count, size)."""
    random = np.random.default_rng(seed)
    along = random.normal(size=(count, size))
    far = random.uniform(size=(count, 1)) ** (1 / size)
    return radius * far * along / np.linalg.norm(along, axis=1, keepdims=True)


@partial(jax.jit, static_argnums=0)
def _slopes(loss: Callable, data: tuple[jax.Array, ...], thetas: jax.Array) -> jax.Array:
    """The gradient in theta = (u, v) at each of some theta."""

    def of_theta(theta: jax.Array) -> jax.Array:
        size = len(theta) // 2
        return loss(theta[:size] * theta[size:], *data)

    return jax.vmap(jax.grad(of_theta))(thetas)


def steepest(
    loss: Callable, data: tuple[np.ndarray, ...], size: int, radius: float = RADIUS, seed: int = 0
) -> float:
    """The largest gradient in theta = (u, v) of a loss of products, over samples of a ball."""
    points = ball(500, 2 * size, radius, seed)
    with precision("float64"):
        slopes = _slopes(loss, tuple(map(jnp.asarray, data)), jnp.asarray(points))
        return float(np.linalg.norm(np.asarray(slopes), axis=1).max())


@partial(jax.jit, static_argnums=0)
def _values(function: Callable, data: tuple[jax.Array, ...], points: jax.Array) -> jax.Array:
    """A function of a point and of data at each of some points, flat."""
    return jax.vmap(lambda x: jnp.ravel(function(x, *data)))(points)


def quotients(
    functions: dict[str, Callable], data: tuple[np.ndarray, ...], size: int, seed: int
) -> Quotients:
    """Largest |f(x) - f(y)| / |x - y| over pairs in a ball, for every distance of x and y."""
    centres = ball(PAIRS, size, RADIUS, seed)
    ways = ball(PAIRS, size, 1.0, seed + 1)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    rows = []
    with precision("float64"):
        given = tuple(map(jnp.asarray, data))
        for function in functions.values():
            pairs = [[_values(function, given, jnp.asarray(centres + side * d / 2 * ways))
                      for side in (-1, 1)] for d in DISTANCES]  # fmt: skip
            apart = [np.linalg.norm(np.asarray(b - a), axis=1).max() for a, b in pairs]
            rows.append(np.array(apart) / np.array(DISTANCES))
    return Quotients(tuple(functions), np.array(rows))


def _with_slopes(function: Callable) -> dict[str, Callable]:
    """A function and its derivative."""
    return {"value": function, "derivative": jax.jacfwd(function)}


def _objective(loss: Callable) -> dict[str, Callable]:
    """Loss, its gradient in theta = (u, v), and g, as functions of theta and of data."""

    def products(theta: jax.Array) -> jax.Array:
        size = len(theta) // 2
        return theta[:size] * theta[size:]

    def of_theta(theta: jax.Array, *data: jax.Array) -> jax.Array:
        return loss(products(theta), *data)

    def pull(theta: jax.Array, *data: jax.Array) -> jax.Array:
        return -jax.grad(loss)(products(theta), *data)

    return {"loss": of_theta, "gradient": jax.grad(of_theta), "pull": pull}


TASK = AttentionTeacher(size=4, tokens=3, points=20)
SIZE = 4  # of an output


def _outputs(network: Any) -> Callable:
    """A network's outputs as a function of z = u v and of inputs."""
    return lambda z, x: network.apply({"u": z, "v": jnp.ones_like(z)}, x)


def _squared(f: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum((f - y) ** 2) / 2


def _absolute(f: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sum(jnp.abs(f - 0.1 * y))


@lru_cache(maxsize=1)
def _functions(head: Callable) -> dict[str, tuple[dict[str, Callable], str, int]]:
    """What is differentiated, in which data, and of how many numbers: one set for all draws."""
    network = DiagonalAttention().build(SIZE, SIZE)
    line = DiagonalLinear().build(SIZE, 1)
    return {
        "squared error": (_with_slopes(_squared), "label", SIZE),
        "absolute error": (_with_slopes(_absolute), "label", SIZE),
        "cross-entropy": (_with_slopes(lambda f: jax.nn.logsumexp(f) - f[0]), "none", SIZE),
        "attention head": (_with_slopes(_outputs(network)), "inputs", 2 * SIZE),
        "rectified unit": (_with_slopes(lambda z, x: jax.nn.relu(x @ z)), "inputs", SIZE),
        "linear network": (_with_slopes(_outputs(line)), "inputs", SIZE),
        "toy problem": (_objective(head), "samples", 4 * SIZE),
        "absolute deviation": (_objective(_absolute), "label", 2 * SIZE),
        "linear problem": (_objective(_squared), "label", 2 * SIZE),
    }


def all_quotients(seed: int) -> dict[str, Quotients]:
    """Losses of outputs, networks, and objectives of theta: smooth ones, and ones with a kink."""
    head = product_problem(TASK, DiagonalAttention(), seed)
    random = np.random.default_rng(seed)
    y, x = random.normal(size=SIZE), random.normal(size=(3, SIZE))
    data = {"label": (y,), "inputs": (x,), "samples": head.data, "none": ()}
    return {
        name: quotients(functions, data[kind], size, seed)
        for name, (functions, kind, size) in _functions(head.on).items()
    }
