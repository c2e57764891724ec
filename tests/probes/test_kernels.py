"""Tangent kernels against the Jacobian, their memory, and their top eigenpairs."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput
from dynascope.numerics.layerwise import factors
from dynascope.probes import kernels

from .networks import NETWORKS, draws, fully_connected, jacobian, masked_graph


def apart(one, other):
    return np.abs(np.asarray(one) - np.asarray(other)).max() / np.abs(np.asarray(other)).max()


@pytest.mark.slow
@pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)
def test_the_kernel_is_the_product_of_jacobians_whole_in_blocks_and_matrix_free(make, monkeypatch):
    """To 1e-10, symmetric, positive semi-definite."""
    with jax.enable_x64(True):
        f, params, x, _ = make(draws(0))
        j = jacobian(f, params, x)
        dense = np.asarray(j @ j.T)
        kernel = np.asarray(probes.tangent_kernel(f, params, x))
        out = jax.eval_shape(f, params, x)
        assert kernel.shape == (out.size,) * 2
        assert apart(kernel, dense) <= 1e-12 and (kernel == kernel.T).all()
        values = np.linalg.eigvalsh(kernel)
        assert values[0] >= -1e-12 * values[-1]
        assert (
            apart(probes.tangent_kernel(f, params, x, x[:2]), dense[:, : 2 * len(j) // len(x)])
            <= 1e-12
        )
        monkeypatch.setattr(kernels, "BLOCK_BYTES", 1)
        assert kernels.kernel_size(f, params, x).block == 1
        assert apart(probes.tangent_kernel(f, params, x), dense) <= 1e-12
        top = probes.tangent_kernel_top(f, params, x, 2, tolerance=1e-8)
        assert np.allclose([pair.value for pair in top], values[::-1][:2], rtol=1e-12)
        assert top[0].vector.shape == out.shape and all(pair.converged for pair in top)


def test_blocks_that_do_not_divide_the_samples(monkeypatch):
    with jax.enable_x64(True):
        f, params, x, _ = fully_connected(draws(1))
        whole = probes.tangent_kernel(f, params, x)
        size = 8 * kernels.numbers_per_sample(f, params, x)
        monkeypatch.setattr(kernels, "BLOCK_BYTES", 2 * size)
        assert kernels.kernel_size(f, params, x).block == 2  # of 5
        assert apart(probes.tangent_kernel(f, params, x), whole) <= 1e-14
        cross = probes.tangent_kernel(f, params, x, x[:3])
        assert apart(cross, whole[:, :6]) <= 1e-14


def test_which_weights_are_contracted_layer_by_layer():
    """Broken on purpose by weights used twice, over positions, or under a mask: kept whole."""
    with jax.enable_x64(True):
        f, params, x, _ = fully_connected(draws(0))
        found = jax.jit(partial(factors, f))(params, x)
        assert sorted(a.shape[1] for a, _ in found.layers) == [6, 9, 9]
        assert found.rest.shape == (5, 2, 18)  # the two offsets
        f, params, x, _ = masked_graph(draws(0))
        assert jax.eval_shape(partial(factors, f), params, x).rest.shape[2] == 35 + 84 + 19
        normal = draws(2)
        square, extra, rows = normal(4, 4), normal(3), normal(5, 4)
        twice = lambda p, x: jnp.tanh(x @ p[0]) @ p[0]  # noqa: E731
        assert not jax.eval_shape(partial(factors, twice), [square, extra], rows).layers
        j = jacobian(twice, [square], rows)
        assert apart(probes.tangent_kernel(twice, [square, extra], rows), j @ j.T) <= 1e-13
        met = lambda p, x: x[:, 0] * (p[0] @ p[1])[0]  # noqa: E731
        pair = [normal(1, 3), extra]
        j = jacobian(met, pair, rows)
        assert apart(probes.tangent_kernel(met, pair, rows), j @ j.T) <= 1e-13


def test_memory_is_predicted_and_a_kernel_that_does_not_fit_is_refused():
    f, params, x, _ = fully_connected(draws(0))
    plan = kernels.kernel_size(f, params, x)
    assert plan.bytes >= 4 * 10 * 10 + 2 * 4 * 5 * kernels.numbers_per_sample(f, params, x)
    with pytest.raises(BadInput, match=r"10 x 10 would take about .* GB.*tangent_kernel_top"):
        probes.tangent_kernel(f, params, x, memory=1e-9)
    many = jnp.zeros((200_000, 6))  # 400,000^2 numbers of 4 bytes, twice: 1.19e+03 GB
    with pytest.raises(BadInput, match=r"400,000 x 400,000 would take about 1\.\d+e\+03 GB"):
        probes.tangent_kernel(lambda p, x: jnp.tanh(x @ p), jnp.ones((6, 2)), many)


def test_a_batch_statistic_is_refused_but_has_top_eigenpairs():
    with jax.enable_x64(True):
        x, w = draws(3)(6, 4), draws(4)(4)
        f = lambda w, x: (x - x.mean(0)) @ w  # noqa: E731
        with pytest.raises(BadInput, match="depend on other rows"):
            probes.tangent_kernel(f, w, x)
        j = jacobian(f, w, x)
        (top,) = probes.tangent_kernel_top(f, w, x, tolerance=1e-8)
        assert np.isclose(top.value, np.linalg.eigvalsh(j @ j.T)[-1], rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "params", "x", "words"),
    [
        (lambda w, x: x @ w, jnp.ones(2, int), jnp.ones((3, 2)), "floating"),
        (lambda w, x: (x @ w).sum(), jnp.ones(2), jnp.ones((3, 2)), "one row for each of 3"),
        (lambda w, x: x @ w, jnp.ones(2), jnp.ones((0, 2)), "at least one sample"),
    ],
)
def test_bad_input_is_refused_in_one_line(f, params, x, words):
    with pytest.raises(BadInput, match=words):
        probes.tangent_kernel(f, params, x)
    with pytest.raises(BadInput, match="from 1 to 3"):
        probes.tangent_kernel_top(lambda w, x: x @ w, jnp.ones(2), jnp.ones((3, 2)), 4)


def test_the_gradient_dominates_the_loss_by_the_smallest_eigenvalue():
    """PL*: |grad L|^2 >= 2 lambda_min(K) L, with equality for one sample."""
    with jax.enable_x64(True):
        f, params, x, y = masked_graph(draws(0))

        @jax.jit
        def sides(params, x, y):
            half = lambda p: jnp.sum((f(p, x) - y) ** 2) / 2  # noqa: E731
            square = sum(jnp.sum(g**2) for g in jax.tree.leaves(jax.grad(half)(params)))
            smallest = jnp.linalg.eigvalsh(kernels._kernel(f, len(x), params, x, None))[0]
            return square, 2 * smallest * half(params)

        for seed in range(100):
            normal = draws(seed)
            somewhere = [normal(*p.shape) for p in params]
            square, bound = sides(somewhere, x, y)
            assert square >= bound * (1 - 1e-12)
            square, bound = sides(somewhere, x[:1], y[:1])
            assert np.isclose(square, bound, rtol=1e-10)


def test_probes_in_simulate_agree_with_the_functions_and_move_nothing():
    normal = draws(5)
    task = tasks.ArraySamples(np.asarray(normal(6, 3)), np.asarray(normal(6)))
    model = models.MLP(2, 8, "tanh")
    measured = [probes.Loss(), probes.TangentKernel(), probes.TangentKernelNorm(tolerance=1e-6),
                probes.TangentKernelSpectrum(count=2, tolerance=1e-6)]  # fmt: skip
    options = {"steps": 3, "seeds": 2, "dtype": "float64", "progress": False}
    rule = dynamics.GradientDescent(0.1)
    run = ds.simulate(task, model, rule, probes=measured, **options)
    plain = ds.simulate(task, model, rule, probes=[probes.Loss()], **options)
    assert np.array_equal(run["loss"], plain["loss"])
    values = np.linalg.eigvalsh(run["tangent_kernel"].values)
    assert run["tangent_kernel"].dims == ("seed", "step", "row", "column")
    assert np.allclose(run["tangent_kernel_norm"], values[..., -1], rtol=1e-8)
    assert np.allclose(run["tangent_kernel_spectrum"], values[..., :-3:-1], rtol=1e-8)


def test_tasks_without_inputs_and_targets_are_refused():
    task = tasks.IdentityMapping(means=(1.0,), scales=(0.1,))
    for probe in (probes.TangentKernel(), probes.TangentKernelNorm()):
        with pytest.raises(BadInput, match=r"needs a task whose samples are \(inputs, targets\)"):
            ds.simulate(
                task, models.Linear(), dynamics.GradientDescent(0.1), steps=1, probes=[probe]
            )
