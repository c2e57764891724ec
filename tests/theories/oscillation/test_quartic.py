from __future__ import annotations

import math

import pytest

from dynascope.core.errors import BadInput
from dynascope.theories import quartic_orbit
from dynascope.theories.oscillation.quartic import (
    BOUNDED_UNTIL,
    DOUBLING,
    SIGN_CHANGES,
    SUPERSTABLE,
    printed_rate,
)

from .descents import descend, quartic_slope


def test_two_thousand_steps_end_on_the_orbit():
    x = descend(quartic_slope, 0.6, 1.05, 2000)
    visited = sorted((x, descend(quartic_slope, x, 1.05, 1)))
    assert visited == pytest.approx((0.8728715609, 1.0910894512), abs=1e-9)
    assert quartic_orbit(1.0, 1.05).points == pytest.approx(visited, abs=1e-12)


def test_the_product_of_the_points_and_the_scale():
    for k in (1.01, 1.05, 1.2, 1.5, 1.9):
        low, high = quartic_orbit(1.0, k).points
        assert low * high == pytest.approx(1 / k, abs=1e-12)
        assert low**2 + high**2 == pytest.approx((k + 1) / k, abs=1e-12)
        assert quartic_orbit(4.0, k / 4).points == pytest.approx((2 * low, 2 * high), abs=1e-12)


def test_both_points_solve_the_printed_equation_up_to_one_and_a_half_only():
    for k in (1.01, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5):
        for point in quartic_orbit(1.0, k).points:
            assert printed_rate(point, 1.0) == pytest.approx(k, abs=1e-12)
    low, high = quartic_orbit(1.0, 1.9).points
    assert printed_rate(low, 1.0) == pytest.approx(1.9, abs=1e-12)
    assert printed_rate(high, 1.0) == pytest.approx(1.26667, abs=1e-5)
    assert descend(quartic_slope, high, 1.9, 2) == pytest.approx(high, abs=1e-12)


def test_the_multiplier_is_that_of_finite_differences():
    for k in (1.01, 1.05, SUPERSTABLE, 1.2, DOUBLING, 1.5):
        orbit = quartic_orbit(1.0, k)
        for x in orbit.points:
            ends = [descend(quartic_slope, x + h, k, 2) for h in (1e-5, -1e-5)]
            assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(orbit.multiplier, abs=1e-6)
    assert quartic_orbit(1.0, SUPERSTABLE).multiplier == pytest.approx(0, abs=1e-12)
    assert quartic_orbit(1.0, DOUBLING).multiplier == pytest.approx(-1, abs=1e-12)


def test_trajectories_cross_zero_and_escape_beyond_the_named_values():
    def lowest(k):
        x, least = 0.6, math.inf
        for _ in range(3000):
            x -= k * quartic_slope(x)
            least = min(least, x)
        return least

    assert lowest(SIGN_CHANGES - 1e-3) > 0 > lowest(SIGN_CHANGES + 1e-3)
    x, step = 0.9, 0
    while abs(x) < 1e3:
        x -= (BOUNDED_UNTIL + 0.01) * quartic_slope(x)
        step += 1
    assert 15 <= step <= 20


def test_there_is_no_orbit_up_to_the_edge():
    assert quartic_orbit(1.0, 1.0) is None and quartic_orbit(2.0, 0.4) is None
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(BadInput):
            quartic_orbit(wrong, 1.0)
