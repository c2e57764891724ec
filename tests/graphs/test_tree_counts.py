from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, log

import numpy as np
import pytest

from dynascope.graphs.tree_counts import (
    aggregation_tree_bound,
    balanced_level_zeros,
    balanced_tree_bound,
    count_aggregation_trees,
    count_full_trees,
    count_level_classes,
    feature_class_bound,
    trees_by_level_zeros,
)


def listed_trees(branching, depth):
    """Every full tree with features 0 and 1 as (feature, sorted children)."""
    trees = [(0, ()), (1, ())]
    for _ in range(depth):
        trees = [
            (x, bag)
            for x in (0, 1)
            for bag in combinations_with_replacement(sorted(trees), branching)
        ]
    return trees


def zeros_by_level(tree, depth):
    level, zeros = [tree], []
    for _ in range(depth + 1):
        zeros.append(sum(x == 0 for x, _ in level))
        level = [child for _, children in level for child in children]
    return tuple(zeros)


def listed_aggregation_trees(branching, depth):
    """Full trees in which the feature of a node's parent occurs among the node's children."""

    def allowed(tree, parent):
        x, children = tree
        return not children or (
            (parent is None or parent in {y for y, _ in children})
            and all(allowed(child, x) for child in children)
        )

    return [tree for tree in listed_trees(branching, depth) if allowed(tree, None)]


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_counts_of_full_trees_equal_lists(branching, depth):
    trees = listed_trees(branching, depth)
    assert count_full_trees(branching, depth) == len(set(trees))
    by_zeros = Counter(zeros_by_level(tree, depth) for tree in trees)
    assert trees_by_level_zeros(branching, depth) == by_zeros
    assert count_level_classes(branching, depth) == len(by_zeros)


def test_separation_table_of_full_trees():
    table = {(2, 1): (6, 6), (2, 2): (42, 30), (2, 3): (1806, 270),
             (3, 1): (8, 8), (3, 2): (240, 80), (3, 3): (4665760, 2240)}  # fmt: skip
    for (m, depth), expected in table.items():
        assert (count_full_trees(m, depth), count_level_classes(m, depth)) == expected
    by_zeros = trees_by_level_zeros(3, 3)
    assert sum(by_zeros.values()) == 4665760
    assert len(by_zeros) == 2240 and max(by_zeros.values()) == 20316


@pytest.mark.parametrize(
    ("branching", "depth", "tuples", "fewest"), [(3, 2, 16, 3), (3, 3, 128, 701), (4, 2, 60, 3)]
)
def test_lemma_a7_holds_with_the_exact_minimum(branching, depth, tuples, fewest):
    trees = trees_by_level_zeros(branching, depth)
    inside = list(balanced_level_zeros(branching, depth))
    assert len(inside) == tuples
    assert min(trees[q] for q in inside) == fewest >= balanced_tree_bound(depth)


def test_the_bound_of_lemma_a7_can_fail_outside_its_range():
    trees = trees_by_level_zeros(3, 3)
    assert trees[1, 3, 9, 27] == 1 < balanced_tree_bound(3)


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_aggregation_trees_equal_lists(branching, depth):
    assert count_aggregation_trees(branching, depth) == len(
        listed_aggregation_trees(branching, depth)
    )


def test_aggregation_counts_and_lemma_a6():
    table = {
        2: [6, 20, 210, 23870],
        3: [8, 112, 268088, 4243484893606992],
        4: [10, 660, 10200809720],
    }
    for m, counts in table.items():
        assert [count_aggregation_trees(m, k) for k in range(1, len(counts) + 1)] == counts
    assert f"{count_aggregation_trees(4, 4):.2e}" == "6.95e+38"
    assert [aggregation_tree_bound(4, k) for k in (1, 2, 3, 4)] == [3, 27, 2187, 14348907]
    for m in (3, 4, 5):
        for depth in range(1, 7):
            assert count_aggregation_trees(m, depth) >= aggregation_tree_bound(m, depth)


def test_aggregation_trees_grow_doubly_exponentially_and_feature_classes_do_not():
    depths = np.arange(3, 9)
    trees = [log(log(count_aggregation_trees(3, int(k)))) for k in depths]
    assert np.diff(trees).min() > 1.0  # log log grows by log m at each depth
    large = np.array([8, 12, 16, 24, 32])
    bounds = [log(log(feature_class_bound(3, int(k)))) for k in large]
    slope = np.diff(bounds) / np.diff(np.log(large))
    assert (slope > 4).all() and (np.diff(slope) < 0).all()  # falls towards m + 1 = 4:
    assert slope[-1] < 4.2  # the logarithm is a polynomial of that degree


def test_the_feature_bound_holds_on_full_trees_and_the_printed_one_is_smaller():
    for m in (2, 3):
        for depth in (1, 2, 3):
            bound = feature_class_bound(m + 1, depth)
            assert count_level_classes(m, depth) <= bound
            assert feature_class_bound(m, depth, printed=True) < feature_class_bound(m, depth)
    assert feature_class_bound(3, 1) == 2 * comb(3 + 24, 24)
