from __future__ import annotations

import math

import pytest

from dynascope.core.errors import BadInput
from dynascope.theories import flip, quartic_orbit

from .descents import FITS, descend, fit_edge, quartic_slope

QUARTIC = "(x**2-1)**2/4"


@pytest.mark.parametrize(("text", "at"), [(QUARTIC, 1.0), ("x**3-3*x", 1.0), ("cosh", None)])
def test_limit_and_criticality_come_from_the_derivatives(text, at):
    if at is None:
        edge = flip("(exp(x)+exp(-x))/2", 0.4)  # cosh: f2 = f4 = 1, f3 = 0
        assert edge.minimum == pytest.approx(0, abs=1e-15)
        assert (edge.stability_limit, edge.criticality) == pytest.approx((2, -1))
        assert edge.kind == "subcritical" and edge.order == 4
        return
    edge = flip(text, at + 0.1)
    expected = {QUARTIC: (1.0, 96.0, "supercritical"), "x**3-3*x": (1 / 3, 108.0, "supercritical")}
    assert edge.minimum == pytest.approx(at, abs=1e-14)
    assert (edge.stability_limit, edge.criticality) == pytest.approx(expected[text][:2])
    assert edge.kind == expected[text][2]


def test_a_function_of_jax_gives_the_same_as_its_text():
    def quartic(x):
        return (x**2 - 1) ** 2 / 4

    assert flip(quartic, 0.9).derivatives == flip(QUARTIC, 0.9).derivatives
    assert flip(quartic, 0.9).function == "quartic"


@pytest.mark.parametrize("name", FITS)
def test_the_amplitude_law_is_right_within_a_percent_near_onset(name):
    g, slope, _, at = FITS[name]
    y, edge = g(at), fit_edge(name)
    assert edge.minimum == pytest.approx(at, abs=1e-10) and edge.kind == "supercritical"
    rate = edge.stability_limit * 1.001

    def gradient(x):
        return 2 * (g(x) - y) * slope(x)

    x = descend(gradient, at - 0.5 * edge.half_amplitude(rate), rate, 20_000)
    half = abs(descend(gradient, x, rate, 1) - x) / 2
    assert edge.half_amplitude(rate) == pytest.approx(half, rel=0.01)
    found = edge.orbit(rate)
    assert (found.points[1] - found.points[0]) / 2 == pytest.approx(half, rel=1e-9)
    assert found.stable


def test_the_orbit_of_two_sines_has_its_known_half_amplitude():
    edge = flip("2*sin(x)", -1.5)
    low, high = edge.orbit(1.01).points
    assert (high - low) / 2 == pytest.approx(0.244097, abs=1e-6)
    assert edge.order == 4 and edge.kind == "supercritical"


def test_sine_has_the_exact_orbit_of_its_closed_form():
    edge = flip("sin(x)", -1.5)
    for a in (0.1, 0.7, 1.3):
        low, high = edge.orbit(2 * a / math.sin(a)).points
        assert (low, high) == pytest.approx((-math.pi / 2 - a, -math.pi / 2 + a), abs=1e-11)


def test_theorem_31_gives_the_rate_for_a_point():
    edge = flip(QUARTIC, 1.0)
    known = {0.99: (1.000389, 1.0309), 0.95: (1.008808, 1.1765), 0.90: (1.032153, 1.4286)}
    for point, (rate, bound) in known.items():
        found = edge.rate_for(point)
        assert found.learning_rate == pytest.approx(rate, abs=1e-6)
        assert found.bound == pytest.approx(bound, abs=1e-4)
        assert 1 < found.learning_rate < found.bound
        assert descend(quartic_slope, point, found.learning_rate, 2) == pytest.approx(point)
        assert descend(quartic_slope, point, found.learning_rate, 1) == pytest.approx(found.partner)
    other_side = edge.rate_for(1.02)
    assert other_side.bound is None and other_side.partner < 1
    assert edge.rate_for(1.0) is None and edge.rate_for(-0.5) is None


