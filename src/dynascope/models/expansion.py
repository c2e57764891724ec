"""Models of a model: its Taylor expansion in the parameters, to first or second order.

`linearize` and `quadratize` take any JAX function f(params, x). Derivatives are nested
forward mode (the jvp of a jvp), so no Jacobian or Hessian is formed and every primitive has
a rule. At a ReLU's kink jax takes the derivative 0 where zhu2024 takes 1; that differs only
where a pre-activation is exactly 0 and its input is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.mlp import MLP
from dynascope.runtime.precision import foreign

Function = Callable[[Any, Any], Any]


def linearize(f: Function, params: Any) -> Function:
    """The first-order expansion of f around `params`: f(w0) + f'(w0) (w - w0), zhu2024 (2.9).

    Args:
        f: Any JAX function f(params, x); its output may be any tree of arrays.
        params: The centre w0, a tree of arrays; arrays that are not floating stay as given.

    Returns:
        A function g(params, x) of the same kind.

    Example:
        >>> g = linearize(lambda w, x: x * w**3, jnp.array(2.0))
        >>> float(g(jnp.array(3.0), 1.0))  # 8 + 12
        20.0
    """
    return _expansion(f, params, first_order)


def quadratize(f: Function, params: Any) -> Function:
    """The second-order expansion of f around `params`, zhu2024 (3.2); see `linearize`.

    Example:
        >>> g = quadratize(lambda w, x: x * w**3, jnp.array(2.0))
        >>> float(g(jnp.array(3.0), 1.0))  # 8 + 12 + 6
        26.0
    """
    return _expansion(f, params, second_order)


def first_order(f: Callable, anchor: Any, displacement: Any) -> Any:
    """The sum f + f' d at the anchor, for a function of the parameters alone."""
    value, slope = jax.jvp(f, (anchor,), (displacement,))
    return jax.tree.map(lambda a, b: a + b, value, slope)


def second_order(f: Callable, anchor: Any, displacement: Any) -> Any:
    """The sum f + f' d + d f'' d / 2 at the anchor, for a function of the parameters alone."""

    def along(params: Any) -> Any:
        return jax.jvp(f, (params,), (displacement,))

    (value, slope), (_, bend) = jax.jvp(along, (anchor,), (displacement,))
    return jax.tree.map(lambda a, b, c: a + b + c / 2, value, slope, bend)


def _expansion(f: Function, params: Any, order: Callable) -> Function:
    _check(f, params)

    def expanded(moved: Any, x: Any) -> Any:
        with foreign():
            return order(lambda w: f(w, x), params, jax.tree.map(_difference, moved, params))

    return expanded


def _check(f: Function, params: Any) -> None:
    if not callable(f):
        raise bad("f", f, "a function f(params, x)")
    if not any(jnp.issubdtype(jnp.result_type(p), jnp.floating) for p in jax.tree.leaves(params)):
        raise bad("params", params, "a tree with at least one array of floating numbers")


def _difference(moved: Any, anchor: Any) -> Any:
    """The step w - w0, or the tangent that jax wants for an array without derivatives."""
    if jnp.issubdtype(jnp.result_type(anchor), jnp.inexact):
        return jnp.asarray(moved, jnp.result_type(anchor)) - anchor
    return np.zeros(np.shape(anchor), jax.dtypes.float0)


@dataclass(frozen=True)
class Linearized(Model):
    """The linear model of another model around that model's own start.

    The parameters are `{"anchor": w0, "displacement": w - w0}`. Only the displacement, which
    starts at zero, is trained: the anchor's gradient is exactly zero, so every rule that moves
    parameters by their gradients leaves it as it is, bit for bit. (A rule that also pulls
    parameters towards zero, such as decoupled weight decay, would move it.)

    Args:
        model: What is expanded.

    Example:
        >>> network = Linearized(MLP(2, 8, "tanh")).build(3, 1)
        >>> sorted(network.init(jax.random.key(0)))
        ['anchor', 'displacement']
    """

    model: Model = MLP()

    def accepts(self, kind: str) -> bool:
        """What the expanded model can read."""
        return self.model.accepts(kind)

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        return _network(self.model.build(input_size, output_size), first_order)


@dataclass(frozen=True)
class Quadratized(Model):
    """The quadratic model of another model around that model's own start; see `Linearized`.

    For a two-layer ReLU network it is the network with its gates frozen, zhu2024 (3.10).

    Args:
        model: What is expanded.
    """

    model: Model = MLP()

    def accepts(self, kind: str) -> bool:
        """What the expanded model can read."""
        return self.model.accepts(kind)

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        return _network(self.model.build(input_size, output_size), second_order)


def _network(inner: Network, order: Callable) -> Network:
    def init(key: jax.Array) -> dict[str, Any]:
        anchor = inner.init(key)
        return {"anchor": anchor, "displacement": jax.tree.map(jnp.zeros_like, anchor)}

    def apply(params: dict[str, Any], x: jax.Array) -> jax.Array:
        anchor = jax.lax.stop_gradient(params["anchor"])
        return order(lambda w: inner.apply(w, x), anchor, params["displacement"])

    return Network(init, apply)
