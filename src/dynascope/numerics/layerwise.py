"""Factors of per-sample Jacobians, whose products are tangent kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from dynascope.numerics.products import flatten


class Factors(NamedTuple):
    """The Jacobian of n samples with c outputs each, as far as possible in factored form."""

    layers: list[tuple[jax.Array, jax.Array]]  # inputs (n, d), sensitivities (n, c, h)
    rest: jax.Array  # (n, c, parameters not covered by the layers)


def factors(f: Callable, params: Any, x: jax.Array) -> Factors:
    """The factors at the rows of x; samples must not depend on each other."""
    vector, restore = flatten(params)

    def one(row: jax.Array) -> jax.Array:
        return jax.jacrev(lambda w: f(restore(w), row[None]).reshape(-1))(vector)

    return Factors([], jax.vmap(one)(x))


def contract(ours: Factors, theirs: Factors) -> jax.Array:
    """J J'^T, (n c, n' c), from the factors of both."""
    n, c, size = ours.rest.shape
    other = theirs.rest.reshape(-1, size)
    kernel = ours.rest.reshape(-1, size) @ other.T
    return kernel.reshape(n * c, -1)


def numbers_per_sample(f: Callable, params: Any, x: jax.Array) -> int:
    """How many numbers the factors of one sample hold."""
    shapes = jax.eval_shape(lambda p, row: factors(f, p, row), params, x[:1])
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))
