"""zhu2024: one-dimensional data, direction by direction."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.catapult.directions import (
    along_directions,
    directions,
    half_rate,
    matrix_step,
    printed_reduction,
)

from .gated import Gated, followed


def clusters(count=128, seed=0):
    labels = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return np.random.default_rng(seed).normal(2 * labels, 1.0), labels


def values(kernel, found):
    return tuple(float(d.unit @ kernel @ d.unit) for d in found)


@pytest.mark.parametrize("multiple", [0.9, 1.6])
def test_the_matrix_equations_are_descent_in_the_weights(multiple):
    x, y = clusters()
    kernel = Gated(x[:, None], y, 5000).kernel()
    rate = multiple * 2 / np.linalg.eigvalsh(kernel)[-1]
    residuals, kernels = followed(Gated(x[:, None], y, 5000), rate, 12)
    r, k = residuals[0], kernels[0]
    for seen, matrix in zip(residuals, kernels, strict=True):
        assert np.abs(r - seen).max() < 1e-10 * np.abs(seen).max()
        assert np.abs(k - matrix).max() < 1e-10 * np.abs(matrix).max()
        r, k = matrix_step(r, k, x, y, 5000, rate)


def test_the_kernel_has_two_eigenvectors_that_never_move():
    x, y = clusters()
    rate = 1.3 * 2 / np.linalg.eigvalsh(Gated(x[:, None], y, 1000).kernel())[-1]
    _, kernels = followed(Gated(x[:, None], y, 1000), rate, 12)
    for kernel in kernels:
        spectrum = np.linalg.eigvalsh(kernel)
        assert (spectrum[:-2] < 1e-10 * spectrum[-1]).all()
        for d in directions(x):
            value = d.unit @ kernel @ d.unit
            assert np.linalg.norm(kernel @ d.unit - value * d.unit) < 1e-10 * spectrum[-1]


@pytest.mark.parametrize("multiple", [0.5, 1.2, 1.8])
def test_each_direction_is_a_map_of_its_own_and_nothing_else_moves(multiple):
    x, y = clusters()
    model, found = Gated(x[:, None], y, 600), directions(x)
    kernel = model.kernel()
    rate = multiple * 2 / np.linalg.eigvalsh(kernel)[-1]
    maps = along_directions(x, y, model.outputs(), values(kernel, found), 600, rate)
    residuals, kernels = followed(model, rate, 40)
    inside = np.zeros_like(residuals)
    for direction, descent in zip(found, maps, strict=True):
        path = descent.trajectory(40)
        along = residuals @ direction.unit
        assert np.abs(path.residual - along).max() < 1e-10 * np.abs(along).max()
        eigenvalue = np.einsum("i,tij,j->t", direction.unit, kernels, direction.unit)
        assert np.abs(path.kernel / eigenvalue - 1).max() < 1e-10
        inside += along[:, None] * direction.unit
    outside = ((residuals - inside) ** 2).sum(axis=1)
    assert np.abs(outside / outside[0] - 1).max() < 1e-9


def test_the_printed_reduction_is_wrong():
    x, y = clusters()
    model, d = Gated(x[:, None], y, 1000), directions(x)[0]
    rate = 1.2 * 2 / np.linalg.eigvalsh(model.kernel())[-1]
    residuals, kernels = followed(model, rate, 6)
    before, after = (float(d.unit @ kernels[t] @ d.unit) for t in (5, 6))
    said = printed_reduction(residuals[5], y, before, d, 1000, rate)
    assert abs(said - after) > 1e-3 * before
    assert abs((said - before) / (after - before)) < 0.1  # it lacks the factor |p|^2


def test_inputs_of_one_sign_give_one_direction():
    found = directions(np.array([1.0, 2.0, 0.5]))
    assert [d.name for d in found] == ["positive"]
    assert np.linalg.matrix_rank(Gated([[1.0], [2.0], [0.5]], np.ones(3), 50).kernel()) == 1
    assert [d.name for d in directions(np.array([-1.0]))] == ["negative"]


def test_an_input_of_zero_contributes_a_zero_row_and_no_nan():
    x, y = np.array([0.0, 1.0, -2.0]), np.array([1.0, 1.0, -1.0])
    residuals, kernels = followed(Gated(x[:, None], y, 200), 0.1, 10)
    assert (kernels[:, 0] == 0).all() and (residuals[:, 0] == residuals[0, 0]).all()
    r, k = matrix_step(residuals[0], kernels[0], x, y, 200, 0.1)
    assert np.isfinite(r).all() and (k[0] == 0).all()
    assert all(d.unit[0] == 0 for d in directions(x))


def test_all_zeros_matrices_and_wrong_counts_are_refused():
    with pytest.raises(BadInput, match="not 0"):
        directions(np.zeros(3))
    with pytest.raises(BadInput, match="one-dimensional"):
        directions(np.ones((3, 2)))
    with pytest.raises(BadInput, match="2 eigenvalues"):
        along_directions(np.array([1.0, -1.0]), np.ones(2), np.ones(2), (1.0,), 10, 0.1)


def test_the_two_reductions_of_the_loss_have_rates_in_ratio_half_the_samples():
    x, y = clusters(count=10)
    half, mean = Gated(x[:, None], y, 50), Gated(x[:, None], y, 50)
    half.step(half_rate(0.3, 10))
    gradient = 2 / 10 * (mean.outputs() - y) @ mean.jacobian()
    assert np.allclose(mean.v - 0.3 * gradient[50:], half.v, atol=1e-15)
