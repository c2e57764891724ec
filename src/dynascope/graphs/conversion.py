"""Graphs from what people hold in Python, and several graphs as one.

Everything in this package takes a `Graph`, a networkx graph, a scipy sparse matrix or a square
numpy array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from dynascope.core.errors import bad
from dynascope.graphs.graph import Graph, from_edges


def union(graphs: Sequence[Any]) -> Graph:
    """The disjoint union; part k is the k-th graph.

    Example:
        >>> both = union([from_edges([(0, 1)]), from_edges([(0, 1), (1, 2)])])
        >>> both.nodes, both.graphs, both.part.tolist()
        (5, 2, [0, 0, 1, 1, 1])
    """
    members = [as_graph(g) for g in graphs]
    if not members:
        raise bad("graphs", [], "at least one graph")
    adjacency = sparse.csr_array(sparse.block_diag([g.adjacency for g in members], format="csr"))
    return Graph(
        adjacency,
        None,
        np.repeat(np.arange(len(members)), [g.nodes for g in members]),
        sum(g.self_loops for g in members),
        sum(g.repeated_edges for g in members),
        tuple(dict.fromkeys(line for g in members for line in g.notes)),
    )


def as_graph(thing: Any) -> Graph:
    """The graph behind a `Graph`, a networkx graph, a sparse matrix or a square array."""
    if isinstance(thing, Graph):
        return thing
    if sparse.issparse(thing) or isinstance(thing, np.ndarray):
        return _from_matrix(thing)
    if hasattr(thing, "number_of_nodes") and hasattr(thing, "is_directed"):
        return _from_networkx(thing)
    raise bad(
        "graph", type(thing).__name__, "a Graph, a networkx graph or a scipy sparse matrix",
        "read files with graphs.load(path)",
    )  # fmt: skip


def _from_matrix(matrix: Any) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise bad("graph", matrix.shape, "a square matrix")
    entries = sparse.coo_array(matrix)
    if entries.data.dtype.kind == "f" and np.isnan(entries.data).any():
        raise bad("graph", "an entry that is not a number", "0 where there is no edge")
    kept = entries.data != 0
    weighted = bool((entries.data[kept] != 1).any())
    pairs = np.column_stack([entries.row[kept], entries.col[kept]])
    notes = ["weights: ignored"] if weighted else []
    return from_edges(pairs, matrix.shape[0], arcs=True, notes=notes)


def _from_networkx(graph: Any) -> Graph:
    names = np.empty(graph.number_of_nodes(), dtype=object)
    names[:] = list(graph)
    number = {name: k for k, name in enumerate(names)}
    pairs = [(number[u], number[v]) for u, v in graph.edges()]
    notes = []
    if any("weight" in data for _, _, data in graph.edges(data=True)):
        notes.append("weights: ignored")
    plain = all(type(name) is int and name == k for k, name in enumerate(names))
    directed = graph.is_directed()
    return from_edges(pairs, len(names), arcs=directed, names=None if plain else names, notes=notes)
