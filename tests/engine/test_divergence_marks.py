"""A loss beyond all numbers is marked although the parameters are still finite."""

from __future__ import annotations

import numpy as np

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
