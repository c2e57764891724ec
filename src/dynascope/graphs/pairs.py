"""Pairs of graphs that are hard for one family and easy for another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.registry import Registry
from dynascope.graphs.graph import Graph, from_edges
from dynascope.graphs.trees import full_tree


@dataclass(frozen=True, eq=False)
class GraphPair:
    """Two graphs that are not isomorphic, with their features, and what to look for."""

    name: str
    first: Graph
    second: Graph
    meaning: str
    features: tuple[np.ndarray, np.ndarray] | None = None


def circulant(nodes: int, *jumps: int) -> Graph:
    """Nodes on a ring, each joined to those a jump away; one jump of 1 is a cycle.

    Example:
        >>> circulant(8, 1, 2).degrees.tolist()
        [4, 4, 4, 4, 4, 4, 4, 4]
    """
    ring = np.arange(nodes)
    return from_edges([(i, (i + jump) % nodes) for i in ring for jump in jumps], nodes)


def _from_text(edges: str) -> Graph:
    """Edges as 1-3 2-4, nodes counted from 1 as in the thesis."""
    pairs = np.array([edge.split("-") for edge in edges.split()], dtype=np.int64) - 1
    return from_edges(pairs, names=np.arange(1, int(pairs.max()) + 2))


# The figure is an image; the edges follow from the sums in the proof of Lemma A.9.
_SHARED = "3-11 3-12 4-13 4-14 5-13 6-11 7-14 8-12"
FOURTEEN = GraphPair(
    "fourteen-nodes",
    _from_text(f"1-3 1-5 1-7 1-9 2-4 2-6 2-8 2-10 {_SHARED}"),
    _from_text(f"1-5 1-6 1-7 1-8 2-3 2-4 2-9 2-10 {_SHARED}"),
    "Prop 2.1: equal for all powers of A, apart after two rounds of message passing",
)
REGULAR = GraphPair(
    "regular",
    circulant(8, 1),
    circulant(8, 1, 2),
    "Prop 2.1: equal for all powers of a normalised adjacency, apart after one round",
)
HEXAGON = GraphPair(
    "hexagon",
    circulant(6, 1),
    from_edges([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]),
    "equal for message passing and for min(A^2, 1), apart for A ∘ A^2",
)
BRANCHES = GraphPair(
    "branches",
    full_tree(2, 2),
    full_tree(2, 2),
    "Fig 2.3: the roots agree for every operator on the topology, apart after two rounds",
    (np.array([0, 0, 1, 0, 0, 0, 1]), np.array([0, 0, 1, 0, 1, 0, 0])),
)

hard_pairs: Registry[GraphPair] = Registry("pair")
for _pair in (FOURTEEN, REGULAR, HEXAGON, BRANCHES):
    hard_pairs.add(_pair.name, _pair)
