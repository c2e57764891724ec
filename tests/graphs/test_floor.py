from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import class_floor, partitions, refine, union
from dynascope.graphs.floor import floor_of

from .samples import random_graph


def slow_floor(colours, target):
    within = sum(
        ((target[colours == c] - target[colours == c].mean()) ** 2).sum() for c in set(colours)
    )
    return within / ((target - target.mean()) ** 2).sum()


@pytest.mark.parametrize("family", ["wl", "adjacency", "self_loop"])
def test_floor_equals_the_variance_within_classes(family):
    graph = random_graph(1, nodes=80, edges=120)
    target = np.random.default_rng(0).normal(size=80)
    rows = partitions(graph, 3, family)
    floors = class_floor(graph, target, family, range(4))
    assert floors == pytest.approx([slow_floor(row, target) for row in rows], rel=1e-12)
    assert floors[0] == 1.0
    assert class_floor(graph, target, family, 2) == floors[2]


def test_labels_give_the_smallest_error_rate():
    graph = nx.star_graph(4)  # centre 0; the four leaves are one class
    labels = ["x", "a", "a", "b", "a"]
    assert class_floor(graph, labels, "wl", 1) == pytest.approx(1 / 5)
    assert class_floor(graph, labels, "wl", 0) == pytest.approx(2 / 5)
    assert class_floor(graph, [True, False, False, False, False], "wl", 1) == 0.0


def test_a_function_of_the_classes_has_a_floor_of_exactly_zero():
    graph = random_graph(2, nodes=200, edges=300)
    colours = refine(graph, 2)[2]
    target = np.random.default_rng(1).normal(size=200)[colours] * 1e8 + 0.1
    assert class_floor(graph, target, "wl", 2) == 0.0


def test_floor_of_whole_graphs():
    graphs = union([nx.path_graph(3), nx.path_graph(3), nx.cycle_graph(3)])
    assert class_floor(graphs, [0.0, 2.0, 1.0], "wl", 1, of="graphs") == pytest.approx(1.0)
    assert class_floor(graphs, ["a", "a", "b"], "wl", 1, of="graphs") == 0.0


def test_floor_falls_with_depth_and_is_lowest_for_message_passing():
    graph = random_graph(4, nodes=100, edges=140)
    target = np.random.default_rng(3).normal(size=100)
    wl, powers = (class_floor(graph, target, f, range(6)) for f in ("wl", "adjacency"))
    assert all(a >= b for floors in (wl, powers) for a, b in itertools.pairwise(floors))
    assert all(a <= b + 1e-12 for a, b in zip(wl, powers, strict=True))


def test_all_alone_leaves_nothing():
    assert floor_of(np.arange(4), np.array([1.0, 2.0, 3.0, 5.0])) == 0.0


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([1.0, 2.0], "one value for each of 3"),
        ([[1], [2], [3]], "one value"),
        ([1.0, np.nan, 2.0], "finite"),
        ([2, 2, 2], "at least two different numbers"),
    ],
)
def test_targets_that_cannot_be_judged_are_refused(target, message):
    with pytest.raises(BadInput, match=message):
        class_floor(nx.path_graph(3), target, "wl", 1)
