"""Closed-form linear dynamics against steps that are taken, and against a trained model."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope import dynamics, models, theories
from dynascope.core.errors import BadInput
from dynascope.dynamics.base import Objective
from dynascope.runtime.precision import precision


def problem(n=6, seed=0, rank=None):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, rank or 2 * n))
    return rows @ rows.T, random.normal(size=n), random.normal(size=n)


@pytest.mark.parametrize("loss", ["half", "mse"])
def test_residual_is_the_power_of_the_matrix(loss):
    kernel, start, target = problem()
    rate = 1.3 / np.linalg.eigvalsh(kernel)[-1] * (3 if loss == "mse" else 1)
    found = theories.linear_descent(kernel, start, target, rate, [0, 1, 50], loss=loss)
    step = np.eye(6) - rate * (1 if loss == "half" else 2 / 6) * kernel
    for row, t in zip(found.train, (0, 1, 50), strict=True):
        dense = np.linalg.matrix_power(step, t) @ (start - target)
        assert np.allclose(row - target, dense, rtol=1e-10, atol=1e-13)
    assert np.isclose(
        found.loss[0], ((start - target) ** 2).sum() * (0.5 if loss == "half" else 1 / 6)
    )


@pytest.mark.parametrize("loss", ["half", "mse"])
def test_descent_converges_exactly_below_the_critical_rate(loss):
    kernel, start, target = problem(seed=1)
    critical = 2 / np.linalg.eigvalsh(kernel)[-1] * (1 if loss == "half" else 6 / 2)
    losses = [
        theories.linear_descent(
            kernel, start, target, factor * critical, [0, 20_000], loss=loss
        ).loss
        for factor in (0.99, 1.01)
    ]
    assert losses[0][1] < 1e-3 * losses[0][0] and losses[1][1] > 1e6 * losses[1][0]


@pytest.mark.parametrize("rank", [None, 3])
def test_outputs_elsewhere_follow_the_steps_taken(rank):
    """Also where the kernel is singular: those directions never move."""
    kernel, start, target = problem(rank=rank)
    random = np.random.default_rng(5)
    cross, there = random.normal(size=(4, 6)), random.normal(size=4)
    rate = 1.7 / np.linalg.eigvalsh(kernel)[-1]
    found = theories.linear_descent(
        kernel, start, target, rate, range(30), test_kernel=cross, test_start=there
    )
    f, g = start.copy(), there.copy()
    for t in range(30):
        assert np.allclose(found.train[t], f, rtol=1e-10, atol=1e-12)
        assert np.allclose(found.test[t], g, rtol=1e-10, atol=1e-12)
        f, g = f - rate * kernel @ (f - target), g - rate * cross @ (f - target)


def test_a_direction_that_the_kernel_does_not_see_still_moves_outputs_elsewhere():
    found = theories.linear_descent(
        np.diag([2.0, 0.0]), [1.0, 1.0], [0.0, 0.0], 0.25, [0, 1, 4],
        test_kernel=[[0.0, 1.0]], test_start=[0.0],
    )  # fmt: skip
    assert found.train[:, 1].tolist() == [1.0, 1.0, 1.0]
    assert found.test.ravel().tolist() == [0.0, -0.25, -1.0]


def test_the_linear_model_trained_by_descent_is_the_closed_form():
    """P5: the same numbers from parameters that are moved step by step, to 1e-10."""
    random = np.random.default_rng(2)
    x, y, z = random.normal(size=(5, 3)), random.normal(size=5), random.normal(size=(4, 3))
    with precision("float64"):
        inner = models.MLP(3, 12, "tanh", parameterization="ntk").build(3, 1)
        network = models.Linearized(models.MLP(3, 12, "tanh", parameterization="ntk")).build(3, 1)
        params = network.init(jax.random.key(0))
        rows = [
            np.concatenate([np.asarray(a).reshape(len(p), -1) for a in jax.tree.leaves(
                jax.jit(jax.jacrev(lambda w, p=p: inner.apply(w, p)[:, 0]))(params["anchor"]))], 1)
            for p in (x, z)
        ]  # fmt: skip
        kernel, cross = rows[0] @ rows[0].T, rows[1] @ rows[0].T
        rate = 1.5 / np.linalg.eigvalsh(kernel)[-1]
        goal = Objective(
            lambda p, s: jnp.sum((network.apply(p, s[0])[:, 0] - s[1]) ** 2) / 2,
            (jnp.asarray(x), jnp.asarray(y)), jax.random.key(0), None,
        )  # fmt: skip
        rule = dynamics.GradientDescent(rate)
        end = rule.advance(rule.begin(params, goal), goal, 0, 40, (0.0, 0.0)).params
        start, there = (np.asarray(network.apply(params, p))[:, 0] for p in (x, z))
        trained, elsewhere = (np.asarray(network.apply(end, p))[:, 0] for p in (x, z))
    found = theories.linear_descent(
        kernel, start, y, rate, [40], test_kernel=cross, test_start=there
    )
    assert np.abs(found.train[0] - trained).max() <= 1e-10
    assert np.abs(found.test[0] - elsewhere).max() <= 1e-10


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="kernel"):
        theories.linear_descent(np.eye(3), [0.0, 1.0], [0.0, 1.0], 0.1, [1])
    with pytest.raises(BadInput, match="half"):
        theories.linear_descent(np.eye(1), [0.0], [1.0], 0.1, [1], loss="sum")
