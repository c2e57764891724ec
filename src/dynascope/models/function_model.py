"""Anybody's model: two functions, or an Equinox module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.runtime.precision import foreign


@dataclass(frozen=True)
class FunctionModel(Model, tag="models.Pair"):
    """`init(key) -> params` and `apply(params, x)` with x of shape (..., input).

    The fingerprint covers the code of both functions and the values they capture.

    Example:
        >>> import jax.numpy as jnp
        >>> model = FunctionModel(init=lambda key: jnp.ones(2), apply=lambda p, x: x @ p)
        >>> network = model.build(2, 1)
        >>> float(network.apply(network.init(jax.random.key(0)), jnp.array([3.0, 4.0])))
        7.0
    """

    init: Callable[[jax.Array], Any]
    apply: Callable[[Any, jax.Array], jax.Array]

    def check(self) -> None:
        """Raise unless both are functions."""
        for name in ("init", "apply"):
            if not callable(getattr(self, name)):
                raise bad(name, getattr(self, name), "a function")

    def build(self, input_size: int, output_size: int) -> Network:
        """The functions themselves; their sizes are the user's own business."""

        def init(key: jax.Array) -> Any:
            with foreign():
                return self.init(key)

        def apply(params: Any, x: jax.Array) -> jax.Array:
            with foreign():
                return self.apply(params, x)

        return Network(init, apply)


def from_equinox(module: Any) -> FunctionModel:
    """The model of an Equinox module that takes one example.

    Args:
        module: A function `key -> module`, so that every seed starts from weights of its own; or
            a module, from whose weights every seed starts.

    Returns:
        A model whose parameters are the module's floating arrays.

    Example:
        >>> import equinox as eqx
        >>> model = from_equinox(lambda key: eqx.nn.Linear(2, 3, key=key))
        >>> network = model.build(2, 3)
        >>> network.apply(network.init(jax.random.key(0)), jax.numpy.ones((5, 2))).shape
        (5, 3)
    """
    import equinox as eqx

    if not callable(module):
        raise bad("module", module, "an Equinox module, or a function from a key to one")
    given = isinstance(module, eqx.Module)
    make: Callable[[jax.Array], Any] = (lambda key: module) if given else module

    def init(key: jax.Array) -> Any:
        return eqx.filter(make(key), eqx.is_inexact_array)

    def apply(params: Any, x: jax.Array) -> jax.Array:
        # The parts that are not trained (functions, sizes) are the same for every key.
        rest = eqx.filter(make(jax.random.key(0)), eqx.is_inexact_array, inverse=True)
        net = eqx.combine(params, rest)
        for _ in x.shape[:-1]:
            net = jax.vmap(net)
        return net(x)

    return FunctionModel(init, apply)
