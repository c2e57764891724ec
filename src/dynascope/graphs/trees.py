"""Rooted trees: full m-ary trees, and a family with equal features.

Words: m is `branching`, the number of children of every inner node; K is `depth`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.graph import Graph, from_edges


def full_tree(branching: int, depth: int) -> Graph:
    """The full tree, numbered level by level: the root is 0, the children of i are mi+1..mi+m.

    Example:
        >>> full_tree(2, 2).edges
        6
    """
    if branching < 1 or depth < 0:
        raise bad("tree", (branching, depth), "branching of at least 1 and depth of at least 0")
    nodes = sum(branching**k for k in range(depth + 1))
    children = np.arange(1, nodes)
    return from_edges(np.column_stack([(children - 1) // branching, children]), nodes)


def level_slices(branching: int, depth: int) -> list[slice]:
    """Where each level of a full tree lies in its numbering."""
    ends = np.cumsum([branching**k for k in range(depth + 1)]).tolist()
    return [slice(end - branching**k, end) for k, end in enumerate(ends)]


def walk_counting_family(
    branching: int, pattern: Sequence[int]
) -> Iterator[tuple[Graph, np.ndarray]]:
    """Trees that no operator on the topology tells apart, yet with all walk counts (Prop 2.7).

    Levels 1..k-1 carry the pattern under the first child of the root and its opposite
    elsewhere. On level k as many leaves carry x_k under the first child as the count says; the
    others are chosen so that the level's total is the same for all.

    Args:
        branching: m, at least 2.
        pattern: x_1, ..., x_k, zeros and ones, k >= 2 (for k = 1 the adjacency sees the count).

    Yields:
        For count 0, 1, ..., m^(k-1): the tree and its features; the root carries 0.
    """
    if branching < 2 or len(pattern) < 2 or not set(pattern) <= {0, 1}:
        raise bad("family", (branching, list(pattern)), "branching >= 2, two or more of 0 and 1")
    depth = len(pattern)
    tree, levels = full_tree(branching, depth), level_slices(branching, depth)
    features = np.zeros(tree.nodes, dtype=np.int64)
    for k in range(1, depth + 1):
        features[levels[k]] = 1 - pattern[k - 1]
        if k < depth:
            features[levels[k]][: branching ** (k - 1)] = pattern[k - 1]
    width = branching ** (depth - 1)
    for count in range(width + 1):
        chosen = features.copy()
        leaves = chosen[levels[depth]]
        leaves[:count] = pattern[-1]
        leaves[width : 2 * width - count] = pattern[-1]
        yield tree, chosen
