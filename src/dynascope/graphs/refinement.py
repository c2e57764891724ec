"""Colour refinement (Weisfeiler-Leman): what a message-passing network can tell apart.

After k rounds two nodes share a colour exactly when their rooted aggregation trees of depth k
are equal, and exactly then no network of k message-passing layers can separate them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from dynascope.graphs.conversion import as_graph
from dynascope.graphs.depth import one_depth
from dynascope.graphs.features import read_features
from dynascope.graphs.graph import Graph
from dynascope.graphs.grouping import first_occurrence, group_multisets, positions


def refine(graph: Any, depth: int, features: Any = None) -> np.ndarray:
    """Colours of every node after 0, 1, ..., depth rounds.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        depth: Number of rounds.
        features: Initial colours, one value or one row per node; None for all alike.

    Returns:
        (depth + 1, nodes) whole numbers; row 0 holds the initial colours.

    Example:
        >>> import networkx as nx
        >>> refine(nx.path_graph(5), 2).tolist()
        [[0, 0, 0, 0, 0], [0, 1, 1, 1, 0], [0, 1, 2, 1, 0]]
    """
    graph = as_graph(graph)
    colours = read_features(features, graph.nodes).colours
    return np.stack(list(islice(rounds(graph, colours), one_depth(depth) + 1)))


def rounds(graph: Graph, colours: np.ndarray) -> Iterator[np.ndarray]:
    """Colours after 0, 1, 2, ... rounds, without end; a stable colouring is repeated."""
    classes, stable = int(colours.max()) + 1, False
    while True:
        yield colours
        if not stable:
            colours = refine_once(graph, colours)
            found = int(colours.max()) + 1
            classes, stable = found, found == classes


def refine_once(graph: Graph, colours: np.ndarray, words: np.ndarray | None = None) -> np.ndarray:
    """One round: own colour with the multiset of neighbour colours, numbered anew.

    Args:
        graph: The graph.
        colours: (nodes,) colours 0..c-1.
        words: Two 64-bit words for each colour; None for random ones (the answer is the same).

    Returns:
        (nodes,) refined colours by first occurrence.
    """
    classes = int(colours.max()) + 1
    if classes == 1:  # a multiset of one colour is its size
        return first_occurrence(graph.degrees)
    starts, ends = graph.adjacency.indptr, graph.adjacency.indices
    crowded = np.bincount(colours)[colours] > 1  # who is alone stays alone
    if crowded.all():
        return group_multisets(colours, starts, colours[ends], words)
    rows = np.flatnonzero(crowded)
    lengths = graph.degrees[rows]
    members = colours[ends[positions(starts[rows], lengths)]]
    refined = colours.copy()
    refined[rows] = classes + group_multisets(
        colours[rows], np.append(0, np.cumsum(lengths)), members, words
    )
    return first_occurrence(refined)
