"""A graph as a model sees it: features of its nodes, and sums over neighbours.

What graph tasks hand to `predict` in place of a table of inputs. `SparseGraph` lists arcs,
`DenseGraph` holds the whole matrix, which is quicker for graphs of a few hundred nodes and can
be drawn inside a compiled loop. Models ask for the three methods only.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.graphs import as_graph
from dynascope.graphs.operators import triangle


class GraphInput(Protocol):
    """Features (nodes, columns) and the products that operators are made of."""

    @property
    def features(self) -> jax.Array:
        """(nodes, columns)."""
        ...

    def neighbour_sum(self, values: jax.Array) -> jax.Array:
        """A @ values, for (nodes, columns)."""
        ...

    def triangle_sum(self, values: jax.Array) -> jax.Array:
        """(A ∘ A^2) @ values: neighbours weighted by the triangles of the shared edge."""
        ...


class DenseGraph(NamedTuple):
    """A graph by its adjacency matrix."""

    features: jax.Array  # (nodes, columns)
    adjacency: jax.Array  # (nodes, nodes) of 0 and 1

    def neighbour_sum(self, values: jax.Array) -> jax.Array:
        """A @ values."""
        return self.adjacency @ values

    def triangle_sum(self, values: jax.Array) -> jax.Array:
        """(A ∘ A^2) @ values."""
        return (self.adjacency * (self.adjacency @ self.adjacency)) @ values


class SparseGraph(NamedTuple):
    """A graph by its arcs, both directions of every edge, in order of their ends."""

    features: jax.Array  # (nodes, columns)
    sources: jax.Array  # (arcs,)
    ends: jax.Array  # (arcs,) ascending
    triangles: jax.Array  # (arcs,) triangles that the edge lies in

    def neighbour_sum(self, values: jax.Array) -> jax.Array:
        """A @ values."""
        return self._collect(values[self.sources])

    def triangle_sum(self, values: jax.Array) -> jax.Array:
        """(A ∘ A^2) @ values."""
        return self._collect(values[self.sources] * self.triangles[:, None])

    def _collect(self, sent: jax.Array) -> jax.Array:
        nodes = self.features.shape[0]
        return jax.ops.segment_sum(sent, self.ends, nodes, indices_are_sorted=True)


def sparse_graph(graph: Any, features: Any) -> SparseGraph:
    """The arcs of a graph.

    Args:
        graph: A `graphs.Graph`, networkx graph or sparse matrix.
        features: (nodes, columns) numbers.

    Returns:
        The input of a graph model.

    Example:
        >>> import networkx as nx
        >>> path = sparse_graph(nx.path_graph(3), np.array([[1.0], [2.0], [4.0]]))
        >>> path.neighbour_sum(path.features).ravel().tolist()
        [2.0, 5.0, 2.0]
    """
    step = as_graph(graph).adjacency
    ends = np.repeat(np.arange(step.shape[0]), np.diff(step.indptr))
    weights = triangle(graph)
    counts = np.asarray(weights[ends, step.indices]).ravel()
    return SparseGraph(
        jnp.asarray(features, float),
        jnp.asarray(step.indices, jnp.int32),
        jnp.asarray(ends, jnp.int32),
        jnp.asarray(counts, float),
    )
