"""zhu2024: general quadratic models, corrected and as printed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dynascope.theories.catapult.models import (
    QuadraticState,
    general_kernel,
    general_step,
    printed_general_kernel,
    printed_pure_step,
    pure_quadratic,
    two_layer_form,
)


def random_model(n=4, p=6, seed=0):
    rng = np.random.default_rng(seed)
    hessians = rng.normal(size=(n, p, p))
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 20
    return rng.normal(size=(n, p)), hessians, rng.normal(size=n)


def descend(jacobian, hessians, residuals, rate, steps):
    """Descent in the parameters d of f = J d + d^T H d / 2, from d = 0."""
    d, path = np.zeros(jacobian.shape[1]), []
    for _ in range(steps + 1):
        r = residuals + jacobian @ d + np.einsum("p,npq,q->n", d, hessians, d) / 2
        j = jacobian + np.einsum("npq,q->np", hessians, d)
        path.append((r, j @ j.T))
        d = d - rate * r @ j
    return path


def test_the_corrected_equations_are_descent_and_the_printed_kernel_is_not():
    jacobian, hessians, residuals = random_model()
    rate = 1.5 / np.linalg.eigvalsh(jacobian @ jacobian.T)[-1]
    path = descend(jacobian, hessians, residuals, rate, 50)
    state, worst = QuadraticState(residuals, jacobian), 0.0
    for (r, k), (_, after) in itertools.pairwise(path):
        assert np.abs(state.residuals - r).max() < 1e-10 * np.abs(residuals).max()
        assert np.abs(state.kernel - k).max() < 1e-10 * np.abs(k).max()
        assert np.abs(general_kernel(state, hessians, rate) - after).max() < 1e-10 * np.abs(k).max()
        printed = printed_general_kernel(state, hessians, rate)
        worst = max(worst, np.abs(printed - after).max() / np.abs(after).max())
        state = general_step(state, hessians, rate)
    assert worst > 1e-3


def linear_network(d=3, m=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.normal(size=(m, d)), rng.normal(size=m)


@pytest.mark.parametrize("v", [0.5, 1.5, 2.5, 3.5])
def test_the_two_layer_linear_network_is_a_quadratic_map(v):
    x, first, second = linear_network()
    scale = 8**-0.5

    def seen():
        output = scale * second @ first @ x
        return output, scale**2 * (x @ x * second @ second + np.sum((first @ x) ** 2))

    output, kernel = seen()
    descent = pure_quadratic(v / kernel, scale, x @ x, output, kernel)
    path = descent.trajectory(40)
    for t in range(41):
        output, kernel = seen()
        assert path.residual[t] == pytest.approx(output, abs=1e-12 * np.abs(path.residual).max())
        assert path.kernel[t] == pytest.approx(kernel, rel=1e-12)
        move = descent.learning_rate * output * scale
        first, second = first - move * np.outer(second, x), second - move * first @ x


def test_the_printed_special_case_is_wrong():
    x, first, second = linear_network()
    scale = 8**-0.5
    output, kernel = (
        scale * second @ first @ x,
        scale**2 * (x @ x * second @ second + np.sum((first @ x) ** 2)),
    )
    rate = 2.5 / kernel
    right = pure_quadratic(rate, scale, x @ x, output, kernel).trajectory(1)
    wrong = printed_pure_step(output, kernel, rate, scale, x @ x)
    assert abs(wrong[0] - right.residual[1]) > 1e-3 * abs(output)
    assert abs(wrong[1] - right.kernel[1]) > 1e-3 * kernel


def test_the_form_of_the_network_has_a_cube_but_no_square():
    x, first, second = linear_network()
    form = two_layer_form(x, 8)
    weights = np.concatenate([first.ravel(), second])
    assert weights @ form @ weights / 2 == pytest.approx(second @ first @ x, rel=1e-12)
    assert np.allclose(form @ form @ form, (x @ x) * form, atol=1e-12)
    assert not np.allclose(form @ form, (x @ x) * np.eye(len(form)))
    one = two_layer_form(np.array([1.7]), 8)
    assert np.allclose(one @ one, 1.7**2 * np.eye(16))
