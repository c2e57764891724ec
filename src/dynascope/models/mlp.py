"""Fully connected networks of any depth, in PyTorch's or in the tangent kernel's scaling."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import jax

from dynascope.core.errors import bad
from dynascope.core.spec import later_field
from dynascope.models.activations import ACTIVATIONS, Activation
from dynascope.models.affine_layers import Layer, Parameterization, draw_layer, scaled_product
from dynascope.models.base import Model, Network
from dynascope.numerics.small_products import product


@dataclass(frozen=True)
class MLP(Model):
    """`depth` affine maps with an activation between them.

    Args:
        depth: Number of weight matrices; 1 is a single affine map.
        width: Size of every hidden layer.
        activation: What stands between the layers; "linear" gives a deep linear network.
        bias: Whether layers have offsets; None is yes for "pytorch", no for "ntk".
        init_scale: Factor on the start.
        parameterization: "pytorch" starts uniform within 1/sqrt(inputs of the layer), offsets
            too. "ntk" starts with standard normal numbers and divides every product by
            sqrt(inputs), zhu2024 (A.4), (C.6); there is no factor sqrt(2).
        output_weights: "drawn" like the others, or "signs": plus or minus `init_scale` times
            the bound of the layer (1 in "ntk"), as zhu2024 chapter 3 starts its second layer.
        fixed_output: Whether the last layer stays as it is (zhu2024 Fig. 4.5).

    Example:
        >>> network = MLP(depth=3, width=5, activation="linear").build(2, 2)
        >>> params = network.init(jax.random.key(0))
        >>> [layer["weight"].shape for layer in params]
        [(5, 2), (5, 5), (2, 5)]
        >>> start = MLP(2, 4, parameterization="ntk", output_weights="signs").build(3, 1)
        >>> sorted(set(start.init(jax.random.key(0))[1]["weight"].ravel().tolist()))
        [-1.0, 1.0]
    """

    depth: int = 2
    width: int = 64
    activation: Activation = "relu"
    bias: bool | None = None
    init_scale: float = 1.0
    parameterization: Parameterization = "pytorch"
    output_weights: Literal["drawn", "signs"] = "drawn"
    fixed_output: bool = later_field(False)

    def check(self) -> None:
        """Raise for sizes below one."""
        for name in ("depth", "width"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    @property
    def has_bias(self) -> bool:
        """Whether layers have offsets."""
        return self.parameterization == "pytorch" if self.bias is None else self.bias

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        sizes = [input_size, *[self.width] * (self.depth - 1), output_size]
        act = ACTIVATIONS[self.activation]

        def init(key: jax.Array) -> list[Layer]:
            return [
                draw_layer(
                    jax.random.fold_in(key, i), fan_in, (fan_out, fan_in), self.init_scale,
                    self.parameterization, self.has_bias,
                    signs=self.output_weights == "signs" and i == self.depth - 1,
                )
                for i, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes))
            ]  # fmt: skip

        def apply(params: list[Layer], x: jax.Array) -> jax.Array:
            for i, layer in enumerate(params):
                if self.fixed_output and i + 1 == self.depth:
                    layer = jax.lax.stop_gradient(layer)
                x = scaled_product(x, layer["weight"], self.parameterization)
                x = x + layer["bias"] if self.has_bias else x
                x = act(x) if i + 1 < self.depth else x
            return x

        def matrix(params: list[Layer]) -> tuple[jax.Array, jax.Array | None]:
            whole, offset = effective(params[0]["weight"]), params[0].get("bias")
            for layer in params[1:]:
                weight = effective(layer["weight"])
                whole = product(weight, whole)
                if offset is not None:
                    offset = product(weight, offset[:, None])[:, 0] + layer["bias"]
            return whole, offset

        def effective(weight: jax.Array) -> jax.Array:
            return weight / weight.shape[1] ** 0.5 if self.parameterization == "ntk" else weight

        linear = self.activation == "linear" or self.depth == 1
        return Network(init, apply, matrix if linear else None)
