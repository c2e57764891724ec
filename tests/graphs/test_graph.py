from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import from_edges
from dynascope.graphs.graph import renumber


def test_adjacency_is_symmetric_with_loops_kept_and_repeats_collapsed():
    graph = from_edges([(0, 1), (1, 0), (2, 2), (1, 2), (1, 2)], 4)
    expected = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert graph.adjacency.toarray().tolist() == expected
    assert (graph.edges, graph.self_loops, graph.repeated_edges) == (3, 1, 2)
    assert graph.degrees.tolist() == [1, 2, 2, 0]


def test_every_change_is_said_in_one_line():
    graph = from_edges([(0, 1), (0, 1), (1, 0), (2, 2), (1, 2)], 4, arcs=True)
    assert graph.notes == (
        "self-loops: 1 kept",
        "directed edges: 1 in one direction only, made undirected",
        "repeated edges: 1 collapsed",
        "nodes without edges: 1; an inverse degree counts as 0 there",
    )


def test_both_directions_of_an_arc_are_one_edge_and_no_repetition():
    graph = from_edges([(0, 1), (1, 0), (1, 2), (2, 1)], arcs=True)
    assert (graph.edges, graph.repeated_edges, graph.notes) == (2, 0, ())


@pytest.mark.parametrize("arcs", [False, True])
def test_counts_agree_with_a_dictionary_of_pairs(arcs):
    random = np.random.default_rng(3)
    pairs = random.integers(0, 12, (200, 2))
    graph = from_edges(pairs, 12, arcs=arcs)
    copies: dict[tuple[int, int], list[int]] = {}
    for u, v in pairs.tolist():
        copies.setdefault((min(u, v), max(u, v)), [0, 0])[int(u > v)] += 1
    most = max if arcs else sum
    assert graph.edges == len(copies)
    assert graph.repeated_edges == sum(most(c) - 1 for c in copies.values())
    assert graph.self_loops == sum(u == v for u, v in copies)


def test_a_graph_without_edges_is_fine_and_without_nodes_is_not():
    assert from_edges([], 3).degrees.tolist() == [0, 0, 0]
    with pytest.raises(BadInput, match="at least one node"):
        from_edges([])


@pytest.mark.parametrize("pairs", [[(0, -1)], [(0, 5)], [(0.5, 1)], [(0, 1, 2)], [("a", "b")]])
def test_pairs_that_are_no_node_numbers_are_refused(pairs):
    with pytest.raises(BadInput, match="edge"):
        from_edges(pairs, 3)


def test_names_are_plain_python_values():
    graph = from_edges([(0, 1)], names=np.array([10, 20]))
    assert graph.name(1) == 20 and type(graph.name(1)) is int
    assert from_edges([(0, 1)]).name(np.int64(1)) == 1


def test_ids_that_are_numbers_already_need_no_names():
    assert renumber(np.array([2, 0, 1]))[0] is None
    assert renumber(np.array([3, 1, 2]))[0] is not None
