"""The fixed operators through which graph-augmented MLPs propagate features (GNN-D1).

Each function returns a sparse (nodes, nodes) matrix that depends on the graph alone and
commutes with renaming nodes. Whole-number operators have whole-number entries. A node without
edges has no inverse degree; it counts as 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from dynascope.core.errors import bad
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.graph import Graph

TELEPORT = 0.15  # of personalised PageRank, as in the works that SIGN builds on
BETHE_SHIFT = 8.0  # kappa of the thesis: above half of H's largest eigenvalue on sparse graphs
BYTES_ALLOWED = 10**9
BYTES_PER_ENTRY = 16  # an int64 value and a column number that scipy may keep in 64 bits


def inverse_degree(degrees: np.ndarray, exponent: float) -> np.ndarray:
    """d^-exponent, and 0 where the degree is 0.

    Example:
        >>> inverse_degree(np.array([4.0, 0.0]), 0.5).tolist()
        [0.5, 0.0]
    """
    safe = np.where(degrees > 0, degrees, 1).astype(np.float64)
    return np.where(degrees > 0, safe**-exponent, 0.0)


def adjacency(graph: Any) -> sparse.csr_array:
    """A: 1 where two nodes are joined."""
    return as_graph(graph).adjacency


def degree(graph: Any) -> sparse.csr_array:
    """D: the degrees on the diagonal."""
    return _diagonal(as_graph(graph).degrees)


def normalized(graph: Any, left: float = 0.5, right: float = 0.5) -> sparse.csr_array:
    """D^-left A D^-right; symmetric for a half on both sides."""
    graph = as_graph(graph)
    return _scaled(
        graph.adjacency, inverse_degree(graph.degrees, left), inverse_degree(graph.degrees, right)
    )


def self_loop(graph: Any, weight: float = 1.0) -> sparse.csr_array:
    """(D + eI)^-1/2 (A + eI) (D + eI)^-1/2 with e the weight; 1 is the GCN's operator."""
    graph = as_graph(graph)
    scale = inverse_degree(graph.degrees + weight, 0.5)
    loops = weight * sparse.eye_array(graph.nodes)
    return _scaled(sparse.csr_array(graph.adjacency + loops), scale, scale)


def power_graph(graph: Any, closed: bool = False, diagonal: bool = True) -> sparse.csr_array:
    """min(A^2, 1): 1 where a walk of two steps leads.

    Args:
        graph: The graph.
        closed: Use I + A instead of A, so that one step or none counts as well.
        diagonal: Keep the walks that return to their start.

    Returns:
        The 0/1 matrix; refused if it could take more than 1 GB.

    Example:
        >>> import networkx as nx
        >>> [int(power_graph(nx.cycle_graph(6), closed=c).sum(axis=1)[0]) for c in (False, True)]
        [3, 5]
    """
    graph = as_graph(graph)
    step = graph.adjacency
    if closed:
        step = sparse.csr_array(step + sparse.eye_array(graph.nodes, dtype=np.int64))
    _refuse_large(min(int((np.diff(step.indptr).astype(float) ** 2).sum()), graph.nodes**2))
    reached = step @ step
    reached.data[:] = np.minimum(reached.data, 1)
    if not diagonal:
        reached.setdiag(0)
        reached.eliminate_zeros()
    return reached


def _refuse_large(entries: int) -> None:
    size = entries * BYTES_PER_ENTRY
    if size > BYTES_ALLOWED:
        raise bad(
            "power graph", f"up to {entries:,} entries", f"at most {BYTES_ALLOWED / 1e9:g} GB",
            f"it may need {size / 1e9:.1f} GB: use family triangle, or a smaller graph",
        )  # fmt: skip


def triangle(graph: Any) -> sparse.csr_array:
    """A ∘ A^2: for each edge the number of triangles that it lies in.

    Computed for a few rows at a time, so that A^2 never exists as a whole.
    """
    graph = as_graph(graph)
    step = graph.adjacency
    cost = np.cumsum(step @ graph.degrees)  # entries of A^2 row by row, at most
    blocks = np.searchsorted(cost, np.arange(0, cost[-1] + 1, BYTES_ALLOWED // 100))
    bounds = np.unique([0, *blocks.tolist(), graph.nodes])
    rows = [step[a:b].multiply(step[a:b] @ step) for a, b in pairwise(bounds)]
    return sparse.csr_array(sparse.vstack(rows, format="csr"), dtype=np.int64)


def bethe_hessian(graph: Any) -> sparse.csr_array:
    """H(r) = (r^2 - 1) I - r A + D with r^2 the average degree of the node's own graph."""
    graph = as_graph(graph)
    squared = average_degree(graph)
    diagonal = _diagonal(squared - 1 + graph.degrees)
    edges = _scaled(graph.adjacency, np.sqrt(squared), np.ones(graph.nodes))
    return sparse.csr_array(diagonal - edges)


def shifted_bethe_hessian(graph: Any, shift: float = BETHE_SHIFT) -> sparse.csr_array:
    """S I - H(r), S the shift: its powers amplify the small eigenvalues, which show communities."""
    hessian = bethe_hessian(graph)
    return sparse.csr_array(shift * sparse.eye_array(hessian.shape[0]) - hessian)


def average_degree(graph: Graph) -> np.ndarray:
    """(nodes,) mean degree of the graph that each node belongs to."""
    total = np.bincount(graph.part, weights=graph.degrees)
    return (total / np.bincount(graph.part))[graph.part]


def personalized_pagerank(graph: Any, values: np.ndarray, teleport: float = TELEPORT) -> np.ndarray:
    """Apply t (I - (1 - t) S)^-1 to values, S = D^-1/2 A D^-1/2, t the teleport probability.

    The matrix is dense on a connected graph, so it is never built: the series is summed by
    Horner's rule until what is left out is below 1e-18 of the values. For the matrix itself
    apply it to the identity.

    Args:
        graph: The graph.
        values: (nodes,) or (nodes, columns).
        teleport: Probability of returning to the start, between 0 and 1.

    Returns:
        The propagated values.

    Example:
        >>> import networkx as nx
        >>> personalized_pagerank(nx.cycle_graph(4), np.ones(4)).round(12).tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    if not 0 < teleport < 1:
        raise bad("teleport", teleport, "a probability between 0 and 1")
    step = normalized(graph)
    total = teleport * values
    for _ in range(pagerank_terms(teleport)):
        total = teleport * values + (1 - teleport) * (step @ total)
    return total


def pagerank_terms(teleport: float) -> int:
    """How many terms leave a rest of the series below 1e-18."""
    return int(np.ceil(np.log(1e-18) / np.log1p(-teleport)))


def _diagonal(values: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(sparse.diags_array(values, dtype=values.dtype))


def _scaled(matrix: sparse.csr_array, left: np.ndarray, right: np.ndarray) -> sparse.csr_array:
    """diag(left) @ matrix @ diag(right), entry by entry."""
    rows = np.repeat(left, np.diff(matrix.indptr))
    data = rows * matrix.data * right[matrix.indices]
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
