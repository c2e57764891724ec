"""Lanczos quadrature against dense spectra."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.numerics.quadrature import lanczos_quadrature
from dynascope.runtime.precision import precision


def matrix(size, seed=0):
    a = np.random.default_rng(seed).normal(size=(size, size))
    return a + a.T


@pytest.mark.parametrize("products", [1, 3, 8])
def test_moments_up_to_twice_the_products_are_those_of_the_vectors(products):
    """Gauss quadrature is exact for polynomials of degree 2 products - 1, draw by draw."""
    size, draws = 20, 3
    a = matrix(size)
    with precision("float64"):
        key = jax.random.key(1)
        found = lanczos_quadrature(
            lambda v: jnp.asarray(a) @ v, key, size, jnp.float64, draws, products
        )
        signs = np.asarray(jax.random.rademacher(key, (draws, size)), float) / size**0.5
    nodes, weights = (np.asarray(part) for part in found)
    for draw in range(draws):
        for power in range(2 * products):
            dense = signs[draw] @ np.linalg.matrix_power(a, power) @ signs[draw]
            ours = weights[draw] @ nodes[draw] ** power
            assert np.isclose(ours, dense, rtol=1e-8)


def test_an_exhausted_space_adds_nothing():
    """Two distinct eigenvalues: every node with weight is one of them."""
    curves = jnp.array([1.0] * 5 + [4.0] * 3)
    found = lanczos_quadrature(lambda v: curves * v, jax.random.key(0), 8, jnp.float32, 4, 6)
    nodes, weights = np.asarray(found.nodes), np.asarray(found.weights)
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-5)
    for value, share in ((1.0, 5 / 8), (4.0, 3 / 8)):
        near = np.abs(nodes - value) < 1e-3
        assert np.allclose((weights * near).sum(axis=1), share, atol=1e-4)
