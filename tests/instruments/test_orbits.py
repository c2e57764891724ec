from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.instruments.orbits.bifurcation import bifurcation, visited_values
from dynascope.instruments.orbits.descent import observe


def quartic(x):
    return (x**2 - 1) ** 2 / 4


def parabola(x):
    return x**2 / 2


@pytest.mark.parametrize(
    ("rate", "verdict"),
    [
        (0.95, "converges"), (1.0, "undecided"), (1.05, "period-2"), (1.237, "period-4"),
        (1.29, "period-8"), (1.31, "chaotic"), (2.0, "chaotic"), (2.01, "diverges"),
    ],
)  # fmt: skip
def test_verdicts_of_the_quartic(rate, verdict):
    seen = observe(quartic, rate, 0.9)
    assert seen.verdict == verdict
    assert seen.period == {"converges": 1, "period-2": 2, "period-4": 4, "period-8": 8}.get(verdict)


def test_points_multiplier_and_exponent_of_the_orbit():
    seen = observe(quartic, 1.05, 0.9)
    assert seen.points == pytest.approx((0.8728715609, 1.0910894512), abs=1e-9)
    assert seen.multiplier == pytest.approx(0.595, abs=1e-9)
    assert seen.lyapunov == pytest.approx(math.log(0.595) / 2, abs=1e-6)


def test_escape_is_a_value_with_its_step():
    assert 15 <= observe(quartic, 2.01, 0.9).steps <= 20
    assert observe(parabola, 2.01, -0.1).verdict == "diverges"
    assert observe(parabola, 2.0001, -0.1).verdict == "diverges"
    assert observe(parabola, 2.0012, 1e-14).verdict == "diverges"  # slow growth is no chaos


def test_a_parabola_at_its_limit_swings_forever_and_below_converges():
    assert observe(parabola, 2.0, 0.3).points == pytest.approx((-0.3, 0.3))
    assert observe(parabola, 1.999, 0.3).verdict == "converges"


def test_starts_that_do_not_move():
    assert observe(quartic, 1.05, 0.0).points == (0.0,)
    assert observe(quartic, 1.05, 1.0).points == (1.0,)


def test_a_start_must_be_finite():
    with pytest.raises(BadInput, match="start"):
        observe(quartic, 1.0, math.nan)


def test_counts_equal_a_histogram_of_stored_points():
    seen = bifurcation(
        quartic, (0.9, 1.25), 0.9, (0.5, 1.25), columns=5, bins=30, per_column=3, steps=407,
        counted=50, progress=False,
    )  # fmt: skip
    rates = 0.9 + (np.arange(15) + 0.5) * 0.35 / 15
    x, stored = np.full(15, 0.9), []
    for t in range(407):
        x = x - rates * x * (x * x - 1)
        if t >= 357:
            stored.append(x)
    values = np.array(stored).reshape(50, 5, 3)
    edges = np.linspace(0.5, 1.25, 31)
    for k in range(5):
        assert seen.counts[k].tolist() == np.histogram(values[:, k], edges)[0].tolist()
    assert seen.inside == pytest.approx(1) and seen.escaped.max() == 0
    assert seen.learning_rates == pytest.approx(rates.reshape(5, 3).mean(axis=1))


def test_descents_that_escape_are_counted_as_such():
    seen = bifurcation(
        quartic, (1.9, 2.2), 0.9, (-2.0, 2.0), columns=6, bins=10, steps=2000, counted=100,
        progress=False,
    )  # fmt: skip
    assert seen.escaped[:2].tolist() == [0, 0] and seen.escaped[2:].min() == 1
    assert seen.counts[2:].sum() == 0 and seen.inside[:2].min() == 1


def test_the_range_to_draw_covers_the_attractor():
    low, high = visited_values(quartic, (0.9, 1.3), 0.9)
    assert 0.4 < low < 0.585 and 1.18 < high < 1.3
    assert visited_values(quartic, (2.2, 2.3), 0.9) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"rates": (1.0, 0.5)}, {"rates": (0.0, 1.0)}, {"rates": (1.0, math.inf)},
        {"values": (1.0, 1.0)}, {"start": math.nan}, {"columns": 0}, {"counted": 3000},
    ],
)  # fmt: skip
def test_a_diagram_that_cannot_be_is_refused(wrong):
    given = {"rates": (0.9, 1.1), "start": 0.9, "values": (0.0, 1.0), **wrong}
    with pytest.raises(BadInput):
        bifurcation(quartic, **given)
