"""Density and trace of a Hessian against the dense one, and against Marchenko and Pastur."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent
from dynascope.probes import HessianTrace, hessian_density
from dynascope.tasks import Blobs


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2)


@pytest.fixture(scope="module")
def network():
    random = np.random.default_rng(0)
    params = {"a": random.normal(size=(5, 8)), "b": random.normal(size=8)}
    params = jax.tree.map(lambda v: jnp.asarray(v, jnp.float32), params)
    data = tuple(jnp.asarray(random.normal(size=s), jnp.float32) for s in ((40, 5), (40,)))
    flat, restore = jax.flatten_util.ravel_pytree(params)
    dense = np.asarray(quick(jax.hessian(lambda v: loss(restore(v), *data)))(flat))
    return params, data, dense


def test_the_trace_lies_within_its_interval(network):
    params, data, dense = network
    found = hessian_density(loss, params, data=data, draws=64, products=4)
    assert found.trace.low < np.trace(dense) < found.trace.high
    assert (found.trace.high - found.trace.low) / np.trace(dense) < 0.2
    again = hessian_density(loss, params, data=data, draws=64, products=4)
    assert again.trace == found.trace


def test_intervals_of_the_trace_miss_one_time_in_twenty(network):
    params, data, dense = network
    ends = [hessian_density(loss, params, data=data, products=1, seed=s).trace for s in range(300)]
    missed = np.mean([not t.low <= np.trace(dense) <= t.high for t in ends])
    assert 0.01 < missed < 0.1


def test_shares_below_are_those_of_the_dense_spectrum(network):
    params, data, dense = network
    values = np.linalg.eigvalsh(dense)
    found = hessian_density(loss, params, data=data, draws=200, products=48)
    at = (values[1:] + values[:-1])[::5] / 2
    share, error = found.below(at)
    truth = (values <= at[:, None]).mean(axis=1)
    assert (np.abs(share - truth) < 5 * error + 0.01).all()
    x = np.linspace(values[0] - 3, values[-1] + 3, 4001)
    density, _ = found.density(x, width=0.3)
    assert np.trapezoid(density, x) == pytest.approx(1, abs=1e-3)


def test_a_random_regression_has_the_law_of_marchenko_and_pastur():
    samples, size = 1200, 400
    x = jnp.asarray(np.random.default_rng(3).normal(size=(samples, size)), jnp.float32)
    found = hessian_density(lambda w: jnp.sum((x @ w) ** 2) / (2 * samples), jnp.zeros(size))
    low, high = (1 - (size / samples) ** 0.5) ** 2, (1 + (size / samples) ** 0.5) ** 2
    at = np.linspace(low, high, 9)
    grid = np.linspace(low, high, 20001)
    law = np.sqrt((high - grid) * (grid - low)) / (2 * np.pi * size / samples * grid)
    truth = np.interp(at, grid, np.cumsum(law) * (grid[1] - grid[0]))
    # Steps of a quadrature with 32 products are at most about 1/20 high.
    assert np.abs(found.below(at)[0] - truth).max() < 0.05


def test_the_probe_records_the_trace_of_the_objective():
    task = Blobs(count=30, dimension=4)
    run = ds.simulate(
        task, ds.models.Linear(0.1), GradientDescent(0.01), steps=4, probes=[HessianTrace(16)]
    )
    found = run["hessian_trace"].values
    assert found.shape == (1, 5) and np.allclose(found, found[:, :1], rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"draws": 0}, "at least 1 random"), ({"products": 0}, "at least 1 product")],
)
def test_numbers_that_give_nothing_are_refused(options, words):
    with pytest.raises(BadInput, match=words):
        hessian_density(lambda w: jnp.sum(w**2), jnp.ones(3), **options)
    with pytest.raises(BadInput, match="at most"):
        hessian_density(lambda w: jnp.sum(w**2), jnp.ones(10**7), products=100)
    with pytest.raises(BadInput, match="above 0"):
        hessian_density(lambda w: jnp.sum(w**2), jnp.ones(3)).density([0.0], 0.0)
