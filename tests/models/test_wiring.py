"""Layers by longest path, width by in-degree, families of wirings, and graphs that are refused."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.models.wiring import wire
from dynascope.models.wiring_families import (
    bypassed,
    densely_connected,
    drop_edges,
    fully_connected,
    narrow_vertices,
    widen,
)


def random_dag(seed, n=30, p=0.15):
    graph = nx.gnp_random_graph(n, p, seed=seed, directed=True)
    return nx.DiGraph([(a, b) for a, b in graph.edges if a < b])


@pytest.mark.parametrize("seed", range(3))
def test_layers_are_the_longest_paths_of_networkx(seed):
    graph = random_dag(seed)
    net = wire(graph)
    longest: dict = {}
    for v in nx.topological_sort(graph):
        longest[v] = max((longest[u] + 1 for u in graph.predecessors(v)), default=0)
    assert {v: i for i, layer in enumerate(net.layers) for v in layer} == longest
    assert sorted(net.edges) == sorted(graph.edges)
    assert set(net.inputs) == {v for v in graph if not graph.in_degree(v)}
    assert set(net.outputs) == {v for v in graph if not graph.out_degree(v)}
    wide = min(graph.in_degree(v) for v in graph if longest[v] >= 2)
    assert net.width == wide


def test_a_vertex_reached_by_a_short_and_a_long_path_is_in_the_later_layer():
    net = wire([("x", "a"), ("a", "b"), ("b", "c"), ("x", "c"), ("c", "y")])
    assert net.layers == (("x",), ("a",), ("b",), ("c",), ("y",))


def test_widths_of_families():
    assert fully_connected((10, 7, 5, 9, 1)).width == 5
    assert fully_connected((10, 1)).width == math.inf
    assert densely_connected((10, 7, 5, 1)).width == 17
    assert bypassed((10, 64, 2, 64, 1), 2).width == 64
    assert fully_connected((10, 64, 2, 64, 1)).width == 2
    # Def. 2.2.7 sees a single vertex of in-degree 1, which zhu2024 A.6 says does no harm.
    assert narrow_vertices(fully_connected((10, 64, 64, 1)), 2, 2, 1, 0).width == 1


def test_dropping_keeps_about_its_share_and_no_vertex_without_input():
    net = drop_edges(densely_connected((10, 60, 60, 1)), 0.5, seed=1)
    whole = densely_connected((10, 60, 60, 1))
    assert abs(len(net.edges) / len(whole.edges) - 0.5) < 0.03
    assert set(net.edges) <= set(whole.edges)
    tiny = drop_edges(fully_connected((2, 2, 2, 1)), 0.99, seed=0)
    assert all(mask.any(axis=1).all() for mask in tiny.masks)
    again = drop_edges(densely_connected((10, 60, 60, 1)), 0.5, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(net.masks, again.masks, strict=True))


def test_widening_multiplies_hidden_degrees_only():
    net = wire([("x", "a"), ("x", "b"), ("z", "a"), ("a", "c"), ("b", "c"), ("c", "y"), ("x", "y")])
    wide = widen(net, 4)
    assert [len(layer) for layer in wide.layers] == [2, 8, 4, 1]
    assert wide.inputs == net.inputs and wide.outputs == net.outputs
    assert sorted(wide.masks[1].sum(axis=1)) == [8] * 4 and wide.masks[2].sum() == 5
    same = widen(net, 1)
    assert all(np.array_equal(a, b) for a, b in zip(net.masks, same.masks, strict=True))


def test_an_isolated_vertex_is_an_input_that_nobody_reads():
    graph = nx.DiGraph([("x", "a"), ("a", "y")])
    graph.add_node("alone")
    net = wire(graph)
    assert net.inputs == ("x", "alone") and net.outputs == ("y",) and net.width == 1


@pytest.mark.parametrize(
    ("edges", "told"),
    [
        ([("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "y")], "cycle"),
        ([("x", "a"), ("a", "a")], "cycle a -> a"),
        ([("a", "b"), ("b", "a")], "cycle"),
        ([("x", "a"), ("x", "a")], "x -> a twice"),
        ([], "at least one edge"),
        ([("x",)], "pairs"),
        ("xy", "pairs"),
        (nx.Graph([(1, 2)]), "DiGraph"),
        (nx.MultiDiGraph([(1, 2), (1, 2)]), "DiGraph"),
    ],
)
def test_graphs_that_are_no_network_are_refused(edges, told):
    with pytest.raises(BadInput, match=told):
        wire(edges)
