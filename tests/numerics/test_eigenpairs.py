"""Eigenpairs by products alone, against numpy's dense ones."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.numerics import eigenpairs
from dynascope.numerics.eigenpairs import Eigenpairs, starts, top_eigenpairs

SIZE = 60  # one size and few settings: every other takes two seconds to compile


def symmetric(values, seed=0):
    """A dense symmetric matrix with these eigenvalues."""
    size = len(values)
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))
    return q @ np.diag(values) @ q.T


@partial(jax.jit, static_argnames=("which",))
def _solve(a, begin, which, tolerance, max_products):
    options = {"which": which, "tolerance": tolerance, "max_products": max_products}
    return top_eigenpairs(lambda v: a @ v, begin, **options)


def solve(matrix, count=1, warm=None, dtype="float64", which="largest", tolerance=1e-8, most=1000):
    with jax.enable_x64(dtype == "float64"):
        a = jnp.asarray(matrix, dtype)
        begin = starts(count, len(a), a.dtype, warm)
        return Eigenpairs(*map(np.asarray, _solve(a, begin, which, tolerance, most)))


SPREAD = np.concatenate([np.linspace(-3, 1, SIZE - 1), [1.5]])


def test_the_largest_by_sign_and_by_magnitude_with_their_vectors():
    a = symmetric(SPREAD)
    for which, value in (("largest", 1.5), ("magnitude", -3.0)):
        found = solve(a, which=which)
        assert abs(found.values[0] - value) <= 1e-12
        v = found.vectors[0]
        rest = np.linalg.norm(a @ v - found.values[0] * v)
        assert np.isclose(found.residuals[0], rest / abs(value), rtol=1e-3)
        assert found.converged[0] and found.residuals[0] <= 1e-8


def test_repeated_eigenvalues_come_as_often_as_they_occur_and_no_ghosts():
    """A peer returns one eigenvalue three times, each flagged as converged."""
    values = np.concatenate([np.linspace(0, 1, SIZE - 5), [1.4, 1.7, 2.0, 2.0, 2.0]])
    found = solve(symmetric(values), count=5, tolerance=1e-8)
    assert np.allclose(found.values, [2.0, 2.0, 2.0, 1.7, 1.4], rtol=0, atol=1e-12)
    assert np.abs(found.vectors @ found.vectors.T - np.eye(5)).max() <= 1e-12
    single = solve(symmetric(np.arange(float(SIZE))), count=5)
    assert np.allclose(single.values, SIZE - 1 - np.arange(5), rtol=1e-12)
    assert np.allclose(solve(np.eye(SIZE), count=5).values, 1, rtol=1e-12)
    assert (solve(np.zeros((SIZE, SIZE)), count=5).values == 0).all()


def test_many_restarts_still_converge_to_the_top():
    close = solve(symmetric(1 - np.linspace(0, 1, SIZE) ** 2))  # a cluster at the top
    assert close.converged[0] and close.products[0] > 60
    assert abs(close.values[0] - 1) <= 1e-12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_corner_cases_zero_one_number_negative(dtype):
    for matrix, value in (([[0.0]], 0.0), ([[2.0]], 2.0), ([[-2.0]], -2.0)):
        found = solve(matrix, dtype=dtype, tolerance=1e-4)
        assert found.values[0] == value and found.residuals[0] == 0 and found.converged[0]
    for values in (np.zeros(SIZE), -np.arange(1.0, SIZE + 1)):
        found = solve(symmetric(values), dtype=dtype, tolerance=1e-4)
        assert abs(found.values[0] - values[0]) <= 1e-4 and found.converged[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_zero_eigenvalue_is_not_positive_whatever_rounding_says(dtype):
    with jax.enable_x64(dtype == "float64"):
        for sign, positive in ((-1, False), (1, True)):
            found = solve(symmetric(sign * np.arange(float(SIZE))), dtype=dtype, tolerance=1e-4)
            assert bool(Eigenpairs(*map(jnp.asarray, found)).positive()[0]) == positive
            assert positive or abs(found.values[0]) <= 1e-3


@pytest.mark.parametrize("scale", [1e-20, 1e18])
def test_scales_whose_squares_leave_float32(scale):
    found = solve(symmetric(np.linspace(0, 1, SIZE) ** 3) * scale, dtype="float32", tolerance=1e-4)
    assert found.converged[0] and np.isclose(found.values[0], scale, rtol=1e-5)


def test_too_few_products_and_not_a_number_are_not_converged():
    few = solve(symmetric(np.linspace(0, 1, SIZE)), most=6)
    assert few.products[0] == 6 and not few.converged[0]
    assert few.values[0] < 1 and few.residuals[0] > 1e-8
    lost = solve(np.full((SIZE, SIZE), np.nan))
    assert not lost.converged[0] and np.isnan(lost.values[0])


def test_the_residual_is_that_of_the_vector_even_if_the_loop_is_fooled(monkeypatch):
    """Broken on purpose: a loop that thinks it is done cannot make a certificate."""
    honest = eigenpairs._step
    monkeypatch.setattr(eigenpairs, "_step", lambda *a: honest(*a)._replace(rest=jnp.zeros(())))
    a = jnp.asarray(symmetric(np.linspace(0, 1, SIZE)), "float32")
    found = jax.jit(lambda a, s: top_eigenpairs(lambda v: a @ v, s))(a, starts(1, SIZE, a.dtype))
    assert not found.converged[0] and found.residuals[0] > 0.1


def test_a_warm_start_takes_fewer_products_and_sees_what_has_overtaken():
    a = symmetric(SPREAD)
    cold = solve(a)
    warm = solve(a + 1e-4 * symmetric(SPREAD, 1), warm=cold.vectors)
    assert warm.products[0] < cold.products[0]
    # The old vector is still an eigenvector, exactly, but no longer the top one.
    other = np.linalg.eigh(a)[1][:, -2]
    overtaken = solve(a + 0.8 * np.outer(other, other), warm=cold.vectors)
    assert abs(overtaken.values[0] - 1.8) <= 1e-4


def test_lanes_give_what_each_gives_alone():
    many = jnp.asarray([symmetric(SPREAD * f, i) for i, f in enumerate((1.0, 0.5, 3.0))], "float32")

    one = partial(_solve, which="largest", tolerance=1e-4, max_products=1000)
    begin = starts(1, SIZE, jnp.float32)
    lanes = jax.jit(jax.vmap(one, (0, None)))(many, begin)
    for i in range(3):
        alone = one(many[i], begin)
        assert int(alone.products[0]) == int(lanes.products[i, 0])
        assert np.isclose(float(alone.values[0]), float(lanes.values[i, 0]), rtol=1e-6)
