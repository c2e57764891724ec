from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dynascope.core.errors import BadInput
from dynascope.graphs import as_graph, from_edges, union


def test_networkx_names_are_kept_and_weights_ignored():
    source = nx.Graph()
    source.add_edge("a", "b", weight=3)
    source.add_node("alone")
    graph = as_graph(source)
    assert [graph.name(i) for i in range(3)] == ["a", "b", "alone"]
    assert graph.notes[0] == "weights: ignored"
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_tuples_as_names_stay_whole():
    graph = as_graph(nx.grid_2d_graph(2, 2))
    assert graph.name(3) == (1, 1)


def test_a_directed_graph_is_made_undirected():
    graph = as_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2)]))
    assert graph.edges == 2
    assert graph.notes == ("directed edges: 1 in one direction only, made undirected",)


def test_parallel_edges_collapse():
    graph = as_graph(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]))
    assert (graph.edges, graph.repeated_edges) == (2, 1)


def test_sparse_dense_and_networkx_give_the_same_adjacency():
    source = nx.gnp_random_graph(20, 0.2, seed=1)
    dense = nx.to_numpy_array(source)
    expected = as_graph(source).adjacency.toarray()
    for thing in (
        dense,
        sparse.csr_matrix(dense),
        sparse.coo_array(dense),
        sparse.csc_array(dense),
    ):
        assert (as_graph(thing).adjacency.toarray() == expected).all()


def test_stored_zeros_are_no_edges_and_other_numbers_are_weights():
    matrix = sparse.csr_array((np.array([0.0, 2.0]), ([0, 1], [1, 2])), shape=(3, 3))
    graph = as_graph(matrix)
    assert graph.edges == 1
    assert "weights: ignored" in graph.notes


@pytest.mark.parametrize(
    "thing", [np.ones((2, 3)), "path.txt", None, nx.Graph(), np.full((2, 2), np.nan)]
)
def test_what_is_no_graph_is_refused(thing):
    with pytest.raises(BadInput):
        as_graph(thing)


def test_union_keeps_the_graphs_apart():
    both = union([nx.cycle_graph(3), from_edges([(0, 0), (0, 1)])])
    assert both.part.tolist() == [0, 0, 0, 1, 1]
    assert both.adjacency.toarray()[:3, 3:].sum() == 0
    assert (both.edges, both.self_loops, both.graphs) == (5, 1, 2)
    with pytest.raises(BadInput, match="at least one graph"):
        union([])
