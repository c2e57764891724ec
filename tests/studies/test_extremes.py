"""The largest of several measurements decides falsely no more often than one does."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.records import Measured
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.extremes import distance, largest, largest_distance, smallest
from dynascope.studies.measures import average, exact, share

NAN = float("nan")


def test_the_largest_of_several_needs_more_for_its_low_end():
    """Nine of ten true gaps of 0 would else be above 0.05 too often: 2.5 % for each of them."""
    rng, decided = np.random.default_rng(0), 0
    for _ in range(1000):
        draws = [share(rng.random(200) < 0.3) for _ in range(5)]
        decided += largest_distance((m, 0.3) for m in draws).low > 0
    assert decided <= 70  # 5 %, and three deviations


def test_shares_near_one_have_ends_of_their_own_kind():
    """Wider by Student's ratio the low end would be above all true shares in 4.3 % of cases."""
    rng, chance, beyond = np.random.default_rng(1), 0.9475, 0
    for _ in range(4000):
        shares = (share(np.arange(100) < n) for n in rng.binomial(100, chance, 10))
        beyond += largest(shares).low > chance
    assert beyond / 4000 <= 0.025 + 0.0075  # and three deviations


@pytest.mark.parametrize("extreme", [largest, smallest])
@pytest.mark.parametrize("seeds", [4, 8, 24])
def test_at_the_bound_the_extreme_of_five_means_rarely_decides(seeds, extreme):
    """All five true means are at the bound: where the largest true value is."""
    rng = np.random.default_rng(seeds)
    bound = at_most(0.0, "ours") if extreme is largest else at_least(0.0, "ours")
    found = [extreme(average(row) for row in rng.normal(size=(5, seeds))) for _ in range(2000)]
    assert sum(bound.verdict(m) != "undecided" for m in found) / 2000 <= 0.05 + 0.015


@pytest.mark.parametrize("extreme", [largest, smallest])
def test_what_is_no_number_leaves_nothing_to_say(extreme):
    for odd in (NAN, None):
        found = extreme([exact(0.1), Measured(odd, None, 3, odd, odd), exact(0.3)])
        assert at_least(0.0, "ours").verdict(found) == "undecided"
    assert at_least(0.0, "ours").verdict(extreme([])) == "undecided"


def test_a_distance_is_exact_where_its_number_is_and_no_share_of_seeds():
    assert distance(exact(0.4), 0.5).kind == "exact"
    assert distance(share([True, False]), 0.5).kind == "mean"


def test_a_statement_about_all_seeds_is_put_to_a_share():
    with pytest.raises(TypeError, match="share of seeds"):
        in_all_seeds("ours").verdict(exact(1.0))
