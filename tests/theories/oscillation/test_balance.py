from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from dynascope.core.errors import BadInput
from dynascope.theories.oscillation.balance import (
    factor_step,
    imbalance_ratio,
    in_stable_set,
    in_tracking_set,
    nearest_minimiser,
    product_sharpness,
    sharpness,
    stable_sum,
    stays_positive,
    top_slope,
    two_step_bounds,
    unbalanced_orbit,
)


def states(n, seed=0):
    return np.random.default_rng(seed).uniform(0.02, 3.0, size=(2, n))


def test_the_identities_of_one_step():
    x, y = states(100)
    mu, eta = 1.3, 0.8
    r = x * y - mu
    x1, y1 = factor_step(x, y, mu, eta)
    assert x1**2 - y1**2 == pytest.approx((x**2 - y**2) * (1 - eta**2 * r**2), rel=1e-12, abs=1e-11)
    product = x * y * (1 - eta * r) ** 2 - eta * r * (x - y) ** 2
    assert x1 * y1 == pytest.approx(product, rel=1e-12, abs=1e-12)


def test_theorem_34_is_never_violated_below_one_and_a_half_and_is_above():
    x, y = states(400_000)
    beyond = x * y > 1
    x, y = x[beyond], y[beyond]
    checked = 0
    for k in (1.01, 1.1, 1.2, 1.3, 1.4, 1.49):
        ratio, positive = imbalance_ratio(x, y, 1.0, k)
        checked += positive.sum()
        assert ratio[positive].max() < 1
    assert checked >= 100_000
    ratio, positive = imbalance_ratio(x, y, 1.0, 1.55)
    assert ratio[positive].max() > 1


def test_lemma_b2_promises_positivity_that_is_kept():
    x, y = np.random.default_rng(3).uniform(0.3, 2.0, size=(2, 20_000))
    promised = 0
    for k in (1.02, 1.1, 1.2):
        safe = stays_positive(x, y, 1.0, k)
        promised += safe.sum()
        a, b = x[safe], y[safe]
        for _ in range(300):
            a, b = factor_step(a, b, 1.0, k)
            assert min(a.min(), b.min()) > 0
    assert promised >= 1000
    assert not stays_positive(0.5, 0.5, 1.0, 1.1)


def test_the_printed_start_balances_and_another_one_escapes():
    x, y = 1.5, 0.7
    for _ in range(4000):
        x, y = factor_step(x, y, 1.0, 1.08)
    after = factor_step(x, y, 1.0, 1.08)
    assert abs(x - y) < 1e-12
    assert sorted((float(x), float(after[0]))) == pytest.approx((0.835743, 1.107908), abs=1e-6)
    x, y, steps = 2.0, 0.52, 0
    while abs(x) < 1e3 and steps < 200:
        x, y = factor_step(x, y, 1.0, 1.08)
        steps += 1
    assert steps < 200


def test_sharpness_and_slope_are_those_of_the_dense_hessian():
    for x, y in states(20).T:
        off = 2 * x * y - 1
        values, vectors = np.linalg.eigh([[y * y, off], [off, x * x]])
        assert sharpness(x, y) == pytest.approx(values[1], rel=1e-12)
        gradient = (x * y - 1) * np.array([y, x])
        assert top_slope(x, y) == pytest.approx(abs(gradient @ vectors[:, 1]), abs=1e-12)


def test_the_stable_set_holds_the_flat_minimisers_and_the_forgotten_diagonal():
    assert stable_sum(0.95) == pytest.approx(2.02614, abs=1e-5)
    edge = stable_sum(0.95)
    for total, inside in ((edge - 1e-6, True), (edge + 1e-6, False)):
        x = (total + np.sqrt(total**2 - 4)) / 2
        assert bool(in_stable_set(x, 1 / x, 0.95)) == inside
    assert sharpness(0.5, 0.5) == pytest.approx(0.75)
    assert in_stable_set(0.5, 0.5, 1.08) and not in_stable_set(1.0, 1.0, 1.08)
    assert not in_stable_set(0.5, 0.6, 1.08)


def test_a_product_of_n_factors_is_never_flatter_than_two():
    logs = np.random.default_rng(4).normal(size=(1000, 5))
    factors = np.exp(logs - logs.mean(axis=1, keepdims=True))
    assert product_sharpness(factors).min() >= 2
    assert product_sharpness(np.ones(7)) == 2


