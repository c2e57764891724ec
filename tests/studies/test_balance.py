"""Measuring functions of the balance study on planted input, and known numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.balance import claims, runs
from dynascope.theories.oscillation.quartic import orbit_points

FEW = runs.Settings(states=2000, starts=40, steps=500)


def planted(ends, promised=None, kept=None):
    many = np.ones(len(ends), bool)
    promised, kept = (many if x is None else np.array(x) for x in (promised, kept))
    return runs.Descents(promised, kept, np.array(ends))


def test_descents_are_those_of_a_plain_loop():
    found = runs.descents.function(FEW, 1.1)
    random = np.random.default_rng(0)
    random.uniform(size=(2, 2000))
    for start, end, kept in zip(random.uniform(0.3, 2.0, (2, 40)).T, found.ends, found.kept):
        x, y = start.tolist()
        positive = True
        for step in range(500):
            pull = 1.1 * (x * y - 1)
            x, y = x - pull * y, y - pull * x
            positive &= step >= 300 or (x > 0 and y > 0)
            if abs(x) + abs(y) > 1e6:
                break
        else:
            assert end == pytest.approx((x, y), abs=1e-9)
        assert kept == positive


def test_ratios_are_below_one_up_to_the_theorems_end():
    at, beyond = (runs.ratios.function(runs.Settings(states=50_000), k) for k in (1.3, 1.55))
    assert at.largest < 1 < beyond.largest and at.states > beyond.states / 2 > 0
    assert at.below == at.bounded == at.states and beyond.below < beyond.states
    counts = {1.3: runs.Ratios(0.9, 10, 10, 9), 1.4: runs.Ratios(1.1, 10, 8, 9)}
    assert claims.counted(counts, (1.3, 1.4), "below").value == 0.9
    assert claims.counted(counts, (1.3,), "bounded").value == 0.9


def test_beside_the_orbit_the_ratio_is_the_one_it_is_known_for():
    found = runs.ratios_on_orbit.function(FEW, 1.1)
    assert found.largest == pytest.approx(3 - 2 * 1.1, abs=1e-3) and found.states == 1000
    assert found.below == found.bounded == 1000


def test_the_path_past_the_edge_ends_on_the_ledgers_orbit():
    """Must-pass 11: |x - y| < 1e-12 and {.835743, 1.107908}."""
    path = runs.paths.function(None, 1.08)
    assert np.abs(path[-1, 0] - path[-1, 1]) < 1e-7
    assert sorted(path[-2:, 0]) == pytest.approx([0.835743, 1.107908], abs=1e-6)


def test_a_geometric_decay_has_its_two_step_factor():
    gap = 0.95 ** np.arange(201.0)
    assert claims.decay(np.stack([1 + gap, np.ones(201)], axis=1)).value == pytest.approx(0.9025)


def test_only_equal_factors_on_the_orbit_count_and_only_of_promised_starts():
    low, high = orbit_points(1.0, 1.1)
    ends = [(low, low), (high, high), (low, high), (1.0, 1.0)]
    assert claims.on_orbit({1.1: planted(ends)}, (1.1,)).value == 0.5
    promised = [True, True, False, False]
    assert claims.on_orbit({1.1: planted(ends, promised)}, (1.1,)).value == 1


def test_what_escapes_is_not_asked_to_balance():
    ends = [(1.0, 1.0), (1.0, 2.0), (np.inf, 0.0), (np.nan, np.nan), (1e4, 1e4)]
    found = claims.balanced({1.6: planted(ends)}, (1.6,))
    assert found.value == 0.5 and found.n == 2


def test_positivity_is_asked_of_promised_starts():
    one = planted([(1.0, 1.0)] * 3, [True, False, False], [True, True, False])
    assert claims.kept({1.1: one}, (1.1,), True).value == 1
    assert claims.kept({1.1: one}, (1.1,), False).value == 0.5


def test_the_diagonal_is_in_the_printed_sets():
    """Must-pass 12, E2: (0.5, 0.5) at 1.08; minimisers are not in the stable set."""
    for measure in (claims.stable, claims.not_as_printed, claims.tracked_not_as_printed):
        assert measure(np.array([[0.5], [0.5], [1.08]])).value == 1
        assert measure(np.array([[0.5], [0.8], [1.08]])).value == 0
    minimisers = runs._points("minimisers", 1.08)
    assert claims.stable(minimisers).value == claims.tracked_not_as_printed(minimisers).value == 0
    assert claims.not_as_printed(runs._points("minimisers", 0.95)).value == 0


def test_only_what_four_steps_lead_back_returns():
    found = {kind: runs.orbits.function(None, kind) for kind in
             ("unbalanced", "of another rate", "balanced", "minimum")}  # fmt: skip
    assert claims.return_error(found["unbalanced"]).value < 1e-9
    assert claims.return_error(found["of another rate"]).value > 1e-3
    k = runs.UNBALANCED[0]
    assert claims.weakest_growth(found["minimum"]).value == pytest.approx(
        (1 - 2 * k) ** 4, rel=1e-6
    )
    multiplier = (9 - 2 * 2.05**2) ** 2  # two rounds of the orbit of K = 1.05
    assert claims.weakest_growth(found["balanced"][:1]).value == pytest.approx(
        max(multiplier, (3 - 2 * 1.05) ** 2), abs=1e-6
    )


def test_a_projection_stays_until_its_path_turns_in():
    along = runs.planted_paths.function(None, "along the minimisers")
    assert claims.unchanged(along, "stable").value == 40
    assert claims.unchanged(along, "all").value == 1


def test_random_factors_have_product_one_or_not():
    drawn = {k: runs.factors.function(FEW, k) for k in ("product 1", "free", "twice and half")}
    assert [len(x[0]) for x in drawn["product 1"]] == list(range(2, 9))
    assert all(np.allclose(x.prod(axis=1), 1) for x in drawn["product 1"])
    assert not any(np.allclose(x.prod(axis=1), 1) for x in drawn["free"])
    assert claims.flat(drawn["twice and half"]).value == 1 > claims.flat(drawn["free"]).value
