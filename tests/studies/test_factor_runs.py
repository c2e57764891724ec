from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.factor_runs import descend, hessian, line_derivatives, spectra

SHAPES = ((3, 4, 5), (6, 2, 3), (2, 7, 2))


def loss(x, y, target):
    return ((x @ y - target) ** 2).sum() / 2


def top(x, y):
    vector = np.linalg.eigh(hessian(x, y))[1][:, -1]
    return vector[: x.size].reshape(x.shape), vector[x.size :].reshape(y.shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_theorem_b3_for_the_dense_hessians_eigenvector(shape):
    m, k, n = shape
    random = np.random.default_rng(0)
    x, y = random.normal(size=(m, k)), random.normal(size=(k, n))
    dx, dy = top(x, y)
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    sides = ((dx @ y + x @ dy) ** 2).sum() * ((dx @ dy) ** 2).sum()
    assert 3 * f3**2 - f2 * f4 == pytest.approx(96 * sides, rel=1e-9)
    sharpness = np.linalg.norm(x, 2) ** 2 + np.linalg.norm(y, 2) ** 2
    assert np.linalg.eigvalsh(hessian(x, y))[-1] == pytest.approx(sharpness, rel=1e-12)


def test_orthogonal_top_directions_leave_the_condition_unmet():
    x, y = np.diag([2.0, 0.5]), np.diag([0.5, 3.0])
    f2, f3, f4 = line_derivatives(x, y, *top(x, y))
    assert 3 * f3**2 - f2 * f4 == pytest.approx(0, abs=1e-20) and f2 == pytest.approx(13)


def test_hessian_and_line_derivatives_are_those_of_the_loss():
    random = np.random.default_rng(1)
    x, y = random.normal(size=(3, 2)), random.normal(size=(2, 4))
    dx, dy = random.normal(size=(3, 2)), random.normal(size=(2, 4))
    times = np.linspace(-1, 1, 9)
    along = [loss(x + t * dx, y + t * dy, x @ y) for t in times]
    exact = np.polynomial.Polynomial.fit(times, along, 4).convert().coef  # the loss is a quartic
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    assert (2 * exact[2], 6 * exact[3], 24 * exact[4]) == pytest.approx((f2, f3, f4), rel=1e-9)
    direction = np.concatenate([dx.ravel(), dy.ravel()])
    assert direction @ hessian(x, y) @ direction == pytest.approx(f2, rel=1e-12)


def test_descents_are_those_of_a_plain_loop_and_escapes_are_marked():
    targets = spectra(np.array([1.1, 2.5]), np.array([0.5, 0.5]), 3)
    starts = 0.2 * np.random.default_rng(2).normal(size=(2, 2, 3, 3))
    found = descend(targets, *starts, 500)
    assert found.escaped.tolist() == [False, True] and not found.y[1].any()
    y, z = starts[0, 0], starts[1, 0]
    for _ in range(500):
        error = y @ z.T - targets[0]
        y, z = y - error @ z, z - error.T @ y
    assert found.y[0] == pytest.approx(y, abs=1e-9) and found.z[0] == pytest.approx(z, abs=1e-9)
