"""The infinite-width kernel: closed values, Monte Carlo over wide networks, critical rates."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope import models, theories
from dynascope.core.errors import BadInput
from dynascope.runtime.precision import precision


def layerwise(params, x):
    """Tangent kernel of an MLP in the tangent kernel's scaling, without the Jacobian (P1)."""
    hs, h = [x], x
    for w in params[:-1]:
        z = h @ w.T / h.shape[1] ** 0.5
        h = np.maximum(z, 0)
        hs.append(h)
    d, kernel = np.ones((len(x), 1)), 0
    for h, w in zip(hs[::-1], params[::-1], strict=True):
        kernel = kernel + (h @ h.T) * (d @ d.T) / h.shape[1]
        d = (d @ w) / h.shape[1] ** 0.5 * (h > 0)
    return kernel


def wide_kernel(x, width, depth, seed):
    with precision("float64"):
        network = models.MLP(depth, width, "relu", parameterization="ntk").build(x.shape[1], 1)
        params = [np.asarray(p["weight"]) for p in network.init(jax.random.key(seed))]
    return layerwise(params, x)


def test_layerwise_kernel_is_that_of_the_jacobian():
    x = np.random.default_rng(0).normal(size=(5, 4))
    with precision("float64"):
        for depth in range(1, 6):
            network = models.MLP(depth, 6, "relu", parameterization="ntk").build(4, 1)
            params = network.init(jax.random.key(depth))
            rows = jax.jit(jax.jacrev(lambda p, f=network.apply: f(p, x)[:, 0]))(params)
            flat = np.concatenate([np.asarray(r).reshape(5, -1) for r in jax.tree.leaves(rows)], 1)
            ours = layerwise([np.asarray(p["weight"]) for p in params], x)
            assert np.allclose(flat @ flat.T, ours, rtol=1e-10, atol=1e-12)


def test_values_for_equal_and_orthogonal_inputs():
    x = np.sqrt(3) * np.eye(3)[:2]
    diagonal = [theories.infinite_width_kernel(x, depth)[0] for depth in range(1, 7)]
    assert np.allclose([d[0] for d in diagonal], [1, 1, 0.75, 0.5, 0.3125, 0.1875], rtol=1e-12)
    expected = [0, 0.15915, 0.17143, 0.13255, 0.08940, 0.05601]
    assert np.allclose([d[1] for d in diagonal], expected, atol=6e-6)


@pytest.mark.parametrize(("depth", "width"), [(2, 4096), (3, 2048)])
def test_wide_networks_have_nearly_this_kernel(depth, width):
    x = np.random.default_rng(0).normal(size=(6, 20))
    predicted = theories.infinite_width_kernel(x, depth)
    found = np.mean([wide_kernel(x, width, depth, seed) for seed in range(2)], axis=0)
    assert np.linalg.norm(found - predicted, 2) < 0.05 * np.linalg.norm(predicted, 2)
    wrong = theories.infinite_width_kernel(x, depth + 1)
    assert np.linalg.norm(found - wrong, 2) > 0.15 * np.linalg.norm(predicted, 2)


def test_critical_rates_of_normal_data():
    """zhu2024 section 0: n / lambda_1 on N(0, I_100); and 0.51 with offsets."""
    x = np.random.default_rng(0).normal(size=(128, 100))
    for depth, expected in ((2, 5.99), (4, 7.40), (5, 11.0)):
        top = np.linalg.eigvalsh(theories.infinite_width_kernel(x, depth))[-1]
        assert np.isclose(128 / top, expected, rtol=0.03)
    top = np.linalg.eigvalsh(theories.infinite_width_kernel(x, 2, bias=True))[-1]
    assert np.isclose(128 / top, 0.51, rtol=0.03)


def test_critical_rate_of_a_network_of_width_1024_is_about_six():
    x = np.random.default_rng(0).normal(size=(128, 100))
    rate = 128 / np.linalg.eigvalsh(wide_kernel(x, 1024, 2, 0))[-1]
    assert 5.5 < rate < 6.5


def test_kernel_between_two_sets_is_a_block_of_the_whole():
    x = np.random.default_rng(0).normal(size=(7, 5))
    whole = theories.infinite_width_kernel(x, 3, bias=True)
    block = theories.infinite_width_kernel(x[:3], 3, other=x[3:], bias=True)
    assert np.allclose(block, whole[:3, 3:], rtol=1e-12)
    assert np.linalg.eigvalsh(whole).min() > 0 and np.allclose(whole, whole.T)


def test_an_input_of_zero_has_a_row_of_zeros():
    kernel = theories.infinite_width_kernel([[0.0, 0.0], [1.0, 2.0]], 4)
    assert not kernel[0].any() and np.isfinite(kernel).all()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: theories.infinite_width_kernel(np.ones(3), 2), "one row a sample"),
        (lambda: theories.infinite_width_kernel(np.ones((2, 3)), 0), "depth"),
        (lambda: theories.infinite_width_kernel(np.eye(2), 2, other=np.eye(3)), "other"),
    ],
)
def test_bad_input_is_refused(call, told):
    with pytest.raises(BadInput, match=told):
        call()
