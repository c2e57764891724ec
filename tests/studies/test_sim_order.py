"""Order of learning at smoke scale: the predicted flips, and paths with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.swing_by.sim_order import claims as order
from dynascope.studies.swing_by.sim_order import runs
from dynascope.studies.swing_by.sim_order.charts import exact_delay
from dynascope.studies.swing_by.sim_order.paths import growth_from_zero, half_way, winding
from dynascope.studies.swing_by.sim_order.runs import GRID_MEANS, GRID_SCALES
from dynascope.tasks import IdentityMapping

STUDY = "sim-order"


def test_the_order_flips_where_the_ledger_says(claims):
    """M20: sqrt(0.05^2 + 3/2) for the text, 0.05 + 3/3 for the program."""
    assert abs(claims["flip-where-signals-meet"].measured.value - 1.2257) < 0.001
    assert abs(claims["flip-in-the-program"].measured.value - 1.05) < 0.001


def test_the_headline_changes_sign_once_and_lies_on_the_theory(outcome):
    seen, theory = outcome.charts[0].panels[0].marks
    assert (np.diff(np.sign(seen.y)) != 0).sum() == 1
    assert np.abs(np.subtract(seen.y, theory.y)).max() < 0.01


def test_maps_have_theory_over_measurement(outcome):
    maps = {c.name: c for c in outcome.charts if c.name in ("one-layer", "two-layers", "relu")}
    assert len(maps) == 3
    for panel in (p for chart in maps.values() for p in chart.panels):
        roles = [m.role for m in panel.marks if type(m).__name__ == "Path"]
        assert roles.count("theory") == roles.count("measured") >= 3


def test_half_way_of_a_start_at_zero_solves_the_closed_form():
    """(1 - x) + (1 - x^r) = 1 with x = exp(-a_1 t) and r = a_2 / a_1."""
    task = IdentityMapping((1.0, 2.0), (0.0, 0.0))
    first, second = half_way(growth_from_zero(task), task.means)
    x = 1 - first
    assert abs(x + x**4 - 1) < 1e-5 and abs(first + second - 1) < 1e-9


def test_inputs_without_signal_do_not_slow_the_growth_down():
    low, high = (IdentityMapping((1.0, 2.0), (0.05, 1.0), dimension=d) for d in (2, 5))
    assert np.allclose(growth_from_zero(low), growth_from_zero(high))
    bare = IdentityMapping((1.0, 2.0), (0.0, 0.0))
    assert np.allclose(growth_from_zero(low, spread=False), growth_from_zero(bare))


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
    found = order.flip_scale(exact_delay(reading)).value
    assert abs(found - order.predicted_flip(reading)) < 0.001
    assert exact_delay(reading).shape == (len(GRID_SCALES),)


def test_times_by_the_closed_form_are_ordered_by_the_signals():
    means, scales = np.meshgrid(GRID_MEANS, GRID_SCALES, indexing="ij")
    first, second = means**2 / 2 + scales**2, np.full_like(means, 2 + 0.05**2)
    times = np.log(2) / np.stack([first, second], axis=-1)
    larger = runs.larger.function(None)
    assert order.ordered_by(times, larger["signal"]).value == 1
    assert order.ordered_by(times[..., ::-1], larger["signal"]).value == 0
    assert order.ordered_by(times, larger["means alone"]).value < 0.8  # wide ones mispredicted
