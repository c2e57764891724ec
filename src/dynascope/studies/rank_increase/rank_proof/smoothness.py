"""Difference quotients: whether they stay bounded as points come closer (boix2023 D.5 to D.7).

The lemmas have constants that exist by compactness and are not computed. What can be seen is that
the largest quotient over pairs in a ball does not grow as the distance of the pairs falls; with a
kink it grows like one over the distance.
"""

from collections.abc import Callable
from typing import NamedTuple

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


def steepest(loss: Callable, size: int, radius: float = RADIUS, seed: int = 0) -> float:
    """The largest gradient in theta = (u, v) of a loss of products, over samples of a ball."""
    points = ball(500, 2 * size, radius, seed)
    with precision("float64"):
        slope = jax.jit(jax.vmap(jax.grad(lambda theta: loss(theta[:size] * theta[size:]))))
        return float(np.linalg.norm(np.asarray(slope(jnp.asarray(points))), axis=1).max())


def quotients(functions: dict[str, Callable], size: int, seed: int) -> Quotients:
    """Largest |f(x) - f(y)| / |x - y| over pairs in a ball, for every distance of x and y."""
    centres = ball(PAIRS, size, RADIUS, seed)
    ways = ball(PAIRS, size, 1.0, seed + 1)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    rows = []
    with precision("float64"):
        for function in functions.values():
            values = jax.jit(jax.vmap(lambda x, f=function: jnp.ravel(f(x))))
            pairs = [[values(jnp.asarray(centres + side * d / 2 * ways)) for side in (-1, 1)]
                     for d in DISTANCES]  # fmt: skip
            apart = [np.linalg.norm(np.asarray(b - a), axis=1).max() for a, b in pairs]
            rows.append(np.array(apart) / np.array(DISTANCES))
    return Quotients(tuple(functions), np.array(rows))


def _with_slopes(function: Callable) -> dict[str, Callable]:
    """A function and its derivative."""
    return {"value": function, "derivative": jax.jacfwd(function)}


def _objective(loss: Callable, size: int) -> dict[str, Callable]:
    """Loss, its gradient in theta = (u, v), and g, as functions of theta."""
    of_theta = lambda theta: loss(theta[:size] * theta[size:])  # noqa: E731
    pull = lambda theta: -jax.grad(loss)(theta[:size] * theta[size:])  # noqa: E731
    return {"loss": of_theta, "gradient": jax.grad(of_theta), "pull": pull}


def all_quotients(seed: int) -> dict[str, Quotients]:
    """Losses of outputs, networks, and objectives of theta: smooth ones, and ones with a kink."""
    task = AttentionTeacher(size=4, tokens=3, points=20)
    head = product_problem(task, DiagonalAttention(), seed)
    random = np.random.default_rng(seed)
    y, x = random.normal(size=4), random.normal(size=(3, 4))
    network, line = DiagonalAttention().build(4, 4), DiagonalLinear().build(4, 1)
    outputs = lambda net, z: net.apply({"u": z, "v": jnp.ones_like(z)}, jnp.asarray(x))  # noqa: E731
    absolute = lambda z: jnp.sum(jnp.abs(z - 0.1 * y))  # noqa: E731
    made = {
        "squared error": (_with_slopes(lambda f: jnp.sum((f - y) ** 2) / 2), 4),
        "absolute error": (_with_slopes(absolute), 4),
        "cross-entropy": (_with_slopes(lambda f: jax.nn.logsumexp(f) - f[0]), 4),
        "attention head": (_with_slopes(lambda z: outputs(network, z)), 8),
        "rectified unit": (_with_slopes(lambda z: jax.nn.relu(x @ z)), 4),
        "linear network": (_with_slopes(lambda z: outputs(line, z)), 4),
        "toy problem": (_objective(head.loss, head.size), 2 * head.size),
        "absolute deviation": (_objective(absolute, 4), 8),
        "linear problem": (_objective(lambda z: jnp.sum((z - y) ** 2) / 2, 4), 8),
    }  # fmt: skip
    return {name: quotients(*functions, seed) for name, functions in made.items()}
