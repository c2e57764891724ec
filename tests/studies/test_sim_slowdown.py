"""Terminal slow-down at smoke scale: known numbers, and measures on planted input."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dynascope.core.run import Run
from dynascope.runner.evaluation import Evaluation
from dynascope.studies.swing_by.sim_slowdown import claims as measures
from dynascope.studies.swing_by.sim_slowdown import runs
from dynascope.studies.swing_by.sim_slowdown.charts import rise_of_error
from dynascope.studies.swing_by.sim_slowdown.noise import Noise, excess, within_bound
from dynascope.studies.swing_by.sim_slowdown.runs import MIXED_SIGNS, MIXED_TASK
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping

STUDY = "sim-slowdown"


def test_the_closed_form_is_exact(outcome):
    """M3: 1e-8 against the flow, 1e-12 against descent."""
    value = Evaluation(runs.study, runs.study.at("smoke"), outcome.store, progress=False).value
    for name, kind, most in (("flow", "exponential", 1e-8), ("descent", "powers", 1e-12)):
        run, predicted = value(runs.exact)[name], value(runs.closed_forms)[name][kind]
        assert measures.within(run, predicted, most).value == 1


def test_mixed_signs_break_the_printed_bound_by_the_ledgers_number(claims):
    """M4: 0.3 (exp(-t/2) - exp(-2t)) is largest at t = log(4) / 1.5."""
    t = np.log(4) / 1.5
    exact = 0.3 * (np.exp(-0.5 * t) - np.exp(-2 * t))
    assert abs(exact - 0.1417) < 1e-4
    assert abs(claims["noise-bound-as-printed"].measured.value - exact) < 0.001
    assert np.allclose(signal(MIXED_TASK), (0.5, 2.0)) and np.sum(MIXED_SIGNS[0]) == 0


def test_the_default_start_swings_by_as_often_as_the_ledger_says(claims):
    """5.9 % at the default start in two dimensions, none at half of it."""
    default = claims["monotone-from-the-default-start"].measured
    assert default.low <= 0.059 <= default.high
    assert claims["monotone-from-a-small-start"].measured.value == 0


def test_the_error_rises_only_beyond_the_predicted_weight():
    task = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    weight = measures.predicted_weight(task)
    below, above = rise_of_error((0.99 * weight, 1.5 * weight), task)
    assert below == 0 and above > 1e-3


def test_largest_rise_on_a_planted_curve():
    error = np.array([[3.0, 1.0, 2.5, 0.0], [3.0, 2.0, 1.0, 0.0]])
    assert measures.largest_rise(error).tolist() == [1.5, 0]


def test_slowing_and_rate_on_planted_exponentials():
    """From zero exp(-a t) always slows down; a curve that turns at half its path does so half."""
    t = np.linspace(0, 8, 401)

    def planted(output):
        loss = np.sum((output - 1) ** 2, axis=1) / 2
        data = {"output_at": (("seed", "step", "output"), output[None]),
                "test_loss": (("seed", "step"), loss[None])}  # fmt: skip
        return Run(xr.Dataset(data, {"time": ("step", t)}), experiment=None)

    one_layer = planted(1 - np.exp(-np.outer(t, [1.5, 0.5])))
    assert measures.slowing(one_layer).value == 1
    assert measures.final_rate(one_layer).value == pytest.approx(2 * 0.5, rel=0.01)
    turning = planted(1 / (1 + np.exp(-3 * (t[:, None] - 4))))
    assert measures.slowing(turning).value == pytest.approx(0.5, abs=0.02)


def test_noise_is_held_against_each_bound():
    noise = Noise(np.zeros((1, 1, 2)), np.array([[0.2, 0.3]]), np.array([[0.1, 0.5]]),
                  np.array([[0.4, 0.5]]))  # fmt: skip
    assert excess(noise, 0).value == pytest.approx(0.1)
    assert excess(noise, 1).value == pytest.approx(-0.2)
    assert within_bound(noise, "absolute").value == 1
    assert within_bound(noise, "printed").value == 0


def test_the_headline_lies_on_the_closed_form(outcome):
    measured, theory = outcome.charts[0].panels[0].marks
    assert np.abs(np.array(measured.y) - np.array(theory.y)).max() < 0.05
