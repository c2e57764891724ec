"""A loss beyond all numbers is marked although the parameters are still finite."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

from dynascope import dynamics, models, probes, simulate, tasks
from dynascope.engine.record import Evenly


def test_an_infinite_loss_at_finite_parameters_is_marked_at_its_step():
    task = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1))
    run = simulate(
        task, models.Linear(1.0), dynamics.GradientDescent(1e10), steps=6, record=Evenly(7),
        probes=[probes.Loss(), probes.TestLoss()], dtype="float32", seeds=2, progress=False,
    )  # fmt: skip
    assert run["diverged"].values.all() and (run["diverged_step"].values == 2).all()
    loss = run["loss"].values
    assert np.isfinite(loss[:, :2]).all() and np.isinf(loss[:, 2]).all()
    assert np.isnan(loss[:, 3:]).all(), "what a diverged lane shows is not a measurement"


def test_a_finite_run_beside_it_goes_on():
    task = tasks.IdentityMapping((1.0,), (1.0,))
    call = dict(steps=6, record=Evenly(7), probes=[probes.Loss()], dtype="float32", progress=False)
    rule, model = dynamics.GradientDescent(0.03125), models.TiedLinear(1, 4.0)
    together = simulate(task, model, rule, seeds=8, **call)
    alone = simulate(task, model, rule, seeds=[1], **call)
    assert together["diverged"].values.any() and not together["diverged"].values.all()
    assert np.array_equal(together["loss"].values[1], alone["loss"].values[0])


@dataclass(frozen=True)
class Points(tasks.Task):
    """Forty points, each of which is to be kept as it is."""

    last: float = 2.0  # of them
    input_size = 1
    output_size = 1

    def samples(self, key):
        return jnp.linspace(1.0, 2.0, 40).at[-1].set(self.last)[:, None]

    def loss(self, predict, samples):
        return jnp.mean((predict(samples) - samples) ** 2)


def points_kept(task, rule):
    """Without a probe of the loss: the engine has to work it out."""
    return simulate(
        task, models.Linear(0.5), rule, steps=4, record=Evenly(5), seeds=2,
        probes=[probes.InputJacobian()], dtype="float32", progress=False,
    )  # fmt: skip


@pytest.mark.parametrize("rule", [dynamics.SGD(1e10, 8), dynamics.GradientDescent(1e10)])
def test_an_infinite_loss_that_nobody_measures_is_marked_at_its_step(rule):
    run = points_kept(Points(), rule)
    # Two steps of 1e10 times a slope of a few units: the weight is finite, its square is not.
    assert (run["diverged_step"].values == 2).all()
    weights = run["input_jacobian"].values.reshape(2, 5)
    assert np.isfinite(weights[:, :3]).all() and (np.abs(weights[:, 2]) > 2e19).all()
    assert np.isnan(weights[:, 3:]).all()


@pytest.mark.parametrize(
    ("rule", "marked"), [(dynamics.SGD(1e-3, 8), False), (dynamics.GradientDescent(1e-3), True)]
)
def test_the_loss_that_nobody_measures_is_that_of_as_many_samples_as_a_step_sees(rule, marked):
    """Four batches of eight never meet the last of forty points, whose loss is infinite."""
    run = points_kept(Points(last=1e30), rule)
    assert (run["diverged"].values == marked).all()
