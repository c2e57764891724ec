"""Terminal slow-down at smoke scale: every verdict, every control, and the ledger's numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.swing_by.approach import largest_rise, rise_of_error
from dynascope.studies.swing_by.start_noise import MIXED_SIGNS, MIXED_TASK, signals
from dynascope.tasks import IdentityMapping

STUDY = "sim-slowdown"

VERDICTS = {
    "closed-form-of-the-flow": "holds",
    "closed-form-of-descent": "holds",
    "growth-always-slows-down": "holds",
    "exponential-approach": "holds",
    "noise-bound-as-printed": "fails",
    "noise-bound-absolute": "holds",
    "noise-sum-as-printed": "fails",
    "noise-sum-over-all-inputs": "holds",
    "monotone-from-a-small-start": "holds",
    "monotone-from-the-default-start": "fails",
    "monotone-in-high-dimension": "holds",
    "one-output-strays-first": "holds",
}


@pytest.fixture(scope="module")
def measured(outcome):
    return {c.id.split("/")[1]: c.measured for c in outcome.claims}


def test_every_claim_has_the_verdict_that_was_seen(outcome):
    assert {c.id.split("/")[1]: c.verdict for c in outcome.claims} == VERDICTS


def test_every_control_fails(outcome):
    assert {c.id: c.control.verdict for c in outcome.claims if c.control.verdict != "fails"} == {}


def test_the_closed_form_is_exact(measured):
    """M3: 1e-8 against the flow, 1e-12 against descent."""
    assert measured["closed-form-of-the-flow"].value < 1e-8
    assert measured["closed-form-of-descent"].value < 1e-12


def test_mixed_signs_break_the_printed_bound_by_the_ledgers_number(measured):
    """M4: 0.3 (exp(-t/2) - exp(-2t)) is largest at t = log(4) / 1.5."""
    t = np.log(4) / 1.5
    exact = 0.3 * (np.exp(-0.5 * t) - np.exp(-2 * t))
    assert abs(exact - 0.1417) < 1e-4
    assert abs(measured["noise-bound-as-printed"].value - exact) < 0.001
    assert np.allclose(signals(MIXED_TASK), (0.5, 2.0)) and np.sum(MIXED_SIGNS[0]) == 0


def test_the_default_start_swings_by_as_often_as_the_ledger_says(measured):
    """5.9 % at the default start in two dimensions, none at half of it."""
    default = measured["monotone-from-the-default-start"]
    assert abs(default.value - 0.059) < 3 * default.error
    assert measured["monotone-from-a-small-start"].value == 0


def test_the_error_rises_only_beyond_the_predicted_weight():
    task = IdentityMapping((1.0, 2.0), (0.05, 0.05))
    weak, strong = signals(task) * task.means
    below, above = rise_of_error((0.99 * weak / strong, 1.5 * weak / strong), task)
    assert below == 0 and above > 1e-3


def test_largest_rise_on_a_planted_curve():
    assert largest_rise(np.array([[3.0, 1.0, 2.5, 0.0], [3.0, 2.0, 1.0, 0.0]])).tolist() == [1.5, 0]


def test_charts_and_headline_are_there(outcome):
    assert [c.name for c in outcome.charts] == ["approach", "noise", "starts"]
    headline = outcome.result.headline
    assert np.abs(np.array(headline.y) - np.array(headline.theory)).max() < 0.05
