"""Counting what a family tells apart, and finding pairs that show the difference."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.depth import one_depth, several_depths
from dynascope.graphs.family import levels
from dynascope.graphs.graph import Graph
from dynascope.graphs.grouping import group_multisets

Of = Literal["nodes", "graphs"]


def partitions(
    graph: Any,
    depth: int,
    family: str = "wl",
    *,
    features: Any = None,
    include_identity: bool = False,
    of: Of = "nodes",
) -> np.ndarray:
    """Class of every node (or of every graph of a union) at depth 0, 1, ..., depth.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        depth: The largest depth.
        family: A name of `families`.
        features: Initial colours or a table of numbers; None for all alike.
        include_identity: Let graph-augmented models see the features themselves too.
        of: "nodes", or "graphs" for the multiset of classes in each graph of the union.

    Returns:
        (depth + 1, nodes or graphs) whole numbers.
    """
    graph = as_graph(graph)
    if of not in ("nodes", "graphs"):
        raise bad("of", of, "'nodes' or 'graphs'")
    stream = islice(levels(graph, family, features, include_identity), one_depth(depth) + 1)
    colours = [level.colours for level in stream]
    return np.stack([whole_graphs(graph, c) for c in colours] if of == "graphs" else colours)


def whole_graphs(graph: Graph, colours: np.ndarray) -> np.ndarray:
    """(graphs,) classes of the graphs of a union by their multisets of node colours."""
    order = np.argsort(graph.part, kind="stable")
    starts = np.searchsorted(graph.part[order], np.arange(graph.graphs + 1))
    return group_multisets(np.zeros(graph.graphs, np.int64), starts, colours[order])


def count_classes(
    graph: Any,
    depth: int | Iterable[int],
    family: str = "wl",
    *,
    features: Any = None,
    include_identity: bool = False,
    of: Of = "nodes",
) -> int | list[int]:
    """How many classes a family tells apart at a depth.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        depth: One depth, or several (`range(1, 6)`).
        family: A name of `families`.
        features: Initial colours or a table of numbers; None for all alike.
        include_identity: Let graph-augmented models see the features themselves too.
        of: "nodes", or "graphs" for whole graphs of a union.

    Returns:
        A number, or a list of numbers where several depths came.

    Example:
        >>> import networkx as nx
        >>> count_classes(nx.path_graph(6), range(4))
        [1, 2, 3, 3]
    """
    wanted, single = several_depths(depth)
    rows = partitions(
        graph, max(wanted), family, features=features, include_identity=include_identity, of=of
    )
    counts = [int(rows[d].max()) + 1 for d in wanted]
    return counts[0] if single else counts


def witness(merged: np.ndarray, split: np.ndarray) -> tuple[int, int] | None:
    """Two nodes that one colouring merges and another splits, or None if there are none.

    Example:
        >>> witness(np.array([0, 0, 0]), np.array([0, 0, 1]))
        (0, 2)
    """
    _, first, inverse = np.unique(merged, return_index=True, return_inverse=True)
    heads = first[inverse]
    apart = np.flatnonzero(split != split[heads])
    return (int(heads[apart[0]]), int(apart[0])) if len(apart) else None
