"""The published tables, number by number."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.graphs import class_floor, count_classes, load, union
from dynascope.graphs.walks import count_walks
from dynascope.instruments.graph import describe_graph

WL = [37, 1589, 2301, 2363, 2365]
POWERS = [37, 756, 2158, 2359, 2365]

# n: isomorphism classes; WL at 1, 2, 3, n; powers of A at 1, 2, 3, 4, n; self_loop at 2, 4, n
ATLAS = {
    2: (2, [2, 2, 2, 2], [2, 2, 2, 2, 2], [1, 1, 1]),
    3: (4, [4, 4, 4, 4], [4, 4, 4, 4, 4], [2, 2, 2]),
    4: (11, [11, 11, 11, 11], [11, 11, 11, 11, 11], [6, 6, 6]),
    5: (34, [31, 34, 34, 34], [31, 34, 34, 34, 34], [25, 25, 25]),
    6: (156, [102, 152, 152, 152], [102, 152, 152, 152, 152], [130, 130, 130]),
    7: (1044, [342, 952, 1018, 1022], [342, 952, 1018, 1022, 1022], [961, 967, 967]),
}


@pytest.fixture(scope="module")
def atlas():
    graphs = nx.graph_atlas_g()
    return {n: [g for g in graphs if len(g) == n] for n in ATLAS}


@pytest.mark.parametrize("n", ATLAS)
def test_all_small_graphs(atlas, n):
    isomorphism, refined, powers, looped = ATLAS[n]
    everything = union(atlas[n])
    assert len(atlas[n]) == everything.graphs == isomorphism

    def count(depths, family):
        return count_classes(everything, depths, family, of="graphs")

    assert count([1, 2, 3, n], "wl") == refined
    assert count([1, 2, 3, 4, n], "adjacency") == powers
    assert count([2, 4, n], "self_loop") == looped
    assert count(1, "injective") == refined[1]


def test_nauty_agrees_that_the_small_graphs_are_all_different(atlas):
    pynauty = pytest.importorskip("pynauty")
    for graphs in atlas.values():
        certificates = {
            pynauty.certificate(pynauty.Graph(len(g), adjacency_dict={v: list(g[v]) for v in g}))
            for g in graphs
        }
        assert len(certificates) == len(graphs)


def test_table_2_1_on_cora(data_file):
    graph = load(data_file("planetoid/ind.cora.graph"))
    assert (graph.nodes, graph.edges, graph.self_loops) == (2708, 5278, 0)
    assert graph.notes == ("repeated edges: 151 collapsed",)
    assert count_classes(graph, range(1, 6), "wl") == WL
    assert count_classes(graph, range(1, 6), "adjacency") == POWERS


@pytest.mark.parametrize(
    ("name", "nodes", "loops", "refined", "powers"),
    [
        ("citeseer", 3327, 124, [31, 984, 1855, 2074, 2122], [31, 506, 1550, 2019, 2115]),
        ("pubmed", 19717, 3, [82, 8059, 12814, 12990, 12998], [82, 3762, 12014, 12979, 12998]),
    ],
)
def test_table_2_1_elsewhere(data_file, name, nodes, loops, refined, powers):
    graph = load(data_file(f"planetoid/ind.{name}.graph"))
    assert (graph.nodes, graph.self_loops) == (nodes, loops)
    assert count_classes(graph, range(1, 6), "wl") == refined
    assert count_classes(graph, range(1, 6), "adjacency") == powers


def test_citeseer_without_its_self_loops_has_other_numbers(data_file):
    graph = load(data_file("planetoid/ind.citeseer.graph"))
    bare = graph.adjacency.copy()
    bare.setdiag(0)
    assert count_classes(bare, range(1, 6), "wl") == [32, 983, 1835, 2044, 2088]
    assert count_classes(bare, range(1, 6), "adjacency") == [32, 509, 1539, 1993, 2082]


def test_the_whole_description_of_cora(data_file):
    result = describe_graph(load(data_file("planetoid/ind.cora.graph")), 5)
    assert result["classes"] == {"wl": WL, "adjacency": POWERS}
    told = [(w["depth"], w["merged_by"], w["split_by"]) for w in result["witnesses"]]
    assert told == [(k, "adjacency", "wl") for k in (2, 3, 4)]


@pytest.mark.parametrize(
    ("name", "size", "counts"),
    [("IMDBBINARY", 1000, [51, 537, 537]), ("IMDBMULTI", 1500, [49, 387, 387])],
)
def test_table_a_1_counts_rounds_from_zero(data_file, name, size, counts):
    graphs = load(data_file(f"tu_graphs/{name}.npz"))
    assert graphs.graphs == size
    for family in ("wl", "adjacency"):
        assert count_classes(graphs, range(3), family, of="graphs") == counts


def test_walk_counting_floor_on_cora(data_file):
    """The floor of message passing is exactly 0; the others as measured independently."""
    graph = load(data_file("planetoid/ind.cora.graph"))
    blue = np.arange(graph.nodes) % 2
    rooted = count_walks(graph, blue, [0, 0], root=0)
    anywhere = count_walks(graph, blue, [0, 0])

    def floor(target, family, identity):
        return class_floor(graph, target, family, 2, features=blue, include_identity=identity)

    assert floor(rooted, "wl", False) == floor(anywhere, "wl", False) == 0.0
    assert floor(rooted, "adjacency", True) == pytest.approx(3.3e-4, abs=0.05e-4)
    assert floor(anywhere, "adjacency", True) == pytest.approx(3.2e-4, abs=0.05e-4)
    assert floor(rooted, "adjacency", False) == pytest.approx(3.3e-2, abs=0.05e-2)


def test_walk_counting_floor_on_regular_graphs():
    graph = nx.random_regular_graph(6, 1000, seed=0)
    blue = np.arange(1000) % 2
    target = count_walks(graph, blue, [0, 0, 0])
    assert class_floor(graph, target, "wl", 3, features=blue) == 0.0
    floors = class_floor(graph, target, "adjacency", [3, 6], features=blue, include_identity=True)
    assert floors[0] > 1e-2 > 1e-4 > floors[1]
