"""One-layer linear model f(x) = W x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.numerics.draws import normal


@dataclass(frozen=True)
class Linear(Model):
    """f(x) = W x with W ~ N(0, init_scale^2), or an explicit initial Jacobian.

    Example:
        >>> network = Linear(initial_jacobian=((1, 0), (0, 1))).build(2, 2)
        >>> network.apply(network.init(jax.random.key(0)), jnp.array([3.0, 4.0])).tolist()
        [3.0, 4.0]
    """

    init_scale: float = 0.01
    initial_jacobian: tuple[tuple[float, ...], ...] | None = None

    def check(self) -> None:
        """Raise for a negative scale."""
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        if self.initial_jacobian is not None:
            expect_shape(self.initial_jacobian, (output_size, input_size))

        def init(key: jax.Array) -> jax.Array:
            if self.initial_jacobian is not None:
                return jnp.asarray(self.initial_jacobian)
            return self.init_scale * normal(key, (output_size, input_size))

        return Network(init, lambda w, x: x @ w.T, lambda w: (w, None))


def expect_shape(jacobian: Any, shape: tuple[int, int]) -> None:
    """Raise `BadInput` unless an explicit initial Jacobian fits the task."""
    got = np.shape(jacobian)
    if got != shape:
        raise bad("initial_jacobian", got, f"shape {shape}, as the task's sizes say")
