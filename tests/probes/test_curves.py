from itertools import pairwise

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes.curves import (
    bump,
    count_descents,
    descents,
    noise_level,
    terminal_rate,
)

TIMES = np.linspace(0, 10, 1001)


def planted(extrema, samples=200):
    """A smooth curve through given values, with turning points exactly there."""
    ramp = (1 - np.cos(np.linspace(0, np.pi, samples))) / 2
    legs = [a + (b - a) * ramp[:-1] for a, b in pairwise(extrema)]
    return np.concatenate([*legs, [extrema[-1]]])


def test_bump_is_the_largest_rise_by_brute_force():
    curves = np.random.default_rng(0).uniform(1, 2, (50, 30))
    for curve, found in zip(curves, bump(curves), strict=True):
        best = max(curve[j] - curve[i] for i in range(30) for j in range(i, 30))
        assert found == pytest.approx(best / curve[0])


def test_bump_of_a_falling_curve_is_zero_and_keeps_leading_axes():
    assert bump(np.exp(-TIMES)) == 0
    assert bump(np.ones((2, 3, 5))).shape == (2, 3)
    with pytest.raises(BadInput, match="first value"):
        bump([0.0, 1.0])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_planted_descents_are_found_with_size_and_time(n):
    extrema = [4.0, 1.0, 2.0, 0.5, 0.8, 0.2, 0.25, 0.0][: 2 * n]
    curve = planted(extrema)
    found = descents(curve, times=0.1 * np.arange(len(curve)))
    assert found.n_descents == n == count_descents(curve)
    assert [turn.value for turn in found.turns] == extrema
    assert [turn.index for turn in found.turns] == [199 * i for i in range(2 * n)]
    assert found.turns[0].kind == "start" and found.turns[-1].kind == "end"
    inner = [turn.kind for turn in found.turns[1:-1]]
    assert inner == ["minimum", "maximum"] * (n - 1)
    sizes = np.abs(np.diff(extrema)) / 4
    assert [leg.size for leg in found.legs] == pytest.approx(list(sizes))
    assert [leg.end.time for leg in found.ascents] == pytest.approx([
        0.1 * 199 * 2 * k for k in range(1, n)
    ])


def test_edge_cases():  # M29
    assert descents(np.exp(-TIMES)).n_descents == 1
    assert descents(np.ones(10)).n_descents == 0 and descents(np.ones(10)).turns == ()
    assert descents([3.0]).n_descents == 0
    assert descents([1.0, 2.0]).n_descents == 0 and len(descents([1.0, 2.0]).ascents) == 1
    assert descents(np.zeros(5)).n_descents == 0
    for spoiled in ([1.0, np.nan], [1.0, np.inf], []):
        with pytest.raises(BadInput, match="curve"):
            descents(spoiled)
    with pytest.raises(BadInput, match="count_descents"):
        descents(np.ones((2, 3)))
    with pytest.raises(BadInput, match="threshold"):
        descents([1.0, 2.0], threshold="loud")
    with pytest.raises(BadInput, match="times"):
        descents([1.0, 2.0], times=[1.0])


def test_noise_below_the_threshold_is_ignored():  # M29
    wiggle = 0.0009 * np.cos(np.pi * np.arange(1001))  # turns of 0.18% on the plateau
    curve = np.exp(-TIMES) + wiggle
    assert descents(curve).n_descents == 1
    assert descents(curve, threshold=0.001).n_descents > 100
    assert descents(planted([1.0, 0.5, 0.5019, 0.0])).n_descents == 1
    assert descents(planted([1.0, 0.5, 0.5021, 0.0])).n_descents == 2


def test_small_rise_before_the_first_descent_is_no_ascent():
    found = descents(planted([1.0, 1.001, 0.0]))
    assert found.n_descents == 1 and not found.ascents


def test_noise_level_is_the_noise_and_not_the_curve():
    clean = planted([4.0, 1.0, 2.0, 0.0], samples=400)
    assert noise_level(clean).max() < 1e-5
    random = np.random.default_rng(0)
    for sigma in (0.003, 0.1):
        noisy = clean + sigma * random.standard_normal(len(clean))
        assert np.median(noise_level(noisy)) == pytest.approx(sigma, rel=0.1)
    for n in range(1, 12):
        assert noise_level(random.standard_normal(n)).shape == (n,)


def test_noise_aware_threshold_keeps_a_real_bump_and_drops_noise():
    random = np.random.default_rng(1)
    curve = planted([4.0, 1.0, 2.0, 0.0], samples=400)
    noisy = curve + 0.05 * random.standard_normal(len(curve))
    assert descents(noisy).n_descents > 10
    found = descents(noisy, threshold="noise")
    assert found.n_descents == 2
    assert found.ascents[0].end.value == pytest.approx(2.0, abs=0.2)
    buried = planted([4.0, 1.0, 1.1, 0.0], samples=400) + 0.05 * random.standard_normal(1198)
    assert descents(buried, threshold="noise").n_descents == 1
    assert descents(curve, threshold="noise").n_descents == 2  # without noise, the plain rule


def test_terminal_rate_is_the_slowest_rate_with_its_error():
    curve = np.exp(-0.5 * TIMES) + 3 * np.exp(-4 * TIMES)
    assert terminal_rate(curve, TIMES).rate == pytest.approx(0.5, abs=1e-6)
    random = np.random.default_rng(0)
    misses = []
    for _ in range(300):
        noisy = np.exp(-0.5 * TIMES + 0.1 * random.standard_normal(len(TIMES)))
        found = terminal_rate(noisy, TIMES)
        misses.append((found.rate - 0.5) / found.error)
    assert np.std(misses) == pytest.approx(1, abs=0.15)  # the error is what it says


def test_terminal_rate_stops_before_round_off():
    curve = np.exp(-8 * TIMES) + 1e-16
    found = terminal_rate(curve, TIMES)
    assert found.rate == pytest.approx(8, abs=0.01)
    with pytest.raises(BadInput, match="tail"):
        terminal_rate([1.0, 0.0, 0.0], [0, 1, 2])
    with pytest.raises(BadInput, match="tail"):
        terminal_rate(curve, TIMES, tail=0.0)
    with pytest.raises(BadInput, match="times"):
        terminal_rate(curve, TIMES[:-1])
