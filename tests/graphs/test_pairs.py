from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.graphs import families, partitions, refine, union
from dynascope.graphs.pairs import BRANCHES, FOURTEEN, REGULAR, circulant, hard_pairs
from dynascope.graphs.tree_counts import trees_by_level_zeros
from dynascope.graphs.walks import count_walks

from .samples import as_networkx, multiset, neighbours, walk_rows


@pytest.mark.parametrize("name", hard_pairs.names())
def test_no_pair_is_isomorphic(name):
    pair = hard_pairs.get(name)
    twins = [as_networkx(g) for g in (pair.first, pair.second)]
    for k, twin in enumerate(twins):
        start = [0] * len(twin) if pair.features is None else pair.features[k].tolist()
        nx.set_node_attributes(twin, dict(enumerate(start)), "colour")
    same = nx.algorithms.isomorphism.categorical_node_match("colour", 0)
    assert not nx.is_isomorphic(*twins, node_match=same)


def test_fourteen_nodes_share_every_walk_count_and_the_lemma_behind_it():
    rows = [walk_rows(g, 60) for g in (FOURTEEN.first, FOURTEEN.second)]
    assert rows[0] == rows[1]
    w = np.array(rows[0], dtype=object)
    assert (w[0] == w[1]).all()
    assert (w[2] + w[8] == w[5] + w[7]).all()
    assert (w[4] + w[6] == w[3] + w[9]).all()
    assert all(nx.is_connected(as_networkx(g)) for g in (FOURTEEN.first, FOURTEEN.second))
    assert FOURTEEN.first.edges == FOURTEEN.second.edges == 16


def test_fourteen_nodes_agree_after_one_round_and_differ_after_two():
    both = union([FOURTEEN.first, FOURTEEN.second])
    rows = refine(both, 2)
    halves = [[multiset(row[both.part == k]) for k in (0, 1)] for row in rows]
    assert [a == b for a, b in halves] == [True, True, False]


def test_fourteen_nodes_have_the_neighbour_degrees_of_the_proof():
    found = []
    for graph in (FOURTEEN.first, FOURTEEN.second):
        around = neighbours(graph)
        found.append([sorted((len(around[j]) for j in around[i]), reverse=True) for i in (0, 1)])
    assert found == [[[3, 2, 2, 1], [3, 2, 2, 1]], [[2, 2, 2, 2], [3, 3, 1, 1]]]


def test_regular_pair_is_fixed_by_every_row_stochastic_normalisation():
    from dynascope.graphs import operators

    for graph in (REGULAR.first, REGULAR.second):
        for left in (0.0, 0.3, 0.5, 1.0):
            matrix = operators.normalized(graph, left, 1 - left)
            values = np.ones(8)
            for _ in range(20):
                values = matrix @ values
                assert abs(values - 1).max() < 1e-12


def test_branches_are_the_two_trees_of_their_class():
    counts = [int(count_walks(g, x, (1, 1))[0])
              for g, x in zip((BRANCHES.first, BRANCHES.second), BRANCHES.features)]  # fmt: skip
    assert counts == [1, 0]
    assert trees_by_level_zeros(2, 2)[1, 1, 3] == 2


def test_roots_of_the_branches_agree_for_operators_and_differ_for_message_passing():
    both, features = union([BRANCHES.first, BRANCHES.second]), np.concatenate(BRANCHES.features)
    for family in families.names():
        row = partitions(both, 2, family, features=features, include_identity=True)[2]
        assert (row[0] == row[7]) == (family != "wl")


def test_circulants_equal_those_of_networkx():
    assert nx.utils.graphs_equal(as_networkx(circulant(9, 1, 3)), as_networkx(
        circulant(9, 3, 1)))  # fmt: skip
    assert set(as_networkx(circulant(9, 1, 3)).edges) == set(nx.circulant_graph(9, [1, 3]).edges)
