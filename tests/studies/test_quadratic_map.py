"""`quadratic-map`: descent in the weights, and measuring functions on planted input."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.encoding import decode, encode
from dynascope.studies import studies
from dynascope.studies.catapult.quadratic_map import equations, lemmas, peaks, regimes, runs
from dynascope.studies.catapult.quadratic_map.weights import descend, draw
from dynascope.theories import QuadraticMap
from dynascope.theories.catapult.phases import margin

SETTINGS = studies.get("quadratic-map").at("smoke")


def test_only_units_that_are_on_move_and_the_map_has_their_kernel():
    start = draw(40, 3, seed=2)
    assert (start.first @ start.x >= 0).all() and np.isclose(start.x @ start.x, 3)
    seen = descend(start, start.map(1.0, 0.5), 3)
    assert np.isclose(seen.kernel[0], start.map(1.0, 0.5).kernel) and seen.distance[0] == 0
    assert (seen.distance[1:] > 0).all() and abs(seen.residual[-1]) < 1e-6


def test_a_path_that_is_a_tenth_off_has_that_gap():
    ((descent, seen), *_) = runs.followed.function(SETTINGS, "quadratic")
    assert equations.gap_to_weights([(descent, seen)]).value < 1e-12
    wrong = seen._replace(kernel=seen.kernel / 1.1)
    assert equations.gap_to_weights([(descent, wrong)]).value == pytest.approx(0.1)


def test_the_fixed_points_have_the_multipliers_of_their_closed_forms():
    assert np.allclose(equations.multipliers_at(*equations.large(1e4, 0.0, 1.0)), (5, 9))
    m, y, rate = 400.0, -2.0, 0.8
    size = rate * abs(y) / m**0.5  # C / sqrt m
    found = equations.multipliers_at(-y, 0.0, m, y, rate)
    assert np.allclose(found.real, ((1 - size) ** 2, (1 + size) ** 2))


def test_a_state_that_is_no_fixed_point_moves_by_what_the_step_says():
    # r = 1, lambda = 1, eta = 1, c = 1/100, y = 0: r' = 0.01, lambda' = 1 - 0.04 + 0.01.
    found = equations.move([(1.0, 1.0, 100.0, 0.0, 1.0)], max).value
    assert found == pytest.approx(np.hypot(0.99, 0.03))


def test_a_linear_model_shrinks_its_error_by_one_minus_v_and_keeps_its_kernel():
    start = draw(40, 3, seed=2)
    seen = descend(start, start.map(1.5, 0.5), 6, "linear")
    assert np.allclose(seen.residual[1:] / seen.residual[:-1], -0.5)
    assert np.allclose(seen.kernel, seen.kernel[0])


def test_where_a_descent_ends_is_read_from_its_last_kernel():
    v, kernel = np.array([1.0, 3.0, 3.0, 3.0]), np.array([1.0, 0.5, 0.8, 0.5])
    words = np.array(["monotone", "catapult", "catapult", "undecided"])
    loss = np.array([0.0, 0.0, 0.0, 1.0])  # the last has not converged
    side = (v, QuadraticMap(1.0, 1.0).outcome(1)._replace(regime=words, kernel=kernel, loss=loss))
    ended = runs.ended.function(SETTINGS, side, side)
    assert equations.below_two(ended["after"]).value == pytest.approx(2 / 3)
    assert equations.below_two(ended["before"]).value == pytest.approx(1 / 3)
    assert regimes.share_that(side, "catapult").value == pytest.approx(1 / 2)


def test_planted_largest_rates_have_their_distance_and_slope():
    rates = 4 - 3 / runs.WIDTHS
    assert regimes.from_four(rates[None]).value == pytest.approx(0.03)
    assert regimes.from_twice(np.array([rates, rates + 1])).value == pytest.approx(0.5, abs=1e-5)
    assert regimes.in_margins(4 + 2 * margin(runs.WIDTHS)[None]).value == pytest.approx(2)
    assert regimes.approach_slope(rates[None]).value == pytest.approx(-1)
    both = np.array([rates, 4 + runs.WIDTHS**-0.5])
    assert regimes.approach_slope(both).value == pytest.approx(-0.5)


def test_the_largest_rates_are_those_of_the_ledger():
    """By bisection: label 3 at widths 1e2 to 1e5, and no label at any."""
    found = runs.largest_rates.function(SETTINGS, 3.0)[:7:2]
    assert np.allclose(found, (3.181, 3.878, 3.987, 3.9987), atol=6e-4)
    assert np.allclose(runs.largest_rates.function(SETTINGS, 0.0), 4, atol=1e-6)


def test_distances_that_grow_like_the_root_of_the_width_have_that_slope():
    errors = np.array([1.0, 2.0])
    distances = {m: {1.0: (errors, errors), 3.0: (errors * m**0.5, errors)} for m in (100, 1000)}
    assert regimes.distance_slope(distances, 3.0, False).value == pytest.approx(0.5)
    assert regimes.distance_slope(distances, 1.0, True).value == pytest.approx(0, abs=1e-12)


def test_a_descent_keeps_falling_only_if_it_falls_in_every_step_that_is_asked_about():
    v = np.array([[3.5, 2.9, 2.8, 2.9], [2.9, 2.8, 2.7, 2.6]])
    size = np.array([[9.0, 2.0, 0.5, 0.1], [9.0, 2.0, 2.0, 2.0]])
    assert lemmas.falls_where((v, size), 1, np.inf).value == 1
    assert lemmas.falls_where((v, size), 0.2, np.inf).value == 0.5
    assert lemmas.falls_where((v, size), 0.2, 1).n == 1


def test_the_kernel_of_a_catapult_falls_and_past_four_it_grows():
    """4 - v grows by 1 + u for label 0: the sign of 4 - v never changes."""
    assert regimes.share_of_sign((3.0,), 0.0, 1).value == 1
    assert regimes.share_of_sign((5.0,), 0.0, 1).value == 0


def test_a_rate_below_the_critical_one_has_no_peak_to_scale():
    assert peaks.largest_rise((1.0, 1.5)).value == pytest.approx(1)
    found = peaks.heights.function(SETTINGS)
    assert peaks.peak_slope(found["low"]).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("node", "item", "kind"), [
    (runs.sides, ("between", 1.0), runs.Side), (runs.bounds, "below", dict[str, np.ndarray]),
    (runs.distances, 100, runs.Distances),
])  # fmt: skip
def test_what_takes_time_comes_back_from_its_bytes(node, item, kind):
    found = node.function(SETTINGS, item)
    again = decode(encode(found), kind)
    assert type(again) is type(found)
    assert encode(again) == encode(found)


def test_the_first_w_is_read_off_the_first_step_of_the_kernel():
    """w = c eta^2 (g - y) y with c = 1 / m, here eta = 0.3, y = 1 and an error of 1."""
    found = runs.first_w.function(SETTINGS)
    widths, w = found["same error"]
    assert np.allclose(w, 0.09 / widths, rtol=1e-6)
    assert lemmas.power(found["smaller error"]).value == pytest.approx(-1.5, abs=1e-4)
