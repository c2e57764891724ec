"""Tree counting: bounds, exact counts, and the statement that needs its proof's reading."""

from __future__ import annotations

import pytest

FAILS = {"walk-family-printed"}


def test_all_statements_hold_but_the_one_with_all_walks(verdicts):
    found = verdicts("tree-counting")
    assert {name for name, verdict in found.items() if verdict != "holds"} == FAILS


def test_measured_values_are_the_exact_counts(outcomes):
    claims = {c.id.split("/")[1]: c.measured.value for c in outcomes("tree-counting").claims}
    assert claims["separation"] == pytest.approx(4665760 / 2240)
    assert claims["level-counts-are-attained"] == 30
    assert claims["balanced-trees"] == 1.5  # 3 trees where at least 2 are promised
    assert claims["walk-family"] == 10 and claims["walk-family-printed"] == 7


def test_growth_chart_keeps_bounds_on_their_side(outcomes):
    trees, least, classes, most = outcomes("tree-counting").charts[0].panels[0].marks
    assert all(a > b for a, b in zip(trees.y, least.y))
    assert all(a < b for a, b in zip(classes.y, most.y))
