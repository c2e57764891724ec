from __future__ import annotations

from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import from_edges, operators, partitions
from dynascope.graphs.walks import (
    count_non_backtracking_walks,
    count_walks,
    sum_over_walks,
    walk_types,
    walks_from,
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
def test_walks_are_listed_completely(loops):
    graph = random_graph(1, nodes=6, edges=8, loops=loops)
    for length in range(1, 5):
        for root in range(6):
            assert sorted(walks_from(graph, root, length)) == sorted(all_walks(graph, root, length))


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


@pytest.mark.parametrize("seed", range(3))
def test_walk_identity_2_6(seed):
    random = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=8, edges=12)
    left, right = random.normal(size=2)
    values = random.normal(size=8)
    matrix = operators.normalized(graph, left, right).toarray()
    for length in range(1, 5):
        expected = np.linalg.matrix_power(matrix, length) @ values
        found = [sum_over_walks(graph, i, length, values, left, right) for i in range(8)]
        scale = max(1.0, abs(expected).max())
        assert abs(np.array(found) - expected).max() < 1e-12 * scale


def test_types_equal_brute_force_and_determine_normalised_features():
    graph = random_graph(2, nodes=7, edges=10)
    features, degrees = "abababa", graph.degrees.tolist()
    for length in (1, 2, 3, 4):
        for root in range(7):
            expected = Counter(
                (tuple(sorted(degrees[j] for j in w[:-1])), degrees[w[-1]], features[w[-1]])
                for w in all_walks(graph, root, length)
            )
            assert walk_types(graph, root, length, features) == expected


def test_graphs_without_edges_have_no_walks():
    empty = from_edges([], 3)
    assert count_walks(empty, [0, 0, 0], [0, 0]).tolist() == [0, 0, 0]
    assert count_non_backtracking_walks(empty, [0, 0, 0], [0, 0]).tolist() == [0, 0, 0]
    assert sum_over_walks(empty, 0, 2, [1.0, 1.0, 1.0]) == 0.0
    isolated = from_edges([(0, 1)], 3)
    assert count_walks(isolated, [0, 0, 0], [0, 0]).tolist() == [1, 1, 0]


def test_features_and_pattern_must_fit():
    with pytest.raises(BadInput, match="features"):
        count_walks(nx.path_graph(3), [0, 1], [0])
    with pytest.raises(BadInput, match="pattern"):
        count_non_backtracking_walks(nx.path_graph(3), [0, 1, 0], [])
