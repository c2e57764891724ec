"""Two communities in a sparse random graph: spectral answers, and their score."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import csgraph

from dynascope.graphs.conversion import as_graph
from dynascope.graphs.graph import Graph
from dynascope.graphs.operators import bethe_hessian

# (inside, across) expected degrees parts p and q of the five hardnesses, rank 1 the hardest;
# the thesis omits them, they are those of the authors' public code (mean degree 3).
HARDNESSES = ((4.5, 1.5), (4.73, 1.27), (5.0, 1.0), (5.5, 0.5), (6.0, 0.0))


def signal_to_noise(inside: float, across: float) -> float:
    """(p - q)^2 / (2 (p + q)): communities can be found exactly above 1 (Kesten-Stigum).

    Example:
        >>> [round(signal_to_noise(p, q), 3) for p, q in HARDNESSES]
        [0.75, 0.998, 1.333, 2.083, 3.0]
    """
    return (inside - across) ** 2 / (2 * (inside + across))


def overlap(answer: Any, truth: Any) -> float:
    """How far above chance two communities were found: 0 for half right, 1 for all right.

    The communities have no names, so the better of the two namings counts; for that reason
    guessing gives more than 0, see `chance_overlap`.

    Example:
        >>> overlap([1, 1, 0, 1], [0, 0, 1, 1])
        0.5
    """
    right = float(np.mean(np.asarray(answer) == np.asarray(truth)))
    return 2 * max(right, 1 - right) - 1


def chance_overlap(nodes: int) -> float:
    """Mean overlap of fair coin flips: E|2B - n| / n for a binomial B, exactly.

    Example:
        >>> round(chance_overlap(250), 4)
        0.0504
    """
    total = sum(comb(nodes, k) * abs(2 * k - nodes) for k in range(nodes + 1))
    return total / (nodes * 2**nodes)


def bethe_communities(graph: Any) -> np.ndarray:
    """Communities by the sign of the Bethe Hessian's second lowest eigenvector."""
    graph = as_graph(graph)
    return _two_pieces(graph, bethe_hessian(graph).toarray(), rank=1)


def adjacency_communities(graph: Any) -> np.ndarray:
    """Communities by the sign of the adjacency's second highest eigenvector."""
    graph = as_graph(graph)
    return _two_pieces(graph, graph.adjacency.toarray().astype(float), rank=graph.nodes - 2)


def _two_pieces(graph: Graph, operator: np.ndarray, rank: int) -> np.ndarray:
    """Split by an eigenvector, or by components where the graph already fell into two.

    Eigenvectors of two separate pieces live on one piece each, and their sign on the other is
    rounding noise. Pieces count as two if the second is at least half as large as the first.
    """
    component = csgraph.connected_components(graph.adjacency, directed=False)[1]
    sizes = np.bincount(component, minlength=2)
    order = np.argsort(-sizes, kind="stable")
    if 2 * sizes[order[1]] >= sizes[order[0]]:
        return (component == order[1]).astype(np.int64)
    vector = linalg.eigh(operator, subset_by_index=[rank, rank])[1][:, 0]
    return (vector > 0).astype(np.int64)
