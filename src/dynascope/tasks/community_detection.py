"""Two communities in sparse random graphs, a fresh graph every step (GNN-F2.4, TA.2).

A sample is the seed of a graph; the graph is drawn inside the compiled loop, so that thousands
of them cost no memory. Communities have no names: both namings are tried, and the better one
counts, in the loss and in the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.tasks.base import Predict, Task
from dynascope.tasks.graph_input import DenseGraph


@dataclass(frozen=True)
class CommunityDetection(Task):
    """Find two communities of equal size; edges have probability p/n inside and q/n across.

    Every node's input is 1. Use a batch size of one graph.

    Args:
        degrees: (p, q), the parts inside and across of the expected degree, times two.
        nodes: n, even.
        training_graphs: How many graphs there are to train on.
        test_graphs: How many graphs the score is measured on.

    Example:
        >>> task = CommunityDetection(nodes=10, degrees=(10.0, 0.0))
        >>> task.graph_of(jnp.asarray(0, jnp.uint32)).adjacency.sum(axis=1).tolist()[:3]
        [4.0, 4.0, 4.0]
    """

    offers: ClassVar[str | None] = "graphs"

    degrees: tuple[float, float] = (5.0, 1.0)
    nodes: int = 250
    training_graphs: int = 6000
    test_graphs: int = 200

    def check(self) -> None:
        """Raise for settings that describe no graphs."""
        if self.nodes < 2 or self.nodes % 2:
            raise bad("nodes", self.nodes, "an even number of at least 2")
        for name in ("training_graphs", "test_graphs"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if not 0 <= min(self.degrees) <= max(self.degrees) <= self.nodes:
            raise bad("degrees", self.degrees, f"two numbers from 0 to {self.nodes}")

    @property
    def input_size(self) -> int:
        """Nodes carry nothing but a 1."""
        return 1

    @property
    def output_size(self) -> int:
        """A score for each community."""
        return 2

    def samples(self, key: jax.Array) -> jax.Array:
        """(training_graphs,) seeds."""
        return jax.random.bits(jax.random.fold_in(key, 0), (self.training_graphs,))

    def context(self, key: jax.Array) -> jax.Array:
        """(test_graphs,) seeds of other graphs."""
        return jax.random.bits(jax.random.fold_in(key, 1), (self.test_graphs,))

    def graph_of(self, seed: jax.Array) -> DenseGraph:
        """The graph of a seed; the first half of its nodes is community 0."""
        half = jnp.arange(self.nodes) < self.nodes // 2
        inside, across = self.degrees
        chance = jnp.where(half[:, None] == half[None, :], inside, across) / self.nodes
        shape = (self.nodes, self.nodes)
        thrown = jax.random.uniform(key_for(seed, "graph"), shape, jnp.float32)
        upper = jnp.triu(thrown < chance.astype(jnp.float32), k=1)
        adjacency = (upper | upper.T).astype(jnp.result_type(float))
        return DenseGraph(jnp.ones((self.nodes, 1)), adjacency)

    def loss(self, predict: Predict, samples: Any) -> jax.Array:
        """Cross-entropy under the better of the two namings, averaged over the graphs."""

        def one(seed: jax.Array) -> jax.Array:
            likely = jax.nn.log_softmax(predict(self.graph_of(seed)))  # type: ignore[arg-type]
            first, second = likely[: self.nodes // 2], likely[self.nodes // 2 :]
            named = [-(jnp.mean(first[:, k]) + jnp.mean(second[:, 1 - k])) / 2 for k in (0, 1)]
            return jnp.minimum(*named)

        return jnp.mean(jax.vmap(one)(samples))

    def overlaps(self, predict: Predict, context: Any) -> jax.Array:
        """(test_graphs,) how far above one half each graph's nodes are told, 0 to 1."""

        def one(seed: jax.Array) -> jax.Array:
            answer = jnp.argmax(predict(self.graph_of(seed)), axis=1)  # type: ignore[arg-type]
            truth = (jnp.arange(self.nodes) >= self.nodes // 2).astype(answer.dtype)
            right = jnp.mean(answer == truth)
            return 2.0 * jnp.maximum(right, 1.0 - right) - 1.0

        return jax.lax.map(one, context)
