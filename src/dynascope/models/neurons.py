"""Two-layer networks of ReLU neurons without offsets, from a given or a random start."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.numerics.draws import normal, uniform


@dataclass(frozen=True)
class Neurons(Model):
    """f(x) = sum of v_i relu(w_i . x).

    Args:
        width: Number of neurons; with a given start, how many it has.
        start: One row a neuron, v_i and then w_i, for one output. None draws all weights
            evenly within 1/sqrt(inputs of the layer).
        noise: Standard deviation of what is added to every w_i of a given start, as a share
            of its length.

    Example:
        >>> network = Neurons(start=((2.0, 1.0, 0.0),)).build(2, 1)
        >>> params = network.init(jax.random.key(0))
        >>> float(network.apply(params, jnp.array([0.5, 0.3]))[0])
        1.0
    """

    width: int = 16
    start: tuple[tuple[float, ...], ...] | None = None
    noise: float = 0.0

    def check(self) -> None:
        """Raise for no neurons, uneven rows, or noise without a start."""
        if self.start is not None:
            if not self.start or len({len(row) for row in self.start}) > 1:
                raise bad("start", self.start, "one row a neuron, all of the same length")
            object.__setattr__(self, "width", len(self.start))
        if self.width < 1:
            raise bad("width", self.width, "a whole number of at least 1")
        if self.noise < 0 or (self.noise and self.start is None):
            raise bad("noise", self.noise, "a number of at least 0, above 0 only with a start")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        if self.start is not None and (output_size != 1 or len(self.start[0]) != input_size + 1):
            shape = f"rows of {input_size + 1} numbers, for a task with one output"
            raise bad("start", self.start[0], shape)
        return Network(
            lambda key: self._params(key, input_size, output_size),
            lambda params, x: jax.nn.relu(x @ params["input"].T) @ params["output"].T,
        )

    def _params(self, key: jax.Array, inputs: int, outputs: int) -> dict[str, jax.Array]:
        """Input weights (neurons, inputs) and output weights (outputs, neurons)."""
        if self.start is None:
            first, second = jax.random.split(key)
            return {
                "input": uniform(first, (self.width, inputs), -1.0) * (1 / inputs**0.5),
                "output": uniform(second, (outputs, self.width), -1.0) * (1 / self.width**0.5),
            }
        rows = jnp.asarray(self.start)
        w = rows[:, 1:]
        length = jnp.linalg.norm(w, axis=1, keepdims=True)
        return {"input": w + self.noise * length * normal(key, w.shape), "output": rows[:, :1].T}
