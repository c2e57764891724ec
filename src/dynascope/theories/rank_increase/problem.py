"""A loss of products as compiled functions in float64: loss, pull g = -dL/dz, curvature."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.numerics.log_flow import LogWeights, Moving, at_rest, integrate
from dynascope.runtime.precision import foreign, precision

Loss = Callable[[jax.Array], jax.Array]
TOLERANCE = 1e-2  # of log u in a step of stage B; Newton's method does the rest


class Problem:
    """An interface to somebody's loss: numpy in, numpy out, float64 inside.

    Args:
        loss: A jax function of z, an array of shape (size,).
        size: Number of coordinates.
    """

    def __init__(self, loss: Loss, size: int) -> None:
        if not callable(loss):
            raise bad("loss_of_product", loss, "a jax function of z = u * v")
        if size < 1:
            raise bad("size", size, "a whole number of at least 1")

        def value(z: jax.Array) -> jax.Array:
            with foreign():
                return loss(z)

        def pull(z: jax.Array) -> jax.Array:
            return -jax.grad(value)(z)

        def follow(start: LogWeights, moves: jax.Array, moving: Moving, length: jax.Array) -> tuple:
            moving = integrate(lambda z: moves * pull(z), start, moving, length, TOLERANCE)
            return moving, start.moved(moving.displacement).products

        self.size = size
        self._value, self._pull, self._follow = jax.jit(value), jax.jit(pull), jax.jit(follow)
        self._bend = jax.jit(lambda z, along: -jax.jvp(pull, (z,), (along,))[1])
        at_zero = np.asarray(self._call(self._value, np.zeros(size)))
        if at_zero.shape != () or not np.isfinite(at_zero):
            raise bad("loss_of_product", at_zero, f"one finite number at z = 0, shape ({size},)")

    def _call(self, function: Callable, *args: np.ndarray) -> np.ndarray:
        with precision("float64"):
            return np.asarray(function(*(jnp.asarray(a, float) for a in args)))

    def value(self, z: np.ndarray) -> float:
        """L(z)."""
        return float(self._call(self._value, z))

    def pull(self, z: np.ndarray) -> np.ndarray:
        """g(z) = -dL/dz."""
        return self._call(self._pull, z)

    def bend(self, z: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The Hessian of L in z times a direction."""
        return self._call(self._bend, z, along)

    def curvature(self, z: np.ndarray, on: np.ndarray) -> np.ndarray:
        """The Hessian of L in z on some coordinates, (m, m)."""
        columns = [self.bend(z, np.eye(1, self.size, i)[0])[on] for i in on]
        found = np.array(columns).reshape(len(on), len(on))
        return (found + found.T) / 2

    def follow(
        self, log_u: np.ndarray, signs: np.ndarray, moving: Moving | None, length: float
    ) -> tuple[Moving, np.ndarray]:
        """The flow on the balanced set v = s u; coordinates of sign 0 stay zero.

        Args:
            log_u: log u at the start, (size,); not read where the sign is 0.
            signs: s, of 1, -1 and 0.
            moving: Where an earlier call ended, or None.
            length: How long to go on.

        Returns:
            Where it ends, and z there.
        """
        with precision("float64"):
            # With v = u the difference is 0 and the sum 2 u; with v = -u the other way round.
            logs = np.log(2.0) + log_u
            up, down = (jnp.asarray(np.where(signs == s, logs, -np.inf)) for s in (1, -1))
            start = LogWeights(up, down, jnp.ones(self.size), jnp.ones(self.size))
            moves = jnp.asarray(signs != 0, float)
            if moving is None:
                moving = at_rest(lambda z: moves * self._pull(z), start)
            moving, z = self._follow(start, moves, moving, jnp.asarray(length, float))
            return moving, np.asarray(z)