def lemma_b2(k, m):
    """What the lemma asks to be below p, less p, written out from the text for x y near mu."""
    p = 4 / (m + (m * m + 4) ** 0.5) ** 2
    q = (1 + p) * (1 + p)
    m2 = m * m
    cubed = (1 + k) * (1 + k) * (1 + k) * 4 / 27
    return cubed + (2 * k * k / 3 - k / 3 + q * k * k * m2 / (2 * k + 2)) * q * m2 - k - p


@pytest.mark.parametrize("k", [1.02, 1.1, 1.3])
def test_lemma_b2_ends_where_its_condition_does(k):
    m = brentq(lambda m: lemma_b2(k, m), 0.0, 2.0)
    for gap, promised in ((m - 1e-4, True), (m + 1e-4, False)):
        x = (gap + (gap**2 + 4 * (1 + 1e-9)) ** 0.5) / 2  # x (x - gap) just above 1
        assert bool(stays_positive(x, x - gap, 1.0, k)) == promised


def test_bounds_of_the_proof_are_those_of_its_three_cases():
    k, root = 1.1, 1.28**0.5
    x, y = np.array([1.5, root, 1.05]), np.array([1.2, root, 1.0])
    low, high = two_step_bounds(x, y, 1.0, k)
    after = np.prod(factor_step(x, y, 1.0, k), axis=0)
    turn = (1 + 1 / k) / 3
    assert k * (1 - after[0]) >= 0.5, "(I.1)"
    assert k * (1 - after[1]) < 0.5 and after[1] <= turn < after[2], "(I.2) and (I.3)"
    expected = [0.5 + 0.5 * 1.2 / 1.5, 2 - 1.1, 1 - 2 * 0.1 * 0.05]  # (B.38), (B.42), (B.45)
    assert high == pytest.approx(np.array(expected))
    assert low == pytest.approx(np.full(3, 2 - 2 * 1.1))  # (B.46)


@pytest.mark.parametrize("k", [1.63, 1.8, 1.99])
def test_an_unbalanced_orbit_of_period_four_is_there_and_repels(k):
    orbit = unbalanced_orbit(k)
    for now, then in zip(orbit, np.roll(orbit, -1, axis=0), strict=True):
        assert np.array(factor_step(*now, 1.0, k)) == pytest.approx(then, abs=1e-12)
    assert orbit.min() > 0 and np.abs(np.diff(orbit, axis=1)).min() > 1e-2
    jacobian = np.eye(2)
    for x, y in orbit:
        step = np.eye(2) - k * np.array([[y * y, 2 * x * y - 1], [2 * x * y - 1, x * x]])
        jacobian = step @ jacobian
    assert np.sort(np.linalg.eigvals(jacobian)) == pytest.approx([(5 - k * k) ** 2, 81], rel=1e-9)


@pytest.mark.parametrize("k", [1.6, 2.0])
def test_outside_its_range_there_is_no_unbalanced_orbit(k):
    with pytest.raises(BadInput, match="a number between"):
        unbalanced_orbit(k)


def test_definition_4_keeps_sharp_minimisers_and_the_forgotten_diagonal():
    for x, y in states(20).T:
        off = 2 * x * y - 1
        second = np.linalg.eigvalsh([[y * y, off], [off, x * x]])[0]
        assert x * x + y * y - sharpness(x, y) == pytest.approx(second, abs=1e-12)
    assert in_tracking_set(3.0, 1 / 3, 1.08) and not in_stable_set(3.0, 1 / 3, 1.08)
    assert in_tracking_set(0.5, 0.5, 1.08) and not in_tracking_set(0.5, 0.7, 1.08)


def test_the_nearest_minimiser_is_where_the_gap_is_normal_to_the_curve():
    x, y = nearest_minimiser(1.6, 0.9)
    assert x * y == pytest.approx(1, abs=1e-12)
    assert (1.6 - x) * -x + (0.9 - y) * y == pytest.approx(0, abs=1e-6)
    ended = nearest_minimiser(3.0, 0.4, stable_sum(0.95))
    assert ended.sum() == pytest.approx(stable_sum(0.95), abs=1e-9)
