"""Order of learning at smoke scale: every verdict, every control, and the predicted flips."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.swing_by.flip import GRID_SCALES, exact_delay, flip_of, predicted_flip
from dynascope.studies.swing_by.preference import growth_from_zero, half_way, winding
from dynascope.tasks import IdentityMapping

STUDY = "sim-order"

VERDICTS = {
    "one-layer-follows-theorem": "holds",
    "bulge-to-the-larger-mean": "holds",
    "half-way-by-signal": "holds",
    "preference-flips": "holds",
    "flip-where-signals-meet": "holds",
    "flip-in-the-program": "holds",
    "signal-sets-the-order": "holds",
    "two-layer-linear-same-order": "holds",
    "relu-same-order": "holds",
    "networks-flip": "holds",
    "two-layers-more-irregular": "holds",
}


def test_every_claim_has_the_verdict_that_was_seen(outcome):
    assert {c.id.split("/")[1]: c.verdict for c in outcome.claims} == VERDICTS


def test_every_control_fails(outcome):
    assert {c.id: c.control.verdict for c in outcome.claims if c.control.verdict != "fails"} == {}


def test_the_order_flips_where_the_ledger_says(outcome):
    """M20: sqrt(0.05^2 + 3/2) for the text, 0.05 + 3/3 for the program."""
    found = {c.id.split("/")[1]: c.measured.value for c in outcome.claims}
    assert abs(found["flip-where-signals-meet"] - 1.2257) < 0.001
    assert abs(found["flip-in-the-program"] - 1.05) < 0.001


def test_the_headline_changes_sign_once_and_lies_on_the_theory(outcome):
    headline = outcome.result.headline
    y, theory = np.array(headline.y), np.array(headline.theory)
    assert (np.diff(np.sign(y)) != 0).sum() == 1
    assert np.abs(y - theory).max() < 0.01


def test_charts_have_theory_over_measurement(outcome):
    assert [c.name for c in outcome.charts] == ["one-layer", "two-layers", "relu", "flip"]
    for chart in outcome.charts[:3]:
        for panel in chart.panels:
            roles = [m.role for m in panel.marks if type(m).__name__ == "Path"]
            assert roles.count("theory") == roles.count("measured") >= 3


def test_half_way_of_a_start_at_zero_solves_the_closed_form():
    """(1 - x) + (1 - x^r) = 1 with x = exp(-a_1 t) and r = a_2 / a_1."""
    task = IdentityMapping((1.0, 2.0), (0.0, 0.0))
    first, second = half_way(growth_from_zero(task), task.means)
    x = 1 - first
    assert abs(x + x**4 - 1) < 1e-5 and abs(first + second - 1) < 1e-9


def test_half_way_is_missing_where_it_is_never_reached():
    assert np.isnan(half_way(np.array([[0.0, 0.0], [0.1, 0.1]]), (1.0, 2.0))).all()


def test_a_straight_path_does_not_wind_and_a_circle_winds_once():
    angle = np.linspace(0, 2 * np.pi, 400)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    line = np.stack([angle, 2 * angle], axis=-1)
    full, none = winding(np.stack([circle, line]))
    assert none < 1e-9 and abs(full - 2 * np.pi * 58 / 59) < 0.01  # 60 places, 58 turns between


@pytest.mark.parametrize("reading", ["text", "code"])
def test_the_exact_delay_vanishes_at_the_predicted_flip(reading):
    assert abs(flip_of(exact_delay(reading)) - predicted_flip(reading)) < 0.001
    assert exact_delay(reading).shape == (len(GRID_SCALES),)
