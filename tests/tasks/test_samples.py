"""Samples with targets: conventions of the loss, the user's own arrays, the sphere."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope import dynamics, models, probes, simulate
from dynascope.core.errors import BadInput
from dynascope.core.plain import fingerprint
from dynascope.runtime.precision import precision
from dynascope.tasks import ArraySamples, Sphere

X = np.random.default_rng(0).normal(size=(12, 3))
Y = X @ np.array([1.0, -2.0, 0.5])


LOSS = (probes.Loss(),)


def _run(task, rate, steps=40, watched=LOSS):
    model = models.Linear(initial_jacobian=((0.0, 0.0, 0.0),))
    return simulate(
        task, model, dynamics.GradientDescent(rate), steps=steps, probes=watched, dtype="float64"
    )


def test_the_two_conventions_differ_by_two_over_the_samples_in_the_rate():
    """zhu2024: a rate of the half sum is 2/n times that of the mean."""
    mse = _run(ArraySamples(X, Y), 0.1)["loss"].values
    half = _run(ArraySamples(X, Y, reduction="half"), 0.1 * 2 / 12)["loss"].values
    assert np.allclose(half, mse * 12 / 2, rtol=1e-12)


def test_linear_regression_follows_its_closed_form():
    """Residual (I - 2 eta/n X X^T)^t of the start."""
    run = _run(ArraySamples(X, Y), 0.1)
    step = np.eye(12) - 0.2 / 12 * X @ X.T
    expected = [np.mean((np.linalg.matrix_power(step, t) @ -Y) ** 2) for t in range(41)]
    assert np.allclose(run["loss"].values.ravel(), expected, rtol=1e-10, atol=1e-25)


def test_test_loss_and_accuracy_are_over_the_test_set():
    x_test = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    task = ArraySamples(X, Y, x_test, [3.0, 1.0, -1.0])
    run = _run(task, 0.3, 400, (probes.TestSetLoss(), probes.TestSetAccuracy()))
    # In the end the outputs are 1, -2, 0.5.
    assert run["test_set_loss"].values[0, -1] == pytest.approx((4 + 9 + 2.25) / 3, rel=1e-6)
    assert run["test_set_accuracy"].values[0, -1] == pytest.approx(1 / 3)


def test_half_the_test_error_where_the_loss_is_the_half_sum():
    x_test, y_test = X[:4], Y[:4] + 1
    losses = [
        _run(ArraySamples(X, Y, x_test, y_test, reduction=r), 1e-9, 1, (probes.TestSetLoss(),))
        for r in ("mse", "half")
    ]
    mse, half = (run["test_set_loss"].values[0, 0] for run in losses)
    assert half == pytest.approx(mse / 2) and mse == pytest.approx(np.mean(y_test**2))


def test_the_fingerprint_covers_the_values():
    other = X.copy()
    other[0, 0] += 1e-9
    assert fingerprint(ArraySamples(X, Y)) == fingerprint(ArraySamples(X.copy(), list(Y)))
    assert fingerprint(ArraySamples(X, Y)) != fingerprint(ArraySamples(other, Y))


def test_several_outputs_are_averaged_over_all_entries():
    targets = np.stack([Y, 2 * Y], axis=1)
    task = ArraySamples(X, targets)
    assert task.output_size == 2
    with precision("float64"):
        value = task.loss(lambda x: 0 * x[:, :2], task.samples(jax.random.key(0)))
    assert float(value) == pytest.approx(np.mean(targets**2))


@pytest.mark.parametrize(
    "arrays, reason",
    [
        ((X, Y[:5]), "as many as x has, 12"),
        ((X, Y, X), "both or neither"),
        ((X, Y, X[:, :2], Y), "3 inputs a row"),
        ((X, np.full(12, np.nan)), "finite numbers"),
        ((X, ["a"] * 12), "an array of numbers"),
    ],
)
def test_arrays_that_do_not_match_are_refused(arrays, reason):
    with pytest.raises(BadInput, match=reason):
        ArraySamples(*arrays)


def test_a_probe_of_the_test_set_needs_one():
    with pytest.raises(BadInput, match="needs a task with a test set"):
        _run(ArraySamples(X, Y), 0.1, 1, (probes.TestSetLoss(),))
    with pytest.raises(BadInput, match="needs a task with a test set"):
        simulate(
            Sphere(4, 3), models.MLP(), dynamics.GradientDescent(0.1), steps=1,
            probes=[probes.TestSetAccuracy()],
        )  # fmt: skip


def test_the_sphere_has_one_large_example_and_nearly_orthogonal_ones():
    x, y = (np.asarray(v) for v in Sphere().samples(jax.random.key(3)))
    norms = np.linalg.norm(x, axis=1)
    assert norms[0] == pytest.approx(2, rel=1e-6) and np.allclose(norms[1:], 1, atol=1e-6)
    assert y[0, 0] == 2 and np.all(y[1:] == 1)
    overlaps = x[1:] @ x[1:].T - np.eye(99)
    assert np.sqrt((overlaps**2).mean()) == pytest.approx(0.1, rel=0.1)  # 1/sqrt(d)


def test_a_sphere_of_nothing_is_refused():
    with pytest.raises(BadInput, match="count"):
        Sphere(0)
    with pytest.raises(BadInput, match="factor"):
        Sphere(factor=float("inf"))
