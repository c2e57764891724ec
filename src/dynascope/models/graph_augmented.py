"""Graph-augmented MLPs: features propagated through fixed operators, then an MLP at each node.

GNN-D2: nothing between graph and MLP is learned. `sgc`, `gfn` and `sign` are the named members
of the family (chen2025, A.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.mlp import MLP
from dynascope.models.propagation import OPERATORS, powers, standardise
from dynascope.numerics.draws import uniform
from dynascope.tasks.graph_input import GraphInput

Operator = Literal["adjacency", "normalized", "self_loop", "triangle", "bethe", "ppr", "degree"]


@dataclass(frozen=True)
class GraphAugmentedMLP(Model):
    """The features and their propagations side by side, through an MLP at each node.

    Args:
        operators: Each is applied once, twice, ... up to its own number of times in `powers`.
        powers: The largest power of each operator.
        identity: Whether the features themselves are seen too.
        last_only: Keep only the largest power of each operator (SGC).
        separate: Each propagation has its own first layer (SIGN); needs depth 2.
        depth: Affine maps of the MLP.
        width: Its hidden layers.
        normalise: "columns" standardises what the MLP sees over the nodes of the graph;
            "steps" does so after every application, and goes on from there.

    Example:
        >>> GraphAugmentedMLP(("adjacency",), (4,)).columns(2)
        10
    """

    reads: ClassVar[Literal["vectors", "graphs"]] = "graphs"

    operators: tuple[Operator, ...] = ("adjacency",)
    powers: tuple[int, ...] = (2,)
    identity: bool = True
    last_only: bool = False
    separate: bool = False
    depth: int = 2
    width: int = 32
    normalise: Literal["none", "columns", "steps"] = "columns"

    def check(self) -> None:
        """Raise for powers without operators and sizes below one."""
        if len(self.operators) != len(self.powers) or not self.operators:
            raise bad("powers", self.powers, f"one for each of {len(self.operators)} operators")
        if min(self.powers) < 1:
            raise bad("powers", self.powers, "whole numbers of at least 1")
        if self.separate and self.depth != 2:
            raise bad("depth", self.depth, "2 where propagations have first layers of their own")

    @property
    def blocks(self) -> int:
        """How many propagations the MLP sees."""
        kept = len(self.powers) if self.last_only else sum(self.powers)
        return self.identity + kept

    def columns(self, input_size: int) -> int:
        """How many numbers the MLP sees at each node."""
        return self.blocks * input_size

    def propagate(self, graph: GraphInput) -> jax.Array:
        """(blocks, nodes, columns): the fixed part, without parameters."""
        found = [graph.features[None]] if self.identity else []
        for name, count in zip(self.operators, self.powers, strict=True):
            operator = OPERATORS[name](graph)
            each = powers(operator, graph.features, count, self.normalise == "steps")
            found.append(each[-1:] if self.last_only else each)
        stacked = jnp.concatenate(found)
        return jax.vmap(standardise)(stacked) if self.normalise == "columns" else stacked

    def build(self, input_size: int, output_size: int) -> Network:
        """The MLP on propagated features."""
        if self.separate:
            return self._build_separate(input_size, output_size)
        head = MLP(self.depth, self.width).build(self.columns(input_size), output_size)

        def apply(params: Any, graph: Any) -> jax.Array:
            blocks = self.propagate(graph)
            nodes = blocks.shape[1]
            return head.apply(params, jnp.moveaxis(blocks, 0, 1).reshape(nodes, -1))

        return Network(head.init, apply)

    def _build_separate(self, input_size: int, output_size: int) -> Network:
        head = MLP(1).build(self.blocks * self.width, output_size)

        def init(key: jax.Array) -> dict[str, Any]:
            bound = 1.0 / input_size**0.5
            shape = (self.blocks, input_size, self.width)
            own = bound * uniform(jax.random.fold_in(key, 0), shape, -1.0)
            return {"own": own, "head": head.init(jax.random.fold_in(key, 1))}

        def apply(params: dict[str, Any], graph: Any) -> jax.Array:
            hidden = jnp.einsum("bnc,bcw->nbw", self.propagate(graph), params["own"])
            return head.apply(params["head"], jax.nn.relu(hidden.reshape(hidden.shape[0], -1)))

        return Network(init, apply)


def sgc(power: int) -> GraphAugmentedMLP:
    """Simple graph convolution: one affine map of the features after `power` smoothings."""
    return GraphAugmentedMLP(
        ("self_loop",), (power,), identity=False, last_only=True, depth=1, normalise="none"
    )


def gfn(power: int, width: int = 32) -> GraphAugmentedMLP:
    """Graph feature network: the features, times degrees, and smoothed 1..power times."""
    return GraphAugmentedMLP(("degree", "self_loop"), (1, power), width=width)


def sign(adjacency: int = 2, ppr: int = 1, triangle: int = 1, width: int = 32) -> GraphAugmentedMLP:
    """SIGN: powers of three operators, each propagation with a first layer of its own."""
    return GraphAugmentedMLP(
        ("normalized", "ppr", "triangle"), (adjacency, ppr, triangle), separate=True, width=width
    )
