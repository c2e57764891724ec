from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import distinguish, families
from dynascope.graphs.pairs import BRANCHES, FOURTEEN, HEXAGON, REGULAR

from .samples import permuted, random_graph


def test_fourteen_nodes_are_equal_for_adjacency_and_apart_after_two_rounds():
    assert not distinguish(FOURTEEN.first, FOURTEEN.second, "adjacency", 40)
    assert not distinguish(FOURTEEN.first, FOURTEEN.second, "adjacency")
    found = distinguish(FOURTEEN.first, FOURTEEN.second)
    assert found and found.depth == 2
    name, part, numbers = found.witness
    assert name in range(1, 15) and part in (0, 1) and numbers[0] != numbers[1]


def test_regular_graphs_are_equal_for_normalised_powers_and_apart_after_one_round():
    assert not distinguish(REGULAR.first, REGULAR.second, "normalized", 20)
    assert distinguish(REGULAR.first, REGULAR.second).depth == 1
    assert distinguish(REGULAR.first, REGULAR.second, "adjacency").depth == 1


def test_hexagon_and_triangles():
    verdicts = {f: distinguish(HEXAGON.first, HEXAGON.second, f).depth for f in families.names()}
    assert {f for f, depth in verdicts.items() if depth is not None} == {"triangle"}
    assert verdicts["triangle"] == 1


def test_branches_differ_for_message_passing_at_depth_two_at_the_root():
    found = distinguish(BRANCHES.first, BRANCHES.second, features=BRANCHES.features)
    assert found.depth == 1  # the inner nodes already differ as a multiset
    assert found.searched >= 2


@pytest.mark.parametrize("family", families.names())
def test_renumbered_graphs_are_never_told_apart(family):
    graph = random_graph(3, nodes=15, edges=25)
    features = np.arange(15) % 2
    order = np.random.default_rng(0).permutation(15)
    found = distinguish(
        graph, permuted(graph, order), family, 6, features=(features, features[order])
    )
    assert not found and found.witness is None and found.searched == 6


def test_different_numbers_of_nodes_differ_at_depth_zero():
    assert distinguish(nx.path_graph(2), nx.path_graph(3)).depth == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_default_depth_misses_nothing(seed):
    """Deeper than the bound brings nothing new: compared with powers up to three times it."""
    first = random_graph(seed, nodes=7, edges=8)
    second = random_graph(seed + 100, nodes=7, edges=8)
    for family in ("wl", "adjacency", "power", "triangle"):
        found = distinguish(first, second, family)
        assert found.depth == distinguish(first, second, family, 3 * 14).depth


def test_features_come_in_twos():
    with pytest.raises(BadInput, match="two: one for each graph"):
        distinguish(nx.path_graph(2), nx.path_graph(2), features=[[1, 2]])
