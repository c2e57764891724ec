"""Fully connected networks of any depth: deep linear or ReLU (MOD-3)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.numerics.draws import uniform

_ACTIVATIONS = {"linear": lambda h: h, "relu": jax.nn.relu, "tanh": jnp.tanh}


@dataclass(frozen=True)
class MLP(Model):
    """`depth` affine maps with an activation between them.

    Args:
        depth: Number of weight matrices; 1 is a single affine map.
        width: Size of every hidden layer.
        activation: What stands between the layers; "linear" gives a deep linear network.
        bias: Whether layers have offsets.
        init_scale: Factor on PyTorch's default, uniform within 1/sqrt(inputs of the layer),
            which holds for offsets too.

    Example:
        >>> network = MLP(depth=3, width=5, activation="linear").build(2, 2)
        >>> params = network.init(jax.random.key(0))
        >>> [layer["weight"].shape for layer in params]
        [(5, 2), (5, 5), (2, 5)]
    """

    depth: int = 2
    width: int = 64
    activation: Literal["linear", "relu", "tanh"] = "relu"
    bias: bool = True
    init_scale: float = 1.0

    def check(self) -> None:
        """Raise for sizes below one."""
        for name in ("depth", "width"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        sizes = [input_size, *[self.width] * (self.depth - 1), output_size]
        act = _ACTIVATIONS[self.activation]

        def init(key: jax.Array) -> list[dict[str, jax.Array]]:
            layers = []
            for i, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
                weight_key, bias_key = jax.random.split(jax.random.fold_in(key, i))
                bound = self.init_scale * (1.0 / fan_in**0.5)
                layer = {"weight": bound * uniform(weight_key, (fan_out, fan_in), -1.0)}
                if self.bias:
                    layer["bias"] = bound * uniform(bias_key, (fan_out,), -1.0)
                layers.append(layer)
            return layers

        def apply(params: list[dict[str, jax.Array]], x: jax.Array) -> jax.Array:
            for i, layer in enumerate(params):
                x = x @ layer["weight"].T
                x = x + layer["bias"] if self.bias else x
                x = act(x) if i + 1 < self.depth else x
            return x

        def matrix(params: list[dict[str, jax.Array]]) -> tuple[jax.Array, jax.Array | None]:
            product, offset = params[0]["weight"], params[0].get("bias")
            for layer in params[1:]:
                product = layer["weight"] @ product
                if offset is not None:
                    offset = layer["weight"] @ offset + layer["bias"]
            return product, offset

        linear = self.activation == "linear" or self.depth == 1
        return Network(init, apply, matrix if linear else None)
