from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynascope.core.errors import BadInput
from dynascope.graphs import from_edges, refine
from dynascope.graphs.refinement import refine_once

from .samples import (
    as_networkx,
    nested_colours,
    permuted,
    random_graph,
    refines,
    same_partition,
)


@pytest.mark.parametrize("seed", range(6))
def test_colours_equal_nested_tuples(seed):
    graph = random_graph(seed, loops=seed % 2 == 0)
    features = np.random.default_rng(seed).integers(0, 2, graph.nodes)
    for start in (None, features):
        rows = refine(graph, 4, start)
        for depth in range(5):
            plain = None if start is None else start.tolist()
            assert same_partition(rows[depth], nested_colours(graph, depth, plain))


def test_colours_equal_the_hashes_of_networkx():
    graph = random_graph(1, nodes=200, edges=300)
    twin = as_networkx(graph)
    nx.set_node_attributes(twin, "same", "colour")
    hashes = nx.weisfeiler_lehman_subgraph_hashes(twin, node_attr="colour", iterations=4)
    rows = refine(graph, 4)
    for depth in range(1, 5):
        assert same_partition(rows[depth], [hashes[i][depth - 1] for i in range(graph.nodes)])


def test_row_zero_holds_the_initial_colours_and_the_last_row_of_a_path_its_mirror_classes():
    rows = refine(nx.path_graph(7), 5, features=[1, 0, 1, 0, 1, 0, 1])
    assert rows.shape == (6, 7)
    assert rows[0].tolist() == [1, 0, 1, 0, 1, 0, 1]
    assert same_partition(rows[5], [0, 1, 2, 3, 2, 1, 0])


def test_a_stable_colouring_stays_as_it_is():
    rows = refine(nx.path_graph(5), 10)
    assert (rows[3:] == rows[2]).all()


def test_a_planted_collision_does_not_merge_two_nodes():
    # node 4 sees colours 0 and 1, node 5 sees 2 and 3; the words of both pairs add up alike
    graph = from_edges([(4, 0), (4, 1), (5, 2), (5, 3)])
    colours = np.array([0, 1, 2, 3, 4, 4])
    words = np.zeros(10, dtype=np.uint64)
    words[:5] = [5, 20, 10, 15, 99]
    assert words[0] + words[1] == words[2] + words[3]
    refined = refine_once(graph, colours, words)
    assert refined[4] != refined[5]
    assert same_partition(refined, refine_once(graph, colours))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=14),
            st.permutations(range(n)),
        )
    )
)
def test_refinement_is_exact_monotone_and_blind_to_numbering(case):
    nodes, edges, order = case
    graph = from_edges(edges, nodes)
    rows = refine(graph, 3)
    other = refine(permuted(graph, np.array(order)), 3)
    for depth in range(4):
        assert same_partition(rows[depth], nested_colours(graph, depth))
        assert same_partition(rows[depth][list(order)], other[depth])
        assert depth == 0 or refines(rows[depth], rows[depth - 1])


@pytest.mark.parametrize("depth", [-1, 1.5, "2", True])
def test_a_depth_that_is_none_is_refused(depth):
    with pytest.raises(BadInput, match="depth"):
        refine(nx.path_graph(3), depth)