def test_lemma_32_covers_a_fifth_derivative():
    edge = flip("x**2/2+x**5/120-x**6/720", 0.1)
    assert edge.order == 5 and edge.kind == "supercritical"
    found = edge.rate_for(-0.1)  # here eps f5 < 0: on this side the printed bracket says nothing
    assert found.learning_rate == pytest.approx(2.00000168, abs=1e-8)
    rate = 2 * (1 + 1e-8)
    low, high = edge.orbit(rate).points
    assert edge.half_amplitude(rate) == pytest.approx((high - low) / 2, rel=1e-3)


def test_a_parabola_has_no_orbit_and_a_subcritical_minimum_one_that_repels():
    edge = flip("3*x**2", 0.3)
    assert edge.kind == "no orbit" and edge.order is None
    assert edge.orbit(1.01 * edge.stability_limit) is None
    assert edge.half_amplitude(1.01 * edge.stability_limit) is None
    steep = flip("x**2+x**4", 0.3)
    assert steep.orbit(1.01) is None and steep.half_amplitude(1.01) is None
    low, high = steep.orbit(0.99).points  # 2x + 4x^3 = 2x / 0.99
    assert high == pytest.approx(math.sqrt((2 / 0.99 - 2) / 4)) and low == pytest.approx(-high)
    assert steep.multiplier(0.99) > 1


def test_a_curve_without_slope_in_its_third_derivative_is_zero_up_to_rounding():
    edge = flip("(log(exp(x))-1)**2", 0.7)
    assert edge.kind == "no orbit"


def test_a_minimum_is_found_from_far_away_and_at_every_scale():
    assert flip("exp(x)-x", 30.0).minimum == pytest.approx(0, abs=1e-9)
    assert flip("exp(x)-x", 30.0).kind == "supercritical"
    for scale in (1e-6, 1e6):
        edge = flip(f"((x/{scale!r})**2-1)**2/4", scale)
        assert edge.kind == "supercritical"
        points = edge.orbit(1.05 * edge.stability_limit).points
        assert points == pytest.approx((scale * 0.8728715609, scale * 1.0910894512), rel=1e-9)


def test_where_all_derivatives_up_to_the_sixth_cancel_higher_ones_decide():
    eighth = flip("x**2/2-x**8/8", 0.1)  # 2 a / (a - a^7) = eta at the orbit's half-amplitude a
    assert eighth.kind == "degenerate" and eighth.order is None
    assert eighth.half_amplitude(2.001) is None
    low, high = eighth.orbit(2.001).points
    assert high == pytest.approx((1 - 2 / 2.001) ** (1 / 6)) and low == pytest.approx(-high)
    cancelled = flip("x**2/2+x**3/6+x**4/8", 0.1)  # 3 f3^2 = f2 f4, and the orbit lies before
    assert cancelled.kind == "degenerate" and cancelled.criticality == 0
    assert cancelled.orbit(2.001) is None and cancelled.orbit(1.999) is not None
    assert flip("x**2/2+x**5/120", 0.1).kind == "degenerate"


@pytest.mark.parametrize(
    ("text", "near", "word"),
    [
        (QUARTIC, 0.0, "ended at x = 0, where f'' = -1"),
        (QUARTIC, 0.1, "f'' = -1"),
        ("x**4", 0.5, "f'' > 0"),
        ("exp(x)", 0.0, "the search came to"),
        ("3", 0.0, "f'' > 0"),
        ("log(x)", -1.0, "near"),
        ("x-log(x)", -1.0, "where the function is finite"),
        ("x**2", math.nan, "finite"),
    ],
)
def test_a_point_that_is_no_minimum_is_named_in_one_line(text, near, word):
    with pytest.raises(BadInput) as refused:
        flip(text, near)
    assert word in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("rate", [math.nan, math.inf, 0.0, -1.0])
def test_a_rate_must_be_finite_and_positive(rate):
    with pytest.raises(BadInput, match="learning_rate"):
        flip(QUARTIC, 1.0).orbit(rate)


def test_the_amplitude_law_has_the_constant_of_the_quartics_closed_form():
    """sqrt(6 kappa f2^2 / (3 f3^2 - f2 f4)), where the next term is of relative order kappa."""
    edge, kappa = flip(QUARTIC, 1.0), 1e-6
    low, high = quartic_orbit(1.0, 1 + kappa).points
    assert edge.half_amplitude(1 + kappa) == pytest.approx((high - low) / 2, rel=1e-5)
