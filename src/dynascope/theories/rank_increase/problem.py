"""A loss of products as compiled functions in float64: loss, pull g = -dL/dz, curvature."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.numerics.log_flow import LogWeights, Moving, at_rest, integrate
from dynascope.runtime.precision import foreign, precision

Loss = Callable[..., jax.Array]
TOLERANCE = 1e-2  # of log u in a step of stage B; Newton's method does the rest


class _Programs(NamedTuple):
    """Compiled functions of a loss; the last argument of each are the loss's parameters."""

    value: Callable
    pull: Callable
    bend: Callable
    follow: Callable


def _programs(loss: Loss) -> _Programs:
    def value(z: jax.Array, parameters: tuple) -> jax.Array:
        with foreign():
            return loss(z, *parameters)

    def pull(z: jax.Array, parameters: tuple) -> jax.Array:
        return -jax.grad(value)(z, parameters)

    def bend(z: jax.Array, along: jax.Array, parameters: tuple) -> jax.Array:
        return -jax.jvp(lambda z: pull(z, parameters), (z,), (along,))[1]

    def follow(
        start: LogWeights, moves: jax.Array, moving: Moving, length: jax.Array, parameters: tuple
    ) -> tuple:
        def slope(z: jax.Array) -> jax.Array:
            return moves * pull(z, parameters)

        moving = integrate(slope, start, moving, length, TOLERANCE)
        return moving, start.moved(moving.displacement).products

    return _Programs(*(jax.jit(f) for f in (value, pull, bend, follow)))


_known_programs = lru_cache(maxsize=16)(_programs)  # of losses that have parameters


class Problem:
    """An interface to somebody's loss: numpy in, numpy out, float64 inside.

    Args:
        loss: A jax function of z, an array of shape (size,), and of the parameters if there are
            any.
        size: Number of coordinates.
        parameters: Arrays that the loss takes beside z. With them its programs are compiled once
            for a loss: other numbers of the same shapes are only other arguments.
    """

    def __init__(self, loss: Loss, size: int, parameters: tuple[ArrayLike, ...] = ()) -> None:
        if not callable(loss):
            raise bad("loss_of_product", loss, "a jax function of z = u * v")
        if size < 1:
            raise bad("size", size, "a whole number of at least 1")
        self.size = size
        self._programs = _known_programs(loss) if parameters else _programs(loss)
        with precision("float64"):
            self._parameters = tuple(jnp.asarray(a) for a in parameters)
        at_zero = self._call(self._programs.value, np.zeros(size))
        if at_zero.shape != () or not np.isfinite(at_zero):
            raise bad("loss_of_product", at_zero, f"one finite number at z = 0, shape ({size},)")

    def _call(self, function: Callable, *args: np.ndarray) -> np.ndarray:
        with precision("float64"):
            given = (jnp.asarray(a, float) for a in args)
            return np.asarray(function(*given, self._parameters))

    def value(self, z: np.ndarray) -> float:
        """L(z)."""
        return float(self._call(self._programs.value, z))

    def pull(self, z: np.ndarray) -> np.ndarray:
        """g(z) = -dL/dz."""
        return self._call(self._programs.pull, z)

    def bend(self, z: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The Hessian of L in z times a direction."""
        return self._call(self._programs.bend, z, along)

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
                pull = self._programs.pull
                moving = at_rest(lambda z: moves * pull(z, self._parameters), start)
            until = jnp.asarray(length, float)
            moving, z = self._programs.follow(start, moves, moving, until, self._parameters)
            return moving, np.asarray(z)
