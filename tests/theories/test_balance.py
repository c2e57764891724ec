from __future__ import annotations

import numpy as np
import pytest

from dynascope.theories.balance import (
    factor_step,
    imbalance_ratio,
    in_stable_set,
    product_sharpness,
    sharpness,
    stable_sum,
    stays_positive,
    top_slope,
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
