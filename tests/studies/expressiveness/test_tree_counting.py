"""Tree counting: known exact counts, and measuring functions on planted input."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.graphs import partitions, union
from dynascope.graphs.graph import from_edges
from dynascope.graphs.trees import full_tree
from dynascope.studies.expressiveness.tree_counting import claims as measures
from dynascope.studies.expressiveness.tree_counting import runs

STUDY = "tree-counting"


def test_measured_values_are_the_exact_counts(claims):
    measured = {slug: claim.measured.value for slug, claim in claims.items()}
    assert measured["separation"] == pytest.approx(4665760 / 2240)
    assert measured["level-counts-are-attained"] == 30
    assert measured["balanced-trees"] == pytest.approx(3 / 2)  # 3 trees where 2 are promised
    assert measured["walk-family"] == 10 and measured["walk-family-printed"] == 7
    assert measured["equivariant-printed"] == 1  # 240 trees in 240 classes
    assert claims["walk-family-printed"].note == "Numbers of walks: 3..12."


def test_counts_beyond_floating_numbers_have_digits():
    found = measures.digits(lambda m, k: m ** (10**k), (10, 100), range(3))
    assert np.allclose(found, [[1, 10, 100], [2, 20, 200]])
    assert measures.digits(lambda m, k: 10**1000, (1,), range(1))[0, 0] == pytest.approx(1000)


def test_values_count_within_one_class_only():
    walks = np.array([0, 1, 2, 12])
    found = {"one": np.zeros(4), "two": np.array([0, 0, 1, 1])}
    assert measures.values_in_a_class(walks, found, "one").value == 3  # 12 is none of 0..9
    assert measures.values_in_a_class(walks, found, "two").value == 2


def test_the_family_with_the_most_classes_counts():
    classes = {"a": np.array([0, 0, 1]), "b": np.array([0, 1, 2])}
    assert measures.most_told(classes).value == 3
    assert measures.number_of_classes(classes["a"]).value == 2
    assert measures.most_merged(classes, "a").value == 2


def test_completions_by_trying_all_numbers():
    """Lemma A.8's question answered by search, in its range and beyond."""
    from itertools import product

    for choices in (runs.choices(3, 2, range(10)), runs.choices(3, 3, (6, 13, 20, 25))):
        missing = 0
        for q, own, room in choices:
            options = product(*(range(1, most + 1) for most in room))
            missing += not any(sum(own) + sum(rest) == q for rest in options)
        assert measures.cannot_be_completed(choices).value == missing > 0
    # Of nine children each path has 1 to 3 W - 1 zeros, W being 3 for both nodes of colour 0.
    assert len(runs.path_sizes(3, 2)) == sum((3 * w - 1) * (3 * (3 - w) - 1) for w in (1, 2))


def test_rounds_of_message_passing_are_an_equivariant_operator():
    """What Prop. A.2 asks of an operator: it commutes with permutations of the nodes."""
    tree, colours = full_tree(3, 2), np.random.default_rng(0).integers(0, 2, 13)
    order = np.random.default_rng(1).permutation(13)
    moved = from_edges(np.argsort(order)[np.stack(tree.adjacency.nonzero(), axis=1)], 13)
    both = union([tree, moved])
    found = partitions(both, 2, "wl", features=np.concatenate([colours, colours[order]]))[-1]
    assert (found[:13][order] == found[13:]).all()


def test_planted_trees_are_what_they_are_said_to_be():
    """Roots that differ are told apart by every family; planted trees have 0..9 walks."""
    settings = runs.study.at("smoke")
    apart = runs.walk_classes.function(settings)["roots"]
    assert set(apart) == {"wl", *runs.FIXED}
    assert all(len(np.unique(found)) == 10 for found in apart.values())
    walks = runs.walks.function(settings)
    for kind in ("all, planted", "forward, planted", "numbers"):
        assert walks[kind].tolist() == list(range(10))


def test_growth_chart_keeps_bounds_on_their_side(outcome):
    trees, least, classes, most = outcome.charts[1].panels[0].marks
    assert all(a > b for a, b in zip(trees.y, least.y))
    assert all(a < b for a, b in zip(classes.y, most.y))
