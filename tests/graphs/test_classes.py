from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import count_classes, partitions, union
from dynascope.graphs.classes import whole_graphs, witness

from .samples import multiset, random_graph, same_partition


def test_a_range_gives_a_list_and_a_number_a_number():
    graph = nx.path_graph(6)
    assert count_classes(graph, 2) == 3
    assert count_classes(graph, range(4)) == [1, 2, 3, 3]
    assert count_classes(graph, [3, 1]) == [3, 2]


def test_whole_graphs_are_grouped_by_their_multisets_of_classes():
    members = [random_graph(seed, nodes=6, edges=6) for seed in range(80)]
    both = union(members)
    colours = partitions(both, 2)[2]
    expected = [tuple(sorted(multiset(colours[both.part == k]).items())) for k in range(80)]
    assert same_partition(whole_graphs(both, colours), expected)


def test_whole_graphs_need_not_lie_one_after_another():
    graph = union([nx.path_graph(3), nx.cycle_graph(3), nx.path_graph(3)])
    order = np.array([8, 0, 3, 6, 1, 4, 7, 2, 5])
    shuffled = type(graph)(
        type(graph.adjacency)(graph.adjacency.toarray()[np.ix_(order, order)]),
        None,
        graph.part[order],
    )
    assert partitions(shuffled, 1, of="graphs").tolist() == [[0, 0, 0], [0, 1, 0]]


def test_depth_zero_of_whole_graphs_counts_nodes():
    assert count_classes(union([nx.path_graph(n) for n in (2, 3, 3)]), 0, of="graphs") == 2


def test_a_witness_is_merged_by_one_and_split_by_the_other():
    random = np.random.default_rng(0)
    merged, split = random.integers(0, 5, 40), random.integers(0, 5, 40)
    a, b = witness(merged, split)
    assert merged[a] == merged[b] and split[a] != split[b]
    assert witness(split, split) is None
    assert witness(np.arange(40), split) is None


def test_of_must_be_nodes_or_graphs():
    with pytest.raises(BadInput, match="of: got 'edges'"):
        count_classes(nx.path_graph(2), 1, of="edges")
