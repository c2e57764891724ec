from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import families, partitions
from dynascope.graphs.features import read_features

from .samples import random_graph


def test_without_features_all_nodes_are_alike():
    features = read_features(None, 3)
    assert features.colours.tolist() == [0, 0, 0]
    assert [c.tolist() for c in features.columns()] == [[1, 1, 1]]


def test_a_table_keeps_its_columns_and_their_kind():
    features = read_features(np.array([[1, 2], [1, 3], [1, 2]]), 3)
    assert features.colours.tolist() == [0, 1, 0]
    assert [c.tolist() for c in features.columns()] == [[1, 1, 1], [2, 3, 2]]
    assert next(features.columns()).dtype == np.int64
    assert next(read_features(np.ones((2, 1)), 2).columns()).dtype == np.float64


@pytest.mark.parametrize("family", families.names())
def test_colours_and_their_one_hot_table_are_the_same_features(family):
    graph = random_graph(2, nodes=20, edges=30)
    colours = np.arange(20) % 3
    table = (colours[:, None] == np.arange(3)).astype(int)
    for identity in (False, True):
        one = partitions(graph, 3, family, features=colours, include_identity=identity)
        two = partitions(graph, 3, family, features=table, include_identity=identity)
        assert (one.max(axis=1) == two.max(axis=1)).all()


@pytest.mark.parametrize(
    "features",
    [[1, 2], [[1], [2]], 3, [1.0, np.nan, 2.0], [["a", "b"]] * 3, np.zeros((3, 0)), [[np.inf]] * 3],
)
def test_features_that_do_not_fit_are_refused(features):
    with pytest.raises(BadInput, match="features"):
        partitions(nx.path_graph(3), 1, "adjacency", features=features)


def test_more_colours_than_fit_are_refused_for_operators_and_fine_for_message_passing():
    graph, colours = nx.empty_graph(12_000), np.arange(12_000)
    assert partitions(graph, 1, "wl", features=colours)[1].max() + 1 == 12_000
    with pytest.raises(BadInput, match=r"12,000 colours.*GB"):
        partitions(graph, 1, "adjacency", features=colours)
