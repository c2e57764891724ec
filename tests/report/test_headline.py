from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dynascope.core.charts import Chart, Line, Panel, Points
from dynascope.core.errors import BadInput
from dynascope.report.headline import SEEN, curve_of, largest_rise, with_close_up
from dynascope.report.headline import view as view_of

from .example import headline
from .marks import NAN


def curve(y, x=None, theory=None):
    x = np.arange(len(y)) if x is None else x
    marks = [Line(x, y, "measured", group=0)]
    marks += [] if theory is None else [Line(x, theory, "theory", "theory", 0)]
    return Chart("headline", "title", "note", (Panel(tuple(marks), "", "x", "y"),))


def view(chart):
    return view_of(curve_of(chart))


def smooth(*knots, points=60):
    """A curve that goes through these values with flat turns."""
    part = np.linspace(0, 1, points)
    ease = part**2 * (3 - 2 * part)
    return np.concatenate([a + (b - a) * ease for a, b in pairwise(knots)])


@pytest.mark.parametrize(
    ("y", "rise"),
    [
        ([3, 2, 1], None),
        ([1, 2, 3], None),  # nothing fell before it
        ([1, 1, 1], None),
        ([2], None),
        ([], None),
        ([5, 1, 2, 0, 3, 0], (3, 4)),
        ([5, 1, 4, 0, 3, 0], (1, 2)),
        ([2, 1, 3], (1, 2)),
    ],
)
def test_the_largest_rise_follows_a_fall(y, rise):
    assert largest_rise(np.array(y, dtype=float)) == rise


def test_a_large_rise_needs_no_help():
    chosen = view(curve(smooth(2.4, 0.3, 1.2, 0.0)))
    assert (chosen.scale, chosen.words, chosen.close_up) == ("linear", "", False)


def test_falling_rising_and_constant_curves_are_shown_as_they_are():
    for y in (smooth(2, 0), smooth(0, 2), np.ones(9), np.array([1.0])):
        assert view(curve(y)).words == ""


def test_noise_is_not_a_rise():
    wiggle = smooth(2.4, 0.1) + 1e-4 * np.sin(np.arange(60))
    assert view(curve(wiggle)).words == ""


def test_a_log_scale_is_taken_if_it_shows_the_rise():
    chosen = view(curve(smooth(2.4, 0.01, 0.1, 0.005)))
    assert (chosen.scale, chosen.words) == ("log", "log scale")


@pytest.mark.parametrize(
    "knots", [(2.4, 0.3177, 0.3949, 0.0), (10, 0.95, 1.0, 0.0), (9, 1, 1.1, -5)]
)
def test_a_close_up_shows_the_rise_and_both_falls(knots):
    chosen = view(curve(smooth(*knots)))
    height = chosen.y[1] - chosen.y[0]
    assert chosen.close_up and chosen.scale == "linear"
    assert (knots[2] - knots[1]) / height >= SEEN
    assert chosen.y[0] < knots[1] and chosen.y[1] > knots[2]
    assert f"the curve starts at {knots[0]:g}" in chosen.words


def test_a_close_up_leaves_out_the_resting_tail():
    y = np.concatenate([smooth(2.4, 0.3177, 0.3949, 0.0), np.zeros(2000)])
    assert view(curve(y)).x[1] < 300


def test_gaps_are_not_looked_at():
    y = np.array([NAN, *smooth(2.4, 0.3177, 0.3949, 0.0), NAN, NAN])
    assert view(curve(y)).close_up
    assert view(curve([NAN, NAN])).words == "no finite values"


def test_the_plain_window_shows_the_theory_too():
    assert view(curve([0.0, 1.0], theory=(0.0, 7.0))).y == (0, 7)


def test_the_chart_has_the_whole_curve_and_the_close_up():
    whole, close = with_close_up(headline()).panels
    measured, theory = close.marks
    assert (measured.role, theory.role) == ("measured", "theory")
    assert measured.group == theory.group
    assert max(whole.marks[0].y) == 2.4 and np.nanmax(measured.y) < 0.45
    assert largest_rise(np.array([v for v in measured.y if v == v])) is not None


def test_a_plain_curve_has_one_panel_and_a_log_one_two():
    assert len(with_close_up(curve(smooth(2, 0))).panels) == 1
    assert with_close_up(curve(smooth(2.4, 0.01, 0.1, 0.005))).panels[1].y_scale == "log"


def test_a_chart_keeps_its_own_log_scales():
    panel = replace(curve(smooth(2.4, 0.3177, 0.3949, 0.1)).panels[0], y_scale="log")
    chart = Chart("headline", "title", "note", (panel,))
    assert view(chart).scale == "log" and len(with_close_up(chart).panels) == 1


def test_points_are_a_headline_too_and_a_chart_without_a_curve_is_none():
    points = Chart("h", "t", "n", (Panel((Points([0, 1, 2], [1, 0, 2], "orbit"),)),))
    assert not curve_of(points).joined and curve_of(points).name == "orbit"
    assert with_close_up(points) == points
    empty = Chart("h", "t", "n", (Panel((Line([0], [0], "theory", "theory"),)),))
    with pytest.raises(BadInput, match="a measured line"):
        curve_of(empty)
