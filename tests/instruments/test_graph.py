from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.graphs import class_floor, count_classes, families, partitions
from dynascope.instruments.graph import describe_graph
from graphs.samples import random_graph


def test_the_object_holds_what_the_single_functions_give():
    graph = random_graph(1, nodes=60, edges=90, loops=True)
    target = np.random.default_rng(0).normal(size=60)
    features = np.arange(60) % 2
    result = describe_graph(graph, 4, families.names(), target, features, include_identity=True)
    options = {"features": features, "include_identity": True}
    for name in families.names():
        assert result["classes"][name] == count_classes(graph, range(1, 5), name, **options)
        assert result["class_floor"][name] == class_floor(
            graph, target, name, range(1, 5), **options
        )
    assert result["nodes"] == 60 and result["edges"] == graph.edges
    assert result["self_loops"] == graph.self_loops
    assert result["repeated_edges"] == graph.repeated_edges
    assert json.loads(json.dumps(result)) == result


def test_witnesses_are_merged_by_one_and_split_by_the_other_and_complete():
    graph = random_graph(3, nodes=60, edges=90)
    result = describe_graph(graph, 3, ("wl", "adjacency", "triangle"))
    rows = {name: partitions(graph, 3, name) for name in ("wl", "adjacency", "triangle")}
    for found in result["witnesses"]:
        a, b = found["nodes"]
        assert (
            rows[found["merged_by"]][found["depth"]][a]
            == rows[found["merged_by"]][found["depth"]][b]
        )
        assert (
            rows[found["split_by"]][found["depth"]][a] != rows[found["split_by"]][found["depth"]][b]
        )
    told = {(f["depth"], f["merged_by"], f["split_by"]) for f in result["witnesses"]}
    assert (2, "adjacency", "wl") in told and (2, "wl", "adjacency") not in told


def test_names_are_used_in_witnesses_and_can_be_written_as_json():
    spider = nx.relabel_nodes(
        nx.Graph([(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)]), lambda i: (i, "x")
    )
    result = describe_graph(spider, 1, ("wl", "normalized"))
    assert result["witnesses"][0]["nodes"][0] == "(0, 'x')"
    assert json.dumps(result)


def test_tolerances_and_nodes_without_edges_are_said():
    graph = random_graph(1)
    notes = describe_graph(graph, 2, ("wl", "normalized"))["notes"]
    assert any(line.startswith("nodes without edges") for line in notes)
    assert any(line.startswith("normalized: values equal to within") for line in notes)
    assert not any(line.startswith("wl") for line in notes)


def test_one_family_may_be_given_by_its_name():
    assert describe_graph(nx.path_graph(4), 2, "triangle")["classes"] == {"triangle": [1, 1]}


def test_without_a_target_there_are_no_floors():
    assert describe_graph(nx.path_graph(4), 1)["class_floor"] == {}


def test_bad_requests_are_refused_before_any_work():
    with pytest.raises(BadInput, match="depth"):
        describe_graph(nx.path_graph(3), 0)
    with pytest.raises(UnknownName, match="family"):
        describe_graph(nx.path_graph(3), 1, ("wl", "nonsense"))
    with pytest.raises(BadInput, match="target"):
        describe_graph(nx.path_graph(3), 1, target=[1, 2])
