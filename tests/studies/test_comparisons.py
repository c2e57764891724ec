"""The rule: how often it decides at the bound itself, and how often it should decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dynascope.core.records import Measured
from dynascope.studies.comparisons import (
    at_least,
    at_most,
    between,
    in_all_seeds,
    near,
    seeds_needed,
)
from dynascope.studies.measures import (
    average,
    average_share,
    estimate,
    exact,
    median,
    minus,
    share,
)

TRIALS = 4000
SLACK = 4 * (0.05 * 0.95 / TRIALS) ** 0.5  # four standard errors of the trials


def decided(bound, measured):
    return bound.verdict(measured) != "undecided"


@pytest.mark.parametrize("n", [2, 3, 4, 8, 30])
def test_a_mean_at_the_bound_is_decided_one_time_in_twenty(n):
    """Two standard errors decide 29 % of the time at n = 2, and one at any n far too often."""
    draws = np.random.default_rng(n).normal(size=(TRIALS, n))
    rate = np.mean([decided(at_least(0.0, "ours"), average(d)) for d in draws])
    assert 0.05 - SLACK < rate < 0.05 + SLACK


@pytest.mark.parametrize("p", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 5, 20, 100])
def test_a_share_at_the_bound_is_decided_at_most_one_time_in_twenty(n, p):
    """Exactly, over every count; `k / n` with its own spread decides always at 0 and n."""
    rate = sum(
        stats.binom.pmf(k, n, p)
        for k in range(n + 1)
        if decided(at_least(p, "ours"), share(np.arange(n) < k))
    )
    assert rate <= 0.05


@pytest.mark.parametrize("events", [1, 2, 5, 40])
@pytest.mark.parametrize("seeds", [2, 4, 8])
def test_a_mean_of_shares_at_the_bound_is_decided_at_most_one_time_in_twenty(seeds, events):
    """With Student's interval alone two seeds of one event each decide two times in three."""
    counts = np.full(seeds, events)
    bound = at_least(0.8, "ours")
    drawn = np.random.default_rng(0).binomial(events, 0.8, (1000, seeds)) / events
    assert np.mean([decided(bound, average_share(shares, counts)) for shares in drawn]) <= 0.05
    certain = average_share(np.ones(40), np.full(40, events))
    assert bound.verdict(certain) == "holds", "forty seeds that agree are enough"


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_differences_at_the_bound_are_decided_at_most_one_time_in_twenty(p):
    n, rate = 12, 0.0
    for j in range(n + 1):
        for k in range(n + 1):
            found = minus(share(np.arange(n) < j), share(np.arange(n) < k))
            if decided(at_least(0.0, "ours"), found):
                rate += stats.binom.pmf(j, n, p) * stats.binom.pmf(k, n, p)
    assert rate <= 0.05


@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 12), (8, 8)])
def test_differences_of_means_at_the_bound_are_decided_at_most_one_time_in_twenty(m, n):
    """Also where one mean has few seeds and little spread, the other many and much."""
    rng, decisions = np.random.default_rng(m + n), 0
    for _ in range(TRIALS):
        a, b = rng.normal(size=m), 3 * rng.normal(size=n)
        decisions += decided(at_least(0.0, "ours"), minus(average(a), average(b)))
    assert decisions / TRIALS < 0.05 + SLACK


def test_a_median_at_the_bound_is_decided_at_most_one_time_in_twenty():
    draws = np.random.default_rng(0).exponential(size=(TRIALS, 15))
    rate = np.mean([decided(at_most(np.log(2), "ours"), median(d)) for d in draws])
    assert rate < 0.05 + SLACK


@pytest.mark.parametrize(("distance", "least"), [(1.0, 0.3), (2.0, 0.8), (4.0, 0.99)])
def test_what_is_far_from_the_bound_is_decided_and_rightly(distance, least):
    """With eight seeds: power at one, two and four standard deviations from the bound."""
    draws = distance + np.random.default_rng(5).normal(size=(1000, 8))
    verdicts = [at_least(0.0, "ours").verdict(average(d)) for d in draws]
    assert verdicts.count("holds") / 1000 > least and verdicts.count("fails") < 10
    verdicts = [at_most(0.0, "ours").verdict(average(d)) for d in draws]
    assert verdicts.count("fails") / 1000 > least and verdicts.count("holds") < 10


