"""The feed-forward part of a block, which treats every position for itself.

"mlp" is act(x W_in) W_out, "gated" is (act(x W_gate) * x W_in) W_out, "linear" is x W, and
"none" adds nothing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.models.activations import ACTIVATIONS, Activation
from dynascope.models.transformer.drawing import Entry, Start

Kind = Literal["mlp", "gated", "linear", "none"]


class FeedForward(NamedTuple):
    """The settings of a feed-forward part."""

    kind: Kind
    width: int
    hidden: int
    activation: Activation
    bias: bool

    def shapes(self) -> dict[str, tuple[int, int]]:
        """(inputs, outputs) of its matrices."""
        into, out = (self.width, self.hidden), (self.hidden, self.width)
        return {
            "mlp": {"in": into, "out": out},
            "gated": {"gate": into, "in": into, "out": out},
            "linear": {"out": (self.width, self.width)},
            "none": {},
        }[self.kind]

    def __call__(self, weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        """What every position adds to itself."""
        act = ACTIVATIONS[self.activation]

        def affine(name: str, x: jax.Array) -> jax.Array:
            y = x @ weights[name]
            return y + weights[f"{name}_bias"] if self.bias else y

        if self.kind == "none":
            return jnp.zeros_like(x)
        if self.kind == "linear":
            return affine("out", x)
        if self.kind == "gated":
            return affine("out", act(affine("gate", x)) * affine("in", x))
        return affine("out", act(affine("in", x)))

    def entries(self, start: Start) -> dict[str, Entry]:
        """The arrays, as (inputs, outputs), with offsets where there are some."""
        found = {}
        for name, shape in self.shapes().items():
            found[name] = start.weight(shape, shape[0], writes=name == "out")
            if self.bias:
                found[f"{name}_bias"] = start.offset(shape[1:], shape[0])
        return found
