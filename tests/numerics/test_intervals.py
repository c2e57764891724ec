"""Intervals against scipy.stats, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dynascope.numerics.intervals import around, of_difference, of_mean, of_median, of_share

TRIALS = 4000


@pytest.mark.parametrize("n", [2, 3, 4, 8, 30])
def test_the_mean_has_students_interval(n):
    values = np.random.default_rng(n).normal(3, 2, n)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert np.allclose(of_mean(values), theirs, rtol=1e-9)


@pytest.mark.parametrize(("yes", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (37, 200)])
def test_a_share_has_the_interval_of_clopper_and_pearson(yes, n):
    theirs = stats.binomtest(yes, n).proportion_ci(0.95, "exact")
    assert np.allclose(of_share(yes, n), theirs, atol=1e-9)


@pytest.mark.parametrize("n", [6, 9, 20, 101])
def test_the_median_lies_within_its_order_statistics_often_enough(n):
    low, high = of_median(np.arange(float(n)))
    k = int(low)  # values left out at each end
    assert high == n - 1 - k
    outside = 2 * stats.binom.cdf(k, n, 0.5)  # the median is below the (k + 1)-th, or above
    assert outside <= 0.05 < 2 * stats.binom.cdf(k + 1, n, 0.5)


def test_too_few_say_nothing():
    assert of_mean(np.array([1.0])) is None and of_share(0, 0) is None
    assert of_median(np.arange(5.0)) is None and around(0.0, 1.0, 0) is None
    assert around(0.0, np.nan, 3) is None


@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_intervals_of_means_miss_one_time_in_twenty(n):
    draws = np.random.default_rng(0).normal(size=(TRIALS, n))
    missed = np.mean([not low <= 0 <= high for low, high in map(of_mean, draws)])
    assert 0.05 - 4 * (0.05 / TRIALS) ** 0.5 < missed < 0.05 + 4 * (0.05 / TRIALS) ** 0.5


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("n", [1, 3, 10, 40])
def test_intervals_of_shares_miss_at_most_one_time_in_twenty(p, n):
    """Exactly: the chance of every count that leaves p outside."""
    outside = [not of_share(k, n)[0] <= p <= of_share(k, n)[1] for k in range(n + 1)]
    assert stats.binom.pmf(np.arange(n + 1), n, p)[outside].sum() <= 0.05


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.9, 0.2), (0.05, 0.0), (0.3, 0.6)])
@pytest.mark.parametrize(("n", "m"), [(4, 4), (10, 25), (40, 40)])
def test_differences_of_shares_miss_at_most_one_time_in_twenty(p, q, n, m):
    missed = 0.0
    for j in range(n + 1):
        for k in range(m + 1):
            low, high = of_difference((j / n, k / m), of_share(j, n), of_share(k, m))
            if not low <= p - q <= high:
                missed += stats.binom.pmf(j, n, p) * stats.binom.pmf(k, m, q)
    assert missed <= 0.05


@pytest.mark.parametrize(("n", "m", "ratio"), [(2, 2, 1), (3, 12, 5), (8, 8, 0.2), (4, 4, 1)])
def test_differences_of_means_miss_about_one_time_in_twenty(n, m, ratio):
    random = np.random.default_rng(1)
    a, b = random.normal(size=(TRIALS, n)), ratio * random.normal(size=(TRIALS, m))
    missed = 0
    for x, y in zip(a, b):
        low, high = of_difference((x.mean(), y.mean()), of_mean(x), of_mean(y))
        missed += not low <= 0 <= high
    assert missed / TRIALS < 0.05 + 4 * (0.05 / TRIALS) ** 0.5
