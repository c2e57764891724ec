"""Counting attributed walks at every node of one graph (GNN-T2.2).

Nodes are blue (even number) or red (odd). The target of a node is the number of walks of a
given length that start there and meet blue nodes only, the node itself included. Message
passing of that depth can count them exactly; precomputed features cannot (Prop. 2.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.data import graph_file
from dynascope.graphs import Graph, as_graph, load
from dynascope.graphs.walks import count_walks
from dynascope.tasks.base import Predict, Task
from dynascope.tasks.graph_input import SparseGraph, sparse_graph

BLUE = 0


class Labelled(NamedTuple):
    """One graph with a number at every node, and which nodes may be trained on."""

    graph: SparseGraph
    target: jax.Array  # (nodes,) standardised, so that a squared error is a share of variance
    training: jax.Array  # (nodes,) 1 where a node is trained on, else 0


@dataclass(frozen=True)
class WalkCounting(Task):
    """Count blue walks of a length at the nodes of Cora or of a random regular graph.

    All nodes are seen at once; each seed draws which of them are trained on, as many blue as
    red. Errors are mean squared errors over the variance of the counts.

    Args:
        graph: "regular", a random regular graph, or "cora", which needs the data folder.
        length: Steps of a walk.
        training_nodes: How many nodes are trained on; the others are held out.
        nodes: Size of the regular graph.
        degree: Neighbours of every node of the regular graph.
        graph_seed: Which regular graph.

    Example:
        >>> task = WalkCounting(nodes=50, training_nodes=20)
        >>> task.input_size, int(task.counts().max()) > 0
        (2, True)
    """

    offers: ClassVar[str | None] = "graphs"

    graph: Literal["regular", "cora"] = "regular"
    length: int = 3
    training_nodes: int = 300
    nodes: int = 1000
    degree: int = 6
    graph_seed: int = 0

    def check(self) -> None:
        """Raise for sizes that make no graph or leave nothing to hold out."""
        if self.length < 1:
            raise bad("length", self.length, "a whole number of at least 1")
        if self.graph == "regular" and not 0 < self.degree < self.nodes:
            raise bad("degree", self.degree, f"from 1 to {self.nodes - 1}")
        if self.graph == "regular" and self.nodes * self.degree % 2:
            raise bad("nodes", self.nodes, "a number whose product with the degree is even")
        if self.training_nodes < 2 or self.training_nodes % 2:
            raise bad("training_nodes", self.training_nodes, "an even number of at least 2")
        if self.graph == "regular" and self.training_nodes >= self.nodes:
            raise bad("training_nodes", self.training_nodes, f"fewer than {self.nodes} nodes")

    @property
    def input_size(self) -> int:
        """A node is blue or red."""
        return 2

    @property
    def output_size(self) -> int:
        """One number at every node."""
        return 1

    def system(self) -> Graph:
        """The graph."""
        return _graph(self.graph, self.nodes, self.degree, self.graph_seed)

    def colours(self) -> np.ndarray:
        """(nodes,) 0 for blue, 1 for red."""
        return np.arange(self.system().nodes) % 2

    def counts(self) -> np.ndarray:
        """(nodes,) the exact numbers of blue walks."""
        return count_walks(self.system(), self.colours(), [BLUE] * self.length, root=BLUE)

    def samples(self, key: jax.Array) -> Labelled:
        """The graph, its standardised counts, and the seed's training nodes."""
        counts, colours = self.counts().astype(float), self.colours()
        one_hot = np.eye(2)[colours]
        target = (counts - counts.mean()) / counts.std()
        training = jnp.zeros(len(counts))
        for colour in (0, 1):
            own = np.flatnonzero(colours == colour)
            drawn = jax.random.permutation(jax.random.fold_in(key, colour), jnp.asarray(own))
            training = training.at[drawn[: self.training_nodes // 2]].set(1.0)
        return Labelled(sparse_graph(self.system(), one_hot), jnp.asarray(target), training)

    def context(self, key: jax.Array) -> Labelled:
        """The same: held-out nodes are the others of the same graph."""
        return self.samples(key)

    def loss(self, predict: Predict, samples: Labelled) -> jax.Array:
        """Mean squared error over the variance, on the training nodes."""
        return _error(predict, samples, samples.training)

    def held_out_error(self, predict: Predict, context: Labelled) -> jax.Array:
        """The same on the other nodes."""
        return _error(predict, context, 1.0 - context.training)


def _error(predict: Predict, samples: Labelled, weight: jax.Array) -> jax.Array:
    output = predict(samples.graph)[:, 0]  # type: ignore[arg-type]
    return jnp.sum(weight * (output - samples.target) ** 2) / jnp.sum(weight)


@lru_cache(maxsize=8)
def _graph(name: str, nodes: int, degree: int, seed: int) -> Graph:
    if name == "cora":
        return load(graph_file("cora"))
    import networkx as nx  # a third of a second, for this alone

    return as_graph(nx.random_regular_graph(degree, nodes, seed=seed))
