"""Products with Hessians, Gauss-Newton matrices and tangent kernels, none of which is formed.

Each function linearises once and returns the linear map: inside a loop of products only the
tangent part is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from dynascope.core.errors import bad
from dynascope.numerics.eigenpairs import Multiply


def flatten(params: Any) -> tuple[jax.Array, Callable[[jax.Array], Any]]:
    """A tree of floating arrays as one vector, and the way back."""
    leaves = jax.tree.leaves(params)
    if not leaves or not sum(jnp.size(leaf) for leaf in leaves):
        raise bad("params", params, "at least one number")
    for leaf in leaves:
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
            raise bad("params", jnp.result_type(leaf).name, "arrays of real floating numbers")
    return ravel_pytree(params)


def hessian_product(loss: Callable[[Any], jax.Array], params: Any) -> Multiply:
    """The map v -> H v, for the Hessian of a scalar function at flattened parameters.

    Example:
        >>> product = hessian_product(lambda w: w[0] * w[1], jnp.array([5.0, 7.0]))
        >>> product(jnp.array([1.0, 2.0])).tolist()
        [2.0, 1.0]
    """
    vector, restore = flatten(params)
    return jax.linearize(jax.grad(lambda w: loss(restore(w))), vector)[1]


def gauss_newton_product(
    loss: Callable[[jax.Array], jax.Array], outputs: Callable[[Any], jax.Array], params: Any
) -> Multiply:
    """The map v -> J^T D J v: J of the outputs, D the loss's Hessian with respect to them."""
    vector, restore = flatten(params)
    there, push = jax.linearize(lambda w: outputs(restore(w)), vector)
    pull = jax.linear_transpose(push, vector)
    curve = jax.linearize(jax.grad(loss), there)[1]
    return lambda v: pull(curve(push(v)))[0]


def kernel_product(outputs: Callable[[Any], jax.Array], params: Any) -> Multiply:
    """The map u -> J J^T u, with u and the result as flat as the outputs."""
    vector, restore = flatten(params)
    _, push = jax.linearize(lambda w: outputs(restore(w)).reshape(-1), vector)
    pull = jax.linear_transpose(push, vector)
    return lambda u: push(pull(u)[0])
