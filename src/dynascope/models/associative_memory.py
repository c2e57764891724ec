"""A linear associative memory: one matrix between vectors of items and vectors of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.numerics.draws import normal

Params = dict[str, jax.Array]


@dataclass(frozen=True)
class AssociativeMemory(Model):
    """Logit of label j at item i: <u_j, W e_i>; only W learns (chen2025 section 4.4.3).

    Args:
        width: d, the size of the vectors.
        embeddings: "sphere" draws e_i and u_j evenly on the sphere, "orthonormal" takes
            unit vectors along the axes.
        init_scale: Factor on W's start, whose entries are normal with variance 1 / d.

    Example:
        >>> network = AssociativeMemory(4, "orthonormal", 0.0).build(2, 3)
        >>> network.apply(network.init(jax.random.key(0)), jnp.eye(2)).tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    width: int = 12
    embeddings: Literal["sphere", "orthonormal"] = "sphere"
    init_scale: float = 1.0

    def check(self) -> None:
        """Raise for a width below one and a negative scale."""
        if self.width < 1:
            raise bad("width", self.width, "a whole number of at least 1")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for so many items and labels."""
        d = self.width
        if self.embeddings == "orthonormal" and d < max(input_size, output_size):
            raise bad("width", d, f"at least {output_size}, the number of labels")

        def init(key: jax.Array) -> Params:
            keys = jax.random.split(key, 3)

            def vectors(key: jax.Array, count: int) -> jax.Array:
                if self.embeddings == "orthonormal":
                    return jnp.eye(count, d, dtype=jnp.result_type(float))
                drawn = normal(key, (count, d))
                return drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)

            return {
                "memory": normal(keys[0], (d, d)) * (self.init_scale * d**-0.5),
                "items": vectors(keys[1], input_size),
                "labels": vectors(keys[2], output_size),
            }

        return Network(init, _logits)


def _logits(params: Params, x: jax.Array) -> jax.Array:
    """u_j^T W e_i; the vectors of items and labels are fixed."""
    items, labels = (jax.lax.stop_gradient(params[name]) for name in ("items", "labels"))
    return x @ items @ params["memory"].T @ labels.T
