"""Sharpness and output Hessians against dense ones and closed forms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput

from .networks import (
    convolutional,
    draws,
    fully_connected,
    hessian,
    masked_graph,
    transformer_block,
)


def squared(f, x, y):
    return lambda p: jnp.mean((f(p, x) - y) ** 2)


SLOW = [
    pytest.param(make, marks=pytest.mark.slow)
    for make in (masked_graph, transformer_block, convolutional)
]


@pytest.mark.parametrize("make", [fully_connected, *SLOW], ids=lambda m: m.__name__)
def test_sharpness_is_the_largest_eigenvalue_of_the_dense_hessian(make):
    with jax.enable_x64(True):
        f, params, x, y = make(draws(0))
        loss = squared(f, x, y)
        dense = hessian(loss, params)
        values, vectors = np.linalg.eigh(dense)
        found = probes.sharpness(loss, params, tolerance=1e-7)
        assert found.converged and np.isclose(found.value, values[-1], rtol=1e-10)
        assert jax.tree.map(jnp.shape, found.vector) == jax.tree.map(jnp.shape, params)
        flat = jax.flatten_util.ravel_pytree(found.vector)[0]
        assert abs(abs(flat @ vectors[:, -1]) - 1) <= 1e-8
        rest = np.linalg.norm(dense @ flat - found.value * flat) / found.value
        assert rest <= 1e-7 and np.isclose(rest, found.residual, atol=1e-12)


@pytest.mark.slow
def test_top_values_are_those_of_the_dense_hessian_without_copies():
    with jax.enable_x64(True):
        f, params, x, y = fully_connected(draws(1))
        loss = squared(f, x, y)
        values = np.linalg.eigvalsh(hessian(loss, params))[::-1]
        found = probes.hessian_top(loss, params, 4, tolerance=1e-7)
        assert np.allclose([pair.value for pair in found], values[:4], rtol=1e-9)


def test_the_output_hessian_norm_is_the_largest_magnitude_over_outputs():
    with jax.enable_x64(True):
        f, params, x, _ = fully_connected(draws(0))
        whole = hessian(lambda p: f(p, x[:2]).reshape(-1), params)  # (outputs, size, size)
        norms = np.abs(np.linalg.eigvalsh(whole)).max(-1)
        found = probes.output_hessian_norm(f, params, x[:2], tolerance=1e-7)
        assert found.converged and np.isclose(found.value, norms.max(), rtol=1e-10)


def two_layers(activation, width, size, seed):
    normal = draws(seed)
    params = [normal(size, width), normal(width)]
    f = lambda p, x: activation(x @ p[0] / size**0.5) @ p[1] / width**0.5  # noqa: E731
    return f, params, normal(1, size)


def test_closed_forms_of_two_layer_networks():
    """ReLU |x| / sqrt(m d) to 1e-8; tanh by neuron, and the dense one, to 1e-10."""
    with jax.enable_x64(True):
        m, d = 40, 5
        f, params, x = two_layers(jax.nn.relu, m, d, 0)
        found = probes.output_hessian_norm(f, params, x)
        assert np.isclose(found.value, np.linalg.norm(x) / (m * d) ** 0.5, rtol=1e-8)
        f, (u, v), x = two_layers(jnp.tanh, m, d, 1)
        z = np.asarray(x[0] @ u / d**0.5)
        slope = 1 / np.cosh(z) ** 2
        size = np.linalg.norm(x)
        a = np.asarray(v) * -2 * np.tanh(z) * slope * size**2 / (d * m**0.5)
        b = slope * size / (m * d) ** 0.5
        closed = (np.abs(a) / 2 + np.sqrt(a**2 / 4 + b**2)).max()
        dense = np.abs(np.linalg.eigvalsh(hessian(lambda p: f(p, x)[0], [u, v]))).max()
        assert np.isclose(closed, dense, rtol=1e-10)
        found = probes.output_hessian_norm(f, [u, v], x, tolerance=1e-7)
        assert np.isclose(found.value, closed, rtol=1e-10)


def test_a_linear_output_has_no_hessian():
    """One layer, H = 0."""
    found = probes.output_hessian_norm(lambda w, x: x @ w, jnp.ones(3), jnp.ones((2, 3)))
    assert found.value == 0 and found.converged and found.residual == 0


def test_one_parameter_and_a_loss_that_curves_down():
    down = probes.sharpness(lambda w: -3 * w**2, jnp.asarray(2.0))
    assert np.isclose(down.value, -6) and down.vector.shape == () and down.converged


@pytest.mark.slow
def test_a_warm_start_takes_fewer_products_and_the_data_may_change():
    f, params, x, y = fully_connected(draws(2))
    loss = lambda p, x, y: jnp.mean((f(p, x) - y) ** 2)  # noqa: E731
    cold = probes.sharpness(loss, params, data=(x, y))
    near = jax.tree.map(lambda p: p * 1.001, params)
    warm = probes.sharpness(loss, near, data=(x, y), start=cold.vector)
    again = probes.sharpness(loss, near, data=(x, y))
    assert warm.products < again.products and np.isclose(warm.value, again.value, rtol=1e-4)
    with pytest.raises(BadInput, match="the shape of params"):
        probes.sharpness(loss, params, data=(x, y), start=jnp.ones(3))


def test_records_pass_through_jit_and_vmap_and_keep_the_dtype():
    f, params, x, y = fully_connected(draws(3))
    loss = squared(f, x, y)
    many = jax.tree.map(lambda p: jnp.stack([p, 2 * p]), params)
    lanes = jax.jit(jax.vmap(lambda p: probes.sharpness(loss, p)))(many)
    for i, scale in enumerate((1, 2)):
        alone = probes.sharpness(loss, jax.tree.map(lambda p, s=scale: p * s, params))
        assert np.isclose(lanes.value[i], alone.value, rtol=1e-5)
        assert int(lanes.products[i]) == alone.products
    assert {v.dtype.name for v in jax.tree.leaves(alone.vector)} == {"float32"}
    assert isinstance(alone.value, float) and isinstance(alone.converged, bool)
    with pytest.raises(AttributeError):
        alone.value = 1.0


def test_the_probe_measures_what_the_function_does_and_moves_nothing():
    normal = draws(5)
    x, y = np.asarray(normal(6, 3)), np.asarray(normal(6))
    task, model = tasks.ArraySamples(x, y), models.MLP(2, 8, "tanh")
    options = {"steps": 4, "seeds": 2, "progress": False}
    rule = dynamics.GradientDescent(0.1)
    looks = [probes.Loss(), probes.Sharpness()]
    looks.append(probes.Sharpness(max_products=2, tolerance=1e-6, name="unsure"))
    run = ds.simulate(task, model, rule, probes=looks, **options)
    plain = ds.simulate(task, model, rule, probes=[probes.Loss()], **options)
    assert np.array_equal(run["loss"], plain["loss"])
    again = ds.simulate(task, model, rule, probes=looks, **options | {"seeds": [1, 7]})
    assert np.allclose(again["sharpness"][0], run["sharpness"][1], rtol=1e-5)
    assert np.isnan(run["unsure"]).all()  # never a number without a certificate
    with pytest.raises(BadInput, match="tolerance"):
        probes.Sharpness(tolerance=0.0)


@pytest.mark.slow
def test_along_a_run_the_probe_goes_on_from_its_last_vector():
    """Products for one look are too few; standing still, the next looks finish what it began."""
    normal = draws(7)
    x, y = np.asarray(normal(6, 3)), np.asarray(normal(6))
    task, model = tasks.ArraySamples(x, y), models.MLP(2, 8, "tanh")
    run = ds.simulate(
        task, model, dynamics.GradientDescent(1e-12), steps=20, progress=False,
        probes=[probes.Sharpness(max_products=9), probes.Sharpness(name="whole")],
    )  # fmt: skip
    few, whole = (run[name].values[0] for name in ("sharpness", "whole"))
    assert np.isnan(few[0]) and not np.isnan(whole[0])
    assert np.allclose(few[-5:], whole[-5:], rtol=1e-3)


def test_the_sharpness_of_a_quadratic_task_is_known():
    task = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.5, 0.5))
    run = ds.simulate(
        task, models.Linear(), dynamics.GradientDescent(0.1), steps=2, dtype="float64",
        probes=[probes.Sharpness(), probes.CriticalLearningRate()], progress=False,
    )  # fmt: skip
    largest = 0.25 + 4 / 2  # sigma^2 + mu^2 / s
    assert np.allclose(run["sharpness"], largest, rtol=1e-6)
    assert np.allclose(run["critical_learning_rate"], 2 / largest, rtol=1e-6)
