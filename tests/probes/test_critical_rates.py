"""Critical learning rates: definitions, conventions, and what they have in common."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput

from .networks import draws, fully_connected, hessian, jacobian, masked_graph

DEFINITIONS = ("hessian", "gauss_newton", "tangent_kernel")


def rate(f, params, x, y, loss="mse", definition="hessian", batch=None):
    found = probes.critical_learning_rate(f, params, x, y, loss, definition, batch, tolerance=1e-7)
    assert found.converged
    return found.value


@pytest.mark.slow
def test_definitions_and_conventions_against_dense_matrices():
    """Identities to 1e-10, with two outputs."""
    with jax.enable_x64(True):
        f, params, x, y = fully_connected(draws(0))
        j = jacobian(f, params, x)
        n, top = y.size, np.linalg.eigvalsh(j @ j.T)[-1]
        matrix = np.linalg.eigvalsh((2 / n) * j.T @ j)[-1]
        assert np.isclose(matrix, 2 / n * top, rtol=1e-10)
        for definition in ("gauss_newton", "tangent_kernel"):
            assert np.isclose(rate(f, params, x, y, "mse", definition), n / top, rtol=1e-10)
            assert np.isclose(rate(f, params, x, y, "half", definition), 2 / top, rtol=1e-10)
        dense = hessian(lambda p: jnp.mean((f(p, x) - y) ** 2), params)
        mse = rate(f, params, x, y)
        assert np.isclose(mse, 2 / np.linalg.eigvalsh(dense)[-1], rtol=1e-10)
        assert np.isclose(rate(f, params, x, y, "half"), mse * 2 / n, rtol=1e-10)


@pytest.mark.slow
def test_a_batch_is_what_its_rows_give_alone():
    with jax.enable_x64(True):
        f, params, x, y = masked_graph(draws(0))
        rows = [4, 1, 2]
        for definition in DEFINITIONS:
            own = rate(f, params, x, y, "mse", definition, rows)
            alone = rate(f, params, x[jnp.array(rows)], y[jnp.array(rows)], "mse", definition)
            assert np.isclose(own, alone, rtol=1e-12)


@pytest.mark.slow
def test_the_kernel_rate_approaches_the_hessian_rate_with_width():
    """The gap shrinks from m = 16 to 1024 and is at most 2 % there."""

    def f(p, x):
        return jax.nn.relu(x @ p[0] / 10**0.5) @ p[1] / len(p[1]) ** 0.5

    gaps = []
    for width in (16, 128, 1024):
        each = []
        for seed in range(3):
            normal = draws(seed)
            x = normal(20, 10)
            y, params = jnp.sign(x[:, 0]), [normal(10, width), normal(width)]
            kernel = probes.critical_learning_rate(f, params, x, y, definition="tangent_kernel")
            full = probes.critical_learning_rate(f, params, x, y)
            each.append(abs(full.value - kernel.value) / kernel.value)
        gaps.append(np.mean(each))
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] <= 0.02


def test_descent_on_a_linear_model_converges_just_below_and_not_just_above():
    with jax.enable_x64(True):
        normal = draws(1)
        x, y = normal(8, 3), normal(8)
        f = lambda w, x: x @ w  # noqa: E731
        for loss in ("mse", "half"):
            value = lambda w, loss=loss: (  # noqa: E731
                jnp.mean((f(w, x) - y) ** 2) if loss == "mse" else jnp.sum((f(w, x) - y) ** 2) / 2
            )
            for share, grows in ((0.99, False), (1.01, True)):
                eta = share * rate(f, jnp.zeros(3), x, y, loss)
                step = lambda _, w, e=eta, v=value: w - e * jax.grad(v)(w)  # noqa: E731
                end = jax.lax.fori_loop(0, 2000, step, jnp.zeros(3))
                assert (float(value(end)) > 1e3) == grows


def test_no_positive_curvature_gives_infinity_and_says_so():
    f, x, y = (lambda w, x: -(w[0] ** 2) * x[:, 0]), jnp.ones((2, 1)), -jnp.ones(2) * 5
    found = probes.critical_learning_rate(f, jnp.zeros(1), x, y)  # 2 (f - y) f'' < 0
    assert found.value == float("inf") and found.converged and "infinite" in found.definition
    flat = probes.critical_learning_rate(f, jnp.zeros(1), x, y, definition="tangent_kernel")
    assert flat.value == float("inf")


def test_the_record_says_which_loss_reduction_and_batch():
    f, params, x, y = fully_connected(draws(0))
    text = probes.critical_learning_rate(f, params, x, y, batch=[0, 1]).definition
    assert "loss Hessian" in text and "2 samples x 2 outputs" in text and "2 of 5" in text
    text = probes.critical_learning_rate(f, params, x, y, "half", "tangent_kernel").definition
    assert "half the sum" in text and "2 / largest eigenvalue of the tangent kernel" in text


@pytest.mark.slow
def test_columns_and_rows_of_targets_do_not_broadcast():
    with jax.enable_x64(True):
        f, params, x, y = masked_graph(draws(0))  # outputs (n,)
        column = lambda p, x: f(p, x)[:, None]  # noqa: E731
        assert np.isclose(rate(f, params, x, y), rate(column, params, x, y), rtol=1e-12)
        assert np.isclose(rate(f, params, x, y), rate(f, params, x, y[:, None]), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "mae"}, "did you mean"),
        ({"definition": "ntk"}, "unknown definition"),
        ({"batch": 32}, "numbers of rows"),
        ({"batch": [99]}, "below 5"),
        ({"y": jnp.zeros((5, 3))}, "outputs' shape"),
        ({"start": jnp.zeros(3)}, "a vector of shape"),
    ],
)
def test_bad_input_is_refused_in_one_line(options, words):
    f, params, x, y = fully_connected(draws(0))
    with pytest.raises(BadInput, match=words):
        probes.critical_learning_rate(**{"f": f, "params": params, "x": x, "y": y} | options)


@pytest.mark.slow
@pytest.mark.parametrize("reduction", ["mse", pytest.param("half", marks=pytest.mark.slow)])
def test_the_probe_takes_the_tasks_own_loss(reduction):
    normal = draws(5)
    x, y = np.asarray(normal(6, 3)), np.asarray(normal(6, 2))
    task = tasks.ArraySamples(x, y, reduction=reduction)
    model = models.MLP(2, 8, "tanh")
    seen = [probes.CriticalLearningRate(d, tolerance=1e-6, name=d) for d in DEFINITIONS]
    run = ds.simulate(task, model, dynamics.GradientDescent(0.01), steps=1, probes=seen,
                      dtype="float64", progress=False)  # fmt: skip
    with jax.enable_x64(True):
        from dynascope.core.randomness import key_for
        from dynascope.runtime.precision import cast

        network = model.build(3, 2)
        params = cast(network.init(key_for(np.uint32(0), "init")), "float64")
        for definition in DEFINITIONS:
            alone = rate(network.apply, params, x, y, reduction, definition)
            assert np.isclose(run[definition][0, 0], alone, rtol=1e-8)


@pytest.mark.slow
def test_a_loss_that_is_no_squared_error_has_no_kernel_rate():
    from dataclasses import dataclass

    @dataclass(frozen=True, eq=False)
    class Quartic(tasks.ArraySamples):
        def loss(self, predict, samples):
            return jnp.mean((predict(samples[0]) - samples[1]) ** 4)

    normal = draws(5)
    task = Quartic(np.asarray(normal(6, 3)), np.asarray(normal(6)))
    seen = [probes.CriticalLearningRate(d, name=d) for d in DEFINITIONS]
    run = ds.simulate(task, models.MLP(2, 4, "tanh"), dynamics.GradientDescent(0.01), steps=1,
                      probes=seen, progress=False)  # fmt: skip
    assert np.isnan(run["tangent_kernel"]).all()
    assert np.isfinite(run["gauss_newton"]).all()


@pytest.mark.slow
def test_rates_of_cross_entropy_against_dense_matrices():
    """Classes as numbers and as rows; Hessian and Gauss-Newton; not by way of the kernel."""
    with jax.enable_x64(True):
        f, params, x, _ = fully_connected(draws(0))
        classes = np.arange(len(x)) % 2
        rows = np.eye(2)[classes]

        def objective(p):
            return -jnp.mean(jnp.sum(rows * jax.nn.log_softmax(f(p, x)), axis=-1))

        dense = np.linalg.eigvalsh(hessian(objective, params))[-1]
        for y in (classes, rows):
            assert np.isclose(rate(f, params, x, y, "cross_entropy"), 2 / dense, rtol=1e-8)
        p = np.asarray(jax.nn.softmax(f(params, x)))  # (n, 2)
        blocks = [np.diag(q) - np.outer(q, q) for q in p]
        j = jacobian(f, params, x).reshape(len(x), 2, -1)
        matrix = sum(g.T @ b @ g for g, b in zip(j, blocks)) / len(x)
        top = np.linalg.eigvalsh(matrix)[-1]
        found = rate(f, params, x, classes, "cross_entropy", "gauss_newton")
        assert np.isclose(found, 2 / top, rtol=1e-8)
        with pytest.raises(BadInput, match="multiple of the identity"):
            rate(f, params, x, classes, "cross_entropy", "tangent_kernel")
        with pytest.raises(BadInput, match="classes from 0 to 1"):
            rate(f, params, x, classes + 1, "cross_entropy")
        with pytest.raises(BadInput, match="one for each row"):
            rate(f, params, x, classes[:3], "cross_entropy")
