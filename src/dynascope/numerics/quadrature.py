"""The spectrum of a symmetric operator as a whole, from products with random vectors.

Lanczos from a unit vector v gives a Gauss quadrature of the spectral measure v^T f(A) v; the
mean over random v is tr f(A) / size (stochastic Lanczos quadrature). Full reorthogonalisation,
so that no eigenvalue appears twice.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from dynascope.numerics.decompositions import eigh
from dynascope.numerics.eigenpairs import Multiply


class Quadrature(NamedTuple):
    """Nodes and weights per draw; the weights of a draw add to 1."""

    nodes: jax.Array  # (draws, products), eigenvalues of the small matrices, rising
    weights: jax.Array  # (draws, products)


def lanczos_quadrature(
    multiply: Multiply, key: jax.Array, size: int, dtype: jnp.dtype, draws: int, products: int
) -> Quadrature:
    """Gauss quadratures of the spectral measures of random sign vectors.

    Args:
        multiply: v -> A v for a symmetric A, shape (size,) to (size,).
        key: For the signs.
        size: Of the vectors.
        dtype: Of the vectors.
        draws: How many vectors.
        products: Products for each, at most `size`; polynomials of degree 2 products - 1 are
            integrated exactly.

    Returns:
        Nodes and weights. Once a Krylov space is exhausted, further nodes have weight 0.

    Example:
        >>> curves = jnp.array([1.0, 3.0])
        >>> key = jax.random.key(0)
        >>> found = lanczos_quadrature(lambda v: curves * v, key, 2, jnp.float32, 1, 2)
        >>> [round(float(v), 3) for v in (*found.nodes[0], *found.weights[0])]
        [1.0, 3.0, 0.5, 0.5]
    """
    signs = jax.random.rademacher(key, (draws, size)).astype(dtype) / jnp.sqrt(size).astype(dtype)
    # One after the other: a basis for each draw at a time would need draws times the memory.
    return Quadrature(*lax.map(lambda v: _one(multiply, v, products), signs))


def _one(multiply: Multiply, start: jax.Array, products: int) -> tuple[jax.Array, jax.Array]:
    def step(i: jax.Array, carry: tuple) -> tuple:
        basis, small, vector = carry
        basis = basis.at[i].set(vector)
        image = multiply(vector)
        row = basis @ image
        rest = image - row @ basis
        rest = rest - (basis @ rest) @ basis
        length = jnp.linalg.norm(rest)
        # What is left of an exhausted space is rounding; a zero vector adds nothing.
        gone = length <= 1e3 * jnp.finfo(start.dtype).eps * jnp.linalg.norm(image)
        vector = jnp.where(gone, jnp.zeros_like(rest), rest / jnp.where(gone, 1, length))
        return basis, small.at[i].set(row), vector

    basis = jnp.zeros((products, start.size), start.dtype)
    small = jnp.zeros((products, products), start.dtype)
    _, small, _ = lax.fori_loop(0, products, step, (basis, small, start))
    # Row i was taken before the later vectors were there: the lower half holds everything.
    lower = jnp.tril(small)
    nodes, vectors = eigh(lower + jnp.tril(small, -1).T)
    return nodes, vectors[0] ** 2
