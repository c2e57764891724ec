from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import from_edges, partitions
from dynascope.graphs.walks import (
    count_non_backtracking_walks,
    count_walks,
)

from .samples import random_graph, refines


def all_walks(graph, root, length):
    """Every sequence of nodes, kept if consecutive ones are joined."""
    dense = graph.adjacency.toarray()
    for walk in product(range(graph.nodes), repeat=length):
        if all(dense[a, b] for a, b in zip((root, *walk), walk, strict=False)):
            yield walk


def never_returns(root, walk):
    path = (root, *walk)
    return all(a != b for a, b in zip(path, path[2:], strict=False))


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_brute_force(seed, loops):
    graph = random_graph(seed, nodes=7, edges=9, loops=loops)
    features = np.arange(7) % 2
    for pattern in [(0,), (1, 0), (0, 1, 1), (0, 0, 1, 0)]:
        walks = [list(all_walks(graph, i, len(pattern))) for i in range(7)]
        found = [[w for w in row if tuple(features[list(w)]) == pattern] for row in walks]
        assert count_walks(graph, features, pattern).tolist() == [len(f) for f in found]
        straight = [sum(never_returns(i, w) for w in f) for i, f in enumerate(found)]
        assert count_non_backtracking_walks(graph, features, pattern).tolist() == straight


def test_the_root_can_be_part_of_the_pattern():
    features = ["b", "r", "b"]
    assert count_walks(nx.path_graph(3), features, ["r", "b"]).tolist() == [2, 0, 2]
    assert count_walks(nx.path_graph(3), features, ["b", "r"], root="r").tolist() == [0, 2, 0]
    counted = count_non_backtracking_walks(nx.path_graph(3), features, ["b"], root="r")
    assert counted.tolist() == [0, 2, 0]


def test_counts_beyond_64_bits_are_exact():
    graph, ones = nx.complete_graph(40), [1] * 40
    assert count_walks(graph, ones, [1] * 15).tolist() == [39**15] * 40
    straight = count_non_backtracking_walks(graph, ones, [1] * 15)
    assert straight.tolist() == [39 * 38**14] * 40


def test_walk_counts_are_constant_on_classes_of_message_passing():
    graph = random_graph(5, nodes=80, edges=130)
    features = np.arange(80) % 2
    for pattern in [(0,), (0, 1), (0, 0, 1)]:
        colours = partitions(graph, len(pattern), features=features)[-1]
        assert refines(colours, count_walks(graph, features, pattern))


def test_graphs_without_edges_have_no_walks():
    empty = from_edges([], 3)
    assert count_walks(empty, [0, 0, 0], [0, 0]).tolist() == [0, 0, 0]
    assert count_non_backtracking_walks(empty, [0, 0, 0], [0, 0]).tolist() == [0, 0, 0]
    isolated = from_edges([(0, 1)], 3)
    assert count_walks(isolated, [0, 0, 0], [0, 0]).tolist() == [1, 1, 0]


def test_features_and_pattern_must_fit():
    with pytest.raises(BadInput, match="features"):
        count_walks(nx.path_graph(3), [0, 1], [0])
    with pytest.raises(BadInput, match="pattern"):
        count_non_backtracking_walks(nx.path_graph(3), [0, 1, 0], [])
