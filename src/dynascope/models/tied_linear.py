r"""Two-layer linear model with tied weights, f(x) = U U^T x (MOD-2).

Gradient descent moves U, never W = U U^T: the recursion on W alone leaves the cone of
positive semidefinite matrices and diverges (F0.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.linear import expect_shape
from dynascope.numerics.decompositions import eigh
from dynascope.numerics.draws import normal, uniform
from dynascope.numerics.small_products import product


@jax.custom_jvp
def gram(u: jax.Array) -> jax.Array:
    """U U^T, with a derivative that costs one product instead of two."""
    return product(u, u.T)


@gram.defjvp
def _gram_jvp(primals: tuple, tangents: tuple) -> tuple[jax.Array, jax.Array]:
    (u,), (du,) = primals, tangents
    half = product(du, u.T)
    return gram(u), half + half.T


@dataclass(frozen=True)
class TiedLinear(Model):
    """f(x) = U U^T x with U of shape (dimension, width).

    Args:
        width: Number of columns of U; below the dimension it is a bottleneck.
        init_scale: s in U ~ N(0, s^2) or U[0, s].
        init: The law of U's entries.
        initial_jacobian: W(0), positive semidefinite; then U is a root of it and the rest
            is not used. The path of W depends on U only through W(0).

    Example:
        >>> network = TiedLinear(width=2, initial_jacobian=((2, 1), (1, 2))).build(2, 2)
        >>> w, _ = network.matrix(network.init(jax.random.key(0)))
        >>> jnp.round(w, 5).tolist()
        [[2.0, 1.0], [1.0, 2.0]]
    """

    width: int = 3
    init_scale: float = 0.01
    init: Literal["gaussian", "uniform"] = "gaussian"
    initial_jacobian: tuple[tuple[float, ...], ...] | None = None

    def check(self) -> None:
        """Raise for a width, scale or matrix that gives no model."""
        if self.width < 1:
            raise bad("width", self.width, "a whole number of at least 1")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")
        if self.initial_jacobian is not None:
            w = np.asarray(self.initial_jacobian)
            if w.ndim != 2 or w.shape[0] != w.shape[1] or not np.allclose(w, w.T, rtol=1e-9):
                raise bad("initial_jacobian", self.initial_jacobian, "a symmetric matrix")
            lowest, largest = np.linalg.eigvalsh(w)[0], np.abs(w).max()
            if lowest < -1e-9 * largest:
                raise bad(
                    "initial_jacobian",
                    f"lowest eigenvalue {lowest:.3g}",
                    "a positive semidefinite matrix, since W = U U^T",
                )

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        if input_size != output_size:
            raise bad("model", "TiedLinear", "a task with as many outputs as inputs")
        if self.initial_jacobian is not None:
            expect_shape(self.initial_jacobian, (input_size, input_size))

        def init(key: jax.Array) -> jax.Array:
            if self.initial_jacobian is not None:
                return _root(jnp.asarray(self.initial_jacobian), self.width)
            shape = (input_size, self.width)
            draw = normal if self.init == "gaussian" else uniform
            return self.init_scale * draw(key, shape)

        return Network(init, lambda u, x: (x @ u) @ u.T, lambda u: (gram(u), None))


def _root(w: jax.Array, width: int) -> jax.Array:
    """U of shape (d, width) with U U^T = W, from the eigenvectors of the largest eigenvalues.

    W is scaled to unit size first: entries near 1e-82 would underflow inside the solver.
    """
    size = jnp.max(jnp.abs(w))
    safe = jnp.where(size > 0, size, jnp.ones_like(size))
    values, vectors = eigh(w / safe)
    # Round-off in a missing direction would grow like a real signal: exactly zero instead.
    floor = 4 * w.shape[0] * jnp.finfo(w.dtype).eps
    u = vectors * jnp.sqrt(jnp.where(values > floor, values, 0.0)) * jnp.sqrt(safe)
    u = u[:, ::-1][:, :width]
    return jnp.pad(u, ((0, 0), (0, width - u.shape[1])))
