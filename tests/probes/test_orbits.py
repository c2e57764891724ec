from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes import lyapunov, period


def quartic(rate, start=0.6, steps=40_000, keep=1024):
    x, seen = start, []
    for t in range(steps):
        x -= rate * x * (x * x - 1)
        if t >= steps - keep:
            seen.append(x)
    return np.array(seen)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0.95, 1), (1.05, 2), (1.235, 2), (1.237, 4), (1.25, 4), (1.29, 8), (1.31, None)],
)
def test_periods_of_the_quartic(rate, expected):
    assert period(quartic(rate)) == expected


def test_a_window_of_period_three_or_six_is_seen_too():
    assert period(quartic(1.46)) == 3


def test_the_slow_approach_at_the_edge_is_neither_a_fixed_point_nor_an_orbit():
    seen = quartic(1.0, 0.9, 1_000_000)
    assert np.abs(seen[2:] - seen[:-2]).max() < 1e-9  # an absolute tolerance would be fooled
    assert period(seen) is None
    assert abs(seen[-1] - 1) * 1000 == pytest.approx(0.25, rel=0.01)


def test_starts_that_never_move_have_period_one():
    assert period(quartic(1.05, 1.0, 2000)) == 1
    assert period(quartic(1.05, 0.0, 2000)) == 1


def test_states_may_have_many_coordinates_and_the_longest_period_counts():
    times = np.arange(600)
    states = np.stack([times % 2, times % 3], axis=1).astype(float)
    assert period(states) == period(states, max_period=6) == 6
    assert period(states, max_period=5) is None


def test_what_has_left_finite_numbers_has_no_period():
    assert period([*[1.0] * 500, np.nan]) is None


def test_too_few_states_are_refused():
    with pytest.raises(BadInput, match="at least 256 states"):
        period(np.ones(100))


def test_noise_has_no_period():
    assert period(np.random.default_rng(0).normal(size=2000)) is None


def test_the_exponent_of_full_chaos_is_log_three():
    def step(x):
        return 3 * x - 2 * x**3

    x, seen = 0.6, []
    for _ in range(20_000):
        x = 3 * x - 2 * x**3
        seen.append(x)
    assert lyapunov(seen, step) == pytest.approx(math.log(3), abs=0.02)


def test_the_exponent_of_an_orbit_is_half_the_log_of_its_multiplier():
    found = lyapunov(quartic(1.05), lambda x: x - 1.05 * x * (x**2 - 1))
    assert found == pytest.approx(math.log(0.595) / 2, abs=1e-9)


def test_the_top_exponent_of_a_linear_map_is_its_largest_eigenvalue():
    matrix = np.array([[2.0, 1.0], [0.0, 0.5]])
    found = lyapunov(np.zeros((4000, 2)), lambda v: jnp.asarray(matrix) @ v)
    assert found == pytest.approx(math.log(2), abs=1e-3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert lyapunov(np.zeros((500, 2)), lambda v: jnp.asarray(turn) @ v) == pytest.approx(
        0, abs=1e-9
    )


def test_an_error_that_vanishes_has_exponent_minus_infinity():
    assert lyapunov(np.zeros(10), lambda x: x**2) == -math.inf