def test_one_seed_decides_nothing_unless_nothing_is_random():
    assert at_least(0.0, "ours").verdict(average(np.array([9.0]))) == "undecided"
    assert at_least(0.0, "ours").verdict(exact(9.0)) == "holds"
    assert at_least(0.0, "ours").verdict(exact(-9.0)) == "fails"
    assert at_least(0.0, "ours").verdict(exact(1.0, 2.0)) == "undecided"
    assert at_least(0.0, "ours").verdict(estimate(1.0, 0.1, 0, 1)) == "undecided"


def test_an_interval_wider_than_the_bound_decides_nothing():
    wide = Measured(1.0, 1.0, 4, -3.0, 5.0)
    assert between(0.5, 1.5, "ours").verdict(wide) == "undecided"
    assert near(1.0, 0.1, "ours").verdict(wide) == "undecided"
    assert near(1.0, 0.1, "ours").verdict(Measured(1.0, 1.0, 4, 0.95, 1.05)) == "holds"
    assert near(1.0, 0.1, "ours").verdict(Measured(2.0, 1.0, 4, 1.2, 5.0)) == "fails"


def test_what_is_told_beside_the_interval():
    """Spread and kind say how many seeds would decide, and whether seeds are behind it at all."""
    assert average(np.array([1.0, 2.0, 3.0])).spread == pytest.approx(1.0)
    assert share(np.arange(4) < 1).spread == pytest.approx(3**0.5 / 4)
    assert minus(exact(2.0), exact(1.0)).kind == "exact"
    assert minus(exact(2.0), average(np.array([1.0, 2.0]))).kind == "mean"
    assert seeds_needed(minus(exact(2.0, 3.0), exact(1.0)), at_least(0.5, "ours")) is None


def test_what_is_no_number_decides_nothing():
    bound = at_least(0.0, "ours")
    assert bound.verdict(exact(np.nan)) == "undecided"
    assert bound.verdict(average(np.array([1.0, np.nan, 2.0]))) == "undecided"
    assert bound.verdict(average(np.array([]))) == "undecided"
    assert bound.verdict(share(np.array([], bool))) == "undecided"
    assert bound.verdict(median(np.array([]))) == "undecided"
    assert bound.verdict(minus(average(np.array([])), exact(1.0))) == "undecided"


def test_all_seeds_are_refuted_by_one_and_need_six():
    bound = in_all_seeds("printed")
    assert bound.verdict(share(np.ones(100, bool))) == "holds"
    assert bound.verdict(share(np.arange(100) > 0)) == "fails"
    assert [bound.verdict(share(np.ones(n, bool))) for n in (5, 6)] == ["undecided", "holds"]
    assert bound.words() == {"low": 1.0, "high": None, "every": 1.0}


@pytest.mark.parametrize(
    ("measured", "bound"),
    [
        (average(np.array([0.4, 0.9, 0.7])), at_least(0.5, "ours")),
        (share(np.arange(10) < 3), at_least(0.2, "ours")),
        (share(np.ones(3, bool)), in_all_seeds("ours")),
        (average(np.array([0.9, 1.1, 1.3])), between(0.8, 1.2, "ours")),
    ],
)
def test_so_many_seeds_decide_and_one_less_than_that_does_not(measured, bound):
    from dynascope.studies.comparisons import _with_seeds

    n = seeds_needed(measured, bound)
    assert n is not None and n < 1000
    assert decided(bound, _with_seeds(measured, n))
    if n <= 100:  # beyond, the search goes in steps of a tenth
        assert not decided(bound, _with_seeds(measured, n - 1))


def test_no_number_of_seeds_decides_what_lies_on_the_bound():
    assert seeds_needed(average(np.array([0.4, 0.6])), at_least(0.5, "ours")) is None
    assert seeds_needed(exact(1.0, 2.0), at_least(0.5, "ours")) is None
    assert seeds_needed(average(np.array([1.0])), at_least(0.5, "ours")) is None
