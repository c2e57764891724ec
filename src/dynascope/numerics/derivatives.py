"""Derivatives of any order of a function of one number, by nested forward mode in float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.runtime.precision import foreign


def derivative(f: Callable, order: int = 1) -> Callable:
    """The derivative of an elementwise function as a function that jax can trace.

    Nested `jvp` has a rule for every primitive, unlike `jax.experimental.jet`.
    """
    for _ in range(order):
        f = _once(f)
    return f


def _once(f: Callable) -> Callable:
    return lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1]


def tower(f: Callable, order: int) -> Callable:
    """A function to its value and all its derivatives up to an order, as one tuple.

    Each level adds the tangent of the highest derivative below it.
    """
    if order == 0:
        return lambda x: (f(x),)
    below = tower(f, order - 1)

    def level(x: jax.Array) -> tuple[jax.Array, ...]:
        values, tangents = jax.jvp(below, (x,), (jnp.ones_like(x),))
        return (*values, tangents[-1])

    return level


def derivatives(f: Callable, x: float, order: int) -> tuple[float, ...]:
    """The value of a function and its derivatives at a point, in float64.

    Args:
        f: A function of one number that jax can trace.
        x: The point.
        order: The highest derivative.

    Returns:
        f(x), f'(x), ..., one number per order from 0.

    Example:
        >>> derivatives(lambda x: x**3, 2.0, 4)
        (8.0, 12.0, 12.0, 6.0, 0.0)
    """
    with jax.enable_x64(True), foreign():
        return tuple(float(value) for value in _all(f, order, np.float64(x)))


@partial(jax.jit, static_argnums=(0, 1))
def _all(f: Callable, order: int, x: jax.Array) -> tuple[jax.Array, ...]:
    return tower(f, order)(x)


def scalar(f: Callable, order: int) -> Callable[[float], float]:
    """A derivative as a compiled function from float to float, in float64.

    Equal functions, such as two expressions of the same text, are compiled once.
    """

    def call(x: float) -> float:
        with jax.enable_x64(True), foreign():
            return float(_one(f, order, np.float64(x)))

    return call


@partial(jax.jit, static_argnums=(0, 1))
def _one(f: Callable, order: int, x: jax.Array) -> jax.Array:
    return derivative(f, order)(x)
