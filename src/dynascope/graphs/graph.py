"""One plain graph: an undirected 0/1 adjacency with names and what was changed on the way in.

Several graphs live in one `Graph` as a disjoint union; `part` says which node belongs to which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from dynascope.core.errors import bad

MOST_NODES = 10**8  # one number per node takes 0.8 GB, and refinement needs several


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph (or a disjoint union of graphs) without weights.

    Attributes:
        adjacency: (nodes, nodes), symmetric, entries 0 and 1; a self-loop is a 1 on the diagonal.
        names: What each node is called where it came from; None for 0..nodes-1.
        part: (nodes,), the number of the graph that a node belongs to.
        self_loops: How many nodes are joined to themselves.
        repeated_edges: How many repetitions of an edge were collapsed.
        notes: One line for each thing that was changed or deserves a warning.
        node_labels: (nodes,) labels that came with the file, or None.
        graph_labels: (graphs,) labels that came with the file, or None.

    Example:
        >>> triangle = from_edges([(0, 1), (1, 2), (2, 0), (0, 1)])
        >>> triangle.nodes, triangle.edges, triangle.notes
        (3, 3, ('repeated edges: 1 collapsed',))
    """

    adjacency: sparse.csr_array
    names: np.ndarray | None
    part: np.ndarray
    self_loops: int = 0
    repeated_edges: int = 0
    notes: tuple[str, ...] = ()
    node_labels: np.ndarray | None = None
    graph_labels: np.ndarray | None = None

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.adjacency.shape[0]

    @property
    def edges(self) -> int:
        """Number of undirected edges, self-loops included."""
        return (self.adjacency.nnz + self.self_loops) // 2

    @property
    def graphs(self) -> int:
        """Number of graphs in the union."""
        return int(self.part.max()) + 1

    @cached_property
    def degrees(self) -> np.ndarray:
        """(nodes,) row sums of the adjacency: a self-loop counts once."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    def name(self, node: int) -> Any:
        """What a node is called: a plain number or text, or whatever networkx held."""
        if self.names is None:
            return int(node)
        name = self.names[node]
        return name.item() if isinstance(name, np.generic) else name


def from_edges(
    pairs: Any,
    nodes: int | None = None,
    *,
    arcs: bool = False,
    names: np.ndarray | None = None,
    part: np.ndarray | None = None,
    notes: Sequence[str] = (),
    node_labels: np.ndarray | None = None,
    graph_labels: np.ndarray | None = None,
) -> Graph:
    """Build a graph from pairs of node numbers.

    Args:
        pairs: (edges, 2) whole numbers from 0 on.
        nodes: How many nodes there are; None for one more than the largest number.
        arcs: True if the list holds both directions of an edge (neighbour lists, matrices);
            then only a second copy of the same direction is a repetition.
        names: What each node is called.
        part: (nodes,), which graph each node belongs to; None for one graph.
        notes: Lines to keep in front of the ones found here.
        node_labels: (nodes,) labels to carry along.
        graph_labels: (graphs,) labels to carry along.

    Returns:
        The graph with its notes.
    """
    ends = as_pairs(pairs)
    if nodes is None:
        nodes = int(ends.max()) + 1 if len(ends) else 0
    if nodes < 1:
        raise bad("graph", "no nodes", "at least one node", "an empty file needs nodes=N")
    if nodes > MOST_NODES:
        raise bad("nodes", nodes, f"at most {MOST_NODES:,}")
    if len(ends) and (ends.min() < 0 or ends.max() >= nodes):
        wrong = int(ends.min()) if ends.min() < 0 else int(ends.max())
        raise bad("edge", wrong, f"node numbers from 0 to {nodes - 1}")
    low, high, repeated, one_way = _collapse(ends, nodes, arcs)
    adjacency = _adjacency(low, high, nodes)
    loops = int((low == high).sum())
    isolated = nodes - int(np.count_nonzero(np.diff(adjacency.indptr)))
    return Graph(
        adjacency,
        names,
        np.zeros(nodes, np.int64) if part is None else part,
        loops,
        repeated,
        (*notes, *_notes(loops, one_way, repeated, isolated)),
        node_labels,
        graph_labels,
    )


def as_pairs(pairs: Any) -> np.ndarray:
    """(edges, 2) whole numbers, checked."""
    ends = np.asarray(pairs)
    if ends.size and (ends.dtype.kind not in "iu" or ends.ndim != 2 or ends.shape[1] != 2):
        raise bad("edges", f"{ends.dtype} of shape {ends.shape}", "whole numbers in two columns")
    return ends.astype(np.int64).reshape(-1, 2)


def _collapse(ends: np.ndarray, nodes: int, arcs: bool) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Each undirected edge once (low end, high end), repetitions, edges in one direction only."""
    low, high = np.minimum(*ends.T), np.maximum(*ends.T)
    downward = (ends[:, 0] > ends[:, 1]) if arcs else 0
    codes, begin = _runs(2 * (low * nodes + high) + downward)  # an edge and its direction
    keys, first = _runs(codes // 2)
    low, high = keys // nodes, keys % nodes
    if not arcs:
        return low, high, len(ends) - len(keys), 0
    copies = np.diff(begin, append=len(ends))
    most = np.maximum.reduceat(copies, first) if len(first) else copies
    directions = np.diff(first, append=len(codes))
    return low, high, int((most - 1).sum()), int(((directions == 1) & (low != high)).sum())


def _runs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers in order, and where the run of each begins once they are sorted.

    np.unique goes through a hash table here and takes six times as long on millions of edges.
    """
    numbers = np.sort(numbers)
    begin = np.flatnonzero(np.diff(numbers, prepend=-1))
    return numbers[begin], begin


def _adjacency(low: np.ndarray, high: np.ndarray, nodes: int) -> sparse.csr_array:
    apart = low != high
    rows = np.concatenate([low, high[apart]])
    columns = np.concatenate([high, low[apart]])
    ones = np.ones(len(rows), dtype=np.int64)
    adjacency = sparse.csr_array((ones, (rows, columns)), shape=(nodes, nodes))
    adjacency.sort_indices()
    return adjacency


def _notes(loops: int, one_way: int, repeated: int, isolated: int) -> list[str]:
    lines = [
        (loops, f"self-loops: {loops} kept"),
        (one_way, f"directed edges: {one_way} in one direction only, made undirected"),
        (repeated, f"repeated edges: {repeated} collapsed"),
        (isolated, f"nodes without edges: {isolated}; an inverse degree counts as 0 there"),
    ]
    return [line for count, line in lines if count]


def renumber(ids: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Node numbers 0..n-1 for arbitrary ids, in their order.

    Returns:
        The ids as names, None where ids and numbers are the same, and the numbers.

    Example:
        >>> names, numbers = renumber(np.array([[7, 3], [3, 9]]))
        >>> names.tolist(), numbers.tolist()
        ([3, 7, 9], [[1, 0], [0, 2]])
    """
    names, numbers = np.unique(ids, return_inverse=True)
    plain = not len(names) or (names[0] == 0 and names[-1] == len(names) - 1)
    return None if plain else names, numbers.reshape(ids.shape)
