from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.theories import flip, period_doublings, predict
from dynascope.theories.oscillation.doubling import FEIGENBAUM

from .descents import descend, quartic_slope

QUARTIC = flip("(x**2-1)**2/4", 1.0)


@pytest.mark.parametrize(
    ("rate", "verdict"),
    [
        (0.95, "converges"), (1.0, "converges"), (1.05, "period-2"), (1.235, "period-2"),
        (1.237, "period-4"), (1.25, "period-4"), (1.29, "period-8"), (1.31, "undecided"),
    ],
)  # fmt: skip
def test_the_predicted_orbit_is_the_one_a_long_descent_ends_on(rate, verdict):
    said = predict(QUARTIC, rate)
    assert said.verdict == verdict
    if said.orbit and rate != 1.0:
        x = descend(quartic_slope, 0.6, rate, 40_000)
        visited = sorted(descend(quartic_slope, x, rate, k) for k in range(said.orbit.period))
        assert said.orbit.points == pytest.approx(visited, abs=1e-9)
        assert said.orbit.stable


def test_a_parabola_diverges_at_every_rate_beyond_its_limit():
    edge = flip("x**2", 0.3)
    assert [predict(edge, r).verdict for r in (1e-300, 0.99, 1.0001, 1.5)] == [
        "converges", "converges", "diverges", "diverges",
    ]  # fmt: skip


def test_higher_derivatives_than_the_sixth_are_not_taken_for_none():
    bounded = flip("x**2/2-x**8/8", 0.1)
    assert predict(bounded, 2.001).verdict == "period-2"
    x = descend(lambda v: v - v**7, 0.1, 2.001, 20_000)
    assert sorted((x, -x)) == pytest.approx(predict(bounded, 2.001).orbit.points, abs=1e-9)
    steep = flip("x**2/2+x**8/8", 0.1)
    assert predict(steep, 2.001).verdict == "undecided"


def test_a_symmetric_function_breaks_its_symmetry_before_it_doubles():
    edge = flip("2*sin(x)", -1.5)
    said = predict(edge, 1.65)
    assert said.verdict == "period-2" and abs(sum(said.orbit.points) + math.pi) > 0.1
    x = descend(lambda v: 2 * math.cos(v), -1.6, 1.65, 20_000)
    after = descend(lambda v: 2 * math.cos(v), x, 1.65, 1)
    mirrored = sorted((-math.pi - x, -math.pi - after))  # which of the two depends on the start
    assert any(
        said.orbit.points == pytest.approx(found, abs=1e-9)
        for found in (sorted((x, after)), mirrored)
    )


def test_the_cascade_has_its_known_thresholds_and_ratios():
    rates = period_doublings(QUARTIC, 7)
    known = (1.0, math.sqrt(5) - 1, 1.2880318, 1.2992279, 1.3016289)
    assert rates[:5] == pytest.approx(known, abs=1e-7)
    assert rates[1] == pytest.approx(math.sqrt(5) - 1, abs=1e-12)
    gaps = np.diff(rates)
    ratios = gaps[:-1] / gaps[1:]
    assert ratios[1:3] == pytest.approx((4.641, 4.663), abs=1e-3)
    assert ratios[-1] == pytest.approx(FEIGENBAUM, abs=1e-3)


def test_there_is_no_cascade_at_a_subcritical_minimum():
    assert period_doublings(flip("x**2+x**4", 0.3), 3) == ()
