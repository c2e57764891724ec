"""Measuring functions of the quartic-orbits study on planted input, and known numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.instruments.orbits.bifurcation import Diagram
from dynascope.instruments.orbits.descent import Observed
from dynascope.studies.oscillation.quartic_orbits import claims, places, runs
from dynascope.theories.oscillation.doubling import FEIGENBAUM, period_doublings
from dynascope.theories.oscillation.one_dimension import flip
from dynascope.theories.oscillation.quartic import QUARTIC, orbit_points


def planted(verdict, period=None):
    return Observed(verdict, period, (), None, None, 0, ())


def test_starts_settle_up_to_the_doubling_and_not_beyond():
    settled = {name: runs.settled.function(runs.Settings(starts=20), name)
               for name in (*runs.ATTRACTING, "on the orbit")}  # fmt: skip
    assert settled["printed"].shape == (5, 20) and settled["printed"].all()
    assert settled["until doubling"].all() and not settled["beyond"].any()
    assert settled["on the orbit"].all()
    assert claims.at_every_rate(np.array([[True, True], [True, False]])).value == 0.5


def test_the_cascade_is_the_ledgers():
    """EOS-FB.5: 2 to 4, 4 to 8, 8 to 16, 16 to 32."""
    found = runs.doublings.function(None, runs.QUARTIC)
    assert found[1:5] == pytest.approx(
        [math.sqrt(5) - 1, 1.2880318, 1.2992279, 1.3016289], abs=1e-7
    )
    assert claims.ratios(found)[1:3] == pytest.approx([4.641, 4.663], abs=1e-3)


def test_at_two_the_exponent_is_log_three_and_beyond_descent_escapes():
    at, beyond = (runs.single_rates.function(None, rate) for rate in (2.0, 2.01))
    assert at.lyapunov == pytest.approx(math.log(3), abs=0.02)
    assert beyond.verdict == "diverges" and 10 <= beyond.steps <= 30


def test_equal_ratios_of_gaps_are_found():
    assert claims.ratios((0.0, 1.0, 1.25, 1.3125)) == pytest.approx([4, 4])


def test_two_steps_lead_the_orbit_back_at_every_rate():
    """EOS-T3.3: at K = 1.9 too, where (3.4) no longer holds for the larger point."""
    found = {name: make() for name, make in places.PLACES.items()}
    assert claims.last_return(found["larger"]).value > 1.99
    assert claims.last_return(found["printed"]).value <= 1.5
    assert math.isnan(claims.last_return(found["beside"]).value)
    roots, closed = found["roots"], places.orbit(found["roots"][:, 0], slice(1, None))
    assert roots == pytest.approx(closed, abs=1e-7), "the closed form is a root of the polynomial"
    assert claims.printed_error(found["at 1.9"]).value == pytest.approx(1.9 - 1.26667, abs=1e-5)
    assert claims.multiplier_error(found["lower"]).value < 1e-6
    assert claims.multiplier_error(found["beside"]).value > 0.05


def test_two_steps_from_the_turning_point_are_the_printed_product():
    """(B.20): F^2(x_s) / x_s = 2/3 (1 + K) (1 + K - 4/27 (1 + K)^3)."""
    k = 1.07
    product = 2 / 3 * (1 + k) * (1 + k - 4 / 27 * (1 + k) ** 3)
    assert claims.growth(places.turning([k])).value == pytest.approx(product - 1, rel=1e-12)


def test_verdicts_are_counted_and_the_first_chaotic_rate_is_the_lowest():
    seen = {1.0: planted("period-2", 2), 1.4: planted("chaotic"), 1.3: planted("chaotic")}
    said = [("chaotic", x) for x in seen.values()]
    assert claims.as_said(said).value == pytest.approx(2 / 3)
    assert claims.first_chaotic(seen).value == pytest.approx(1.3)
    assert math.isnan(claims.first_chaotic({1.0: planted("period-2", 2)}).value)


def test_visits_are_counted_within_a_bin_of_the_orbit():
    values, rates = np.linspace(0.6, 1.3, 141), np.array([1.05, 1.5])
    counts = np.zeros((2, 141))
    for x in orbit_points(1.0, 1.05):
        counts[0, np.abs(values - x).argmin()] = 3
    counts[1] = 1  # beyond the doubling: not counted
    diagram = Diagram(rates, values, counts, np.ones(2), np.zeros(2))
    points, others = (np.array([orbit_points(1.0, k * c) for k in rates]) for c in (1.0, 1.1))
    assert claims.visits_on_orbit(diagram, points).value == 1
    counts[0, 0] = 6
    assert claims.visits_on_orbit(diagram, points).value == pytest.approx(0.5)
    assert claims.visits_on_orbit(diagram, others).value == 0


def test_iterates_stay_positive_below_the_bound_only():
    found = runs.lowest.function(None)
    assert found["K = 1.2"] > 0 and found["below"] > 0 > found["above"]


def test_the_doublings_end_where_the_study_says():
    """The last gap over Feigenbaum's constant less one is what is left of a geometric series."""
    *_, before, last = period_doublings(flip(QUARTIC, 1.0), 7)
    end = last + (last - before) / (FEIGENBAUM - 1)
    assert end == pytest.approx(runs.ACCUMULATION, abs=1e-6)
