from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs import as_graph, partitions, refine, union
from dynascope.graphs.trees import (
    full_tree,
    level_slices,
    walk_counting_family,
)
from dynascope.graphs.walks import count_non_backtracking_walks, count_walks

from .samples import as_networkx, neighbours, random_graph, same_partition

TOPOLOGICAL = ("adjacency", "normalized", "self_loop", "power", "triangle", "bethe", "ppr")


def aggregation_tree(graph, root, depth, features=None):
    """The unrolled neighbourhood of a node: (feature, subtrees in order), exponentially large.

    The children of a tree node are all neighbours of its image, the parent's among them. Two
    nodes have equal trees of depth k exactly when k rounds of refinement give one colour.
    """
    around = neighbours(as_graph(graph))
    values = [0] * len(around) if features is None else list(features)

    def unroll(node, left):
        below = sorted(unroll(j, left - 1) for j in around[node]) if left else []
        return values[node], tuple(below)

    return unroll(root, depth)


@pytest.mark.parametrize("seed", range(3))
def test_equal_unrolled_trees_are_equal_colours(seed):
    graph = random_graph(seed, nodes=20, edges=28)
    features = np.arange(20) % 2
    rows = refine(graph, 3, features)
    for depth in range(4):
        trees = [aggregation_tree(graph, i, depth, features.tolist()) for i in range(20)]
        assert same_partition(rows[depth], trees)


def test_a_triangle_and_a_hexagon_unroll_to_the_same_tree():
    trees = [aggregation_tree(nx.cycle_graph(n), 0, 5) for n in (3, 6)]
    assert trees[0] == trees[1] != aggregation_tree(nx.path_graph(6), 0, 5)


@pytest.mark.parametrize(("branching", "depth"), [(1, 3), (2, 3), (3, 2), (2, 0)])
def test_full_trees_equal_those_of_networkx(branching, depth):
    expected = nx.balanced_tree(branching, depth)
    assert nx.utils.graphs_equal(nx.Graph(as_networkx(full_tree(branching, depth)).edges),
                                 nx.Graph(expected.edges))  # fmt: skip
    distance = nx.single_source_shortest_path_length(expected, 0)
    for level, place in enumerate(level_slices(branching, depth)):
        assert all(distance[i] == level for i in range(place.start, place.stop))


@pytest.mark.parametrize(("branching", "pattern"), [(3, (0, 1, 0)), (2, (1, 1)), (4, (0, 0))])
def test_walk_counts_take_every_value_where_no_operator_sees_a_difference(branching, pattern):
    trees = list(walk_counting_family(branching, pattern))
    width = branching ** (len(pattern) - 1)
    straight = [count_non_backtracking_walks(g, x, pattern)[0] for g, x in trees]
    assert straight == list(range(width + 1))
    anywhere = np.array([count_walks(g, x, pattern)[0] for g, x in trees])
    assert len(set((anywhere - straight).tolist())) == 1  # walks that turn back add a constant
    together = union([g for g, _ in trees])
    features = np.concatenate([x for _, x in trees])
    roots = np.arange(len(trees)) * trees[0][0].nodes
    depth = len(pattern)
    for family in TOPOLOGICAL:
        rows = partitions(together, depth, family, features=features, include_identity=True)
        assert len(set(rows[depth][roots].tolist())) == 1
    seen = partitions(together, depth, "wl", features=features)[depth]
    assert len(set(seen[roots].tolist())) == len(trees)


def test_levels_of_the_family_hold_the_stated_number_of_zeros():
    branching, pattern = 3, (0, 1, 0)
    levels = level_slices(3, 3)
    zeros = {tuple(int((x[s] == 0).sum()) for s in levels)
             for _, x in walk_counting_family(branching, pattern)}  # fmt: skip
    assert zeros == {(1, 1, 6, 9)}  # m^(k-1) zeros under x_k = 0, (m-1) m^(k-1) under 1


def test_trees_and_families_that_make_no_sense_are_refused():
    with pytest.raises(BadInput, match="tree"):
        full_tree(0, 2)
    with pytest.raises(BadInput, match="family"):
        list(walk_counting_family(3, (0, 2)))
    with pytest.raises(BadInput, match="family"):
        list(walk_counting_family(3, (0,)))
