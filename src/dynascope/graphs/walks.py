"""Counting walks by type, exactly: the targets that message passing reaches and others miss.

A walk of length k from a root is (i_1, ..., i_k) with consecutive nodes joined, the root itself
not listed. Counts are 64-bit words as long as they fit and Python integers after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.graph import Graph
from dynascope.graphs.powers import LARGEST_WORD, big_product


def count_walks(graph: Any, features: Any, pattern: Sequence[Any], root: Any = None) -> np.ndarray:
    """For every root, the walks whose nodes carry the features x_1, ..., x_k in this order.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        features: One value per node.
        pattern: x_1, ..., x_k.
        root: A feature that the root must carry (otherwise its count is 0); None for any.

    Returns:
        (nodes,) counts.

    Example:
        >>> import networkx as nx
        >>> count_walks(nx.path_graph(4), ["b", "r", "b", "r"], ["r", "b"]).tolist()
        [2, 0, 3, 0]
    """
    graph = as_graph(graph)
    values = _check(features, pattern, graph.nodes)
    count = _indicator(values, pattern[-1])
    for wanted in reversed(pattern[:-1]):
        count = _indicator(values, wanted) * _step(graph, count)
    count = _step(graph, count)
    return count if root is None else count * (values == root)


def count_non_backtracking_walks(
    graph: Any, features: Any, pattern: Sequence[Any], root: Any = None
) -> np.ndarray:
    """As `count_walks`, for walks that never return at once to where they came from.

    Runs over arcs: the completions of a walk that just went from u to v are those from v
    without the one that goes back to u.

    Example:
        >>> import networkx as nx
        >>> ones = [1, 1, 1, 1]
        >>> count_non_backtracking_walks(nx.path_graph(4), ones, [1, 1]).tolist()
        [1, 1, 1, 1]
    """
    graph = as_graph(graph)
    values = _check(features, pattern, graph.nodes)
    step = graph.adjacency
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    reverse = np.lexsort((sources, step.indices))  # arcs are in order (u, v); this is (v, u)
    arcs = np.asarray(values[step.indices] == pattern[-1]).astype(object)
    for wanted in reversed(pattern[:-1]):
        onward = _sum_rows(graph, arcs)[step.indices] - arcs[reverse]
        arcs = onward * (values[step.indices] == wanted)
    count = _sum_rows(graph, arcs)
    if max(count) <= LARGEST_WORD:
        count = count.astype(np.int64)
    return count if root is None else count * (values == root)


def _sum_rows(graph: Graph, arcs: np.ndarray) -> np.ndarray:
    """(nodes,) sum over the arcs that leave each node."""
    total = np.zeros(graph.nodes, dtype=object)
    filled = np.flatnonzero(graph.degrees)
    if len(filled):
        total[filled] = np.add.reduceat(arcs, graph.adjacency.indptr[filled])
    return total


def _check(features: Any, pattern: Sequence[Any], nodes: int) -> np.ndarray:
    values = np.asarray(features)
    if values.shape != (nodes,):
        raise bad("features", f"shape {values.shape}", f"one value for each of {nodes} nodes")
    if len(pattern) < 1:
        raise bad("pattern", list(pattern), "the features of at least one step")
    return values


def _indicator(values: np.ndarray, wanted: Any) -> np.ndarray:
    return np.asarray(values == wanted).astype(np.int64)


def _step(graph: Graph, count: np.ndarray) -> np.ndarray:
    """A @ count, in words if no sum can leave them."""
    largest = int(count.max(initial=0)) * int(graph.degrees.max(initial=0))
    if largest > LARGEST_WORD or count.dtype == object:
        return big_product(graph.adjacency, count.astype(object))
    return graph.adjacency @ count
