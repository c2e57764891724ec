"""Networks on any directed acyclic graph, zhu2024 Definition 2.2.2, evaluated layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad, unknown
from dynascope.core.spec import static_field
from dynascope.models.activations import ACTIVATIONS, Activation
from dynascope.models.base import Model, Network
from dynascope.models.wiring import Edge, Vertex, Wiring, normalize, wire
from dynascope.models.wiring_families import fully_connected
from dynascope.numerics.draws import normal

_EXAMPLE = fully_connected((3, 4, 3)).edges


@dataclass(frozen=True)
class Dag(Model):
    """f_v = activation(in(v)^-1/2 sum of w_uv f_u), one weight per edge, all N(0, 1) at first.

    Inputs and outputs of the task are the vertices without incoming and without outgoing
    edges, layer by layer and there as the edges name them (`wiring.inputs`, `wiring.outputs`).
    The parameters are one matrix per layer, (its vertices, the vertices it reads); entries
    without an edge are zero and stay zero.

    Args:
        edges: Pairs (from, to) of names, a networkx DiGraph, or a `Wiring`.
        vertices: Further vertices, or an order of them; taken from a networkx graph.
        skips: Pairs (from, to): the value of `from` is added to that of the hidden vertex
            `to`, with no weight, zhu2024 (A.12); `from` must be in an earlier layer.
        activation: That of hidden vertices.
        output_activation: That of output vertices; anything but "linear" undoes the
            transition to linearity.
        init_scale: Standard deviation of the start.

    Example:
        >>> model = Dag([("x", "a"), ("x", "b"), ("a", "b"), ("b", "y"), ("a", "y")])
        >>> model.wiring.layers, model.wiring.width
        ((('x',), ('a',), ('b',), ('y',)), 2)
    """

    edges: Any = static_field(_EXAMPLE)
    vertices: tuple[int | str, ...] = ()
    skips: tuple[tuple[int | str, int | str], ...] = ()
    activation: Activation = "tanh"
    output_activation: Activation = "linear"
    init_scale: float = 1.0

    def check(self) -> None:
        """Raise for cycles, repeated edges, and skips that lead nowhere."""
        edges, vertices = normalize(self.edges, self.vertices)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "vertices", vertices)
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")
        _check_skips(self.skips, self.wiring)

    @cached_property
    def wiring(self) -> Wiring:
        """The vertices in layers."""
        return wire(self.edges, self.vertices)

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; the graph must have the task's numbers of inputs and outputs."""
        net = self.wiring
        for name, given, task in (
            ("inputs", net.inputs, input_size),
            ("outputs", net.outputs, output_size),
        ):
            if len(given) != task:
                raise bad(f"{name} of the graph", len(given), f"{task}, as the task has")
        layers = layer_plans(net, self.skips)
        activations = ACTIVATIONS[self.activation], ACTIVATIONS[self.output_activation]

        def init(key: jax.Array) -> list[jax.Array]:
            return [self.init_scale * w for w in draw_weights(key, [p.mask for p in layers])]

        def apply(params: Sequence[jax.Array], x: jax.Array) -> jax.Array:
            return evaluate(layers, params, x, *activations)

        return Network(init, apply)


class LayerPlan(NamedTuple):
    """How one layer is computed.

    `reads` are places among the earlier vertices, or None for all of them; `skip` adds
    earlier values, or is None; `is_output` tells the activation.
    """

    mask: Any  # (vertices, reads) 0 or 1
    reads: np.ndarray | None
    skip: Any  # (vertices, earlier) 0 or 1, or None
    is_output: np.ndarray  # (vertices,)


def layer_plans(net: Wiring, skips: Sequence[Edge] = ()) -> list[LayerPlan]:
    """What `evaluate` needs of every layer; columns without any edge are left out."""
    place = {v: i for i, v in enumerate(v for layer in net.layers for v in layer)}
    plans, begin = [], 0
    for layer, mask in zip(net.layers[1:], net.masks, strict=True):
        reads = np.flatnonzero(mask.any(axis=0))
        skip = _skip_matrix(layer, mask.shape[1], skips, place)
        outputs = net.is_output[begin : begin + len(layer)]
        plans.append(LayerPlan(mask[:, reads].astype(float), reads, skip, outputs))
        begin += len(layer)
    return plans


def draw_weights(key: jax.Array, masks: Sequence[Any]) -> list[jax.Array]:
    """Standard normal weights where the masks are not zero."""
    keys = jax.random.split(key, len(masks))
    drawn = [normal(k, mask.shape) for k, mask in zip(keys, masks, strict=True)]
    return [w * jnp.asarray(mask, w.dtype) for w, mask in zip(drawn, masks, strict=True)]


def evaluate(
    layers: Sequence[LayerPlan],
    weights: Sequence[jax.Array],
    x: jax.Array,
    activation: Callable,
    output_activation: Callable,
) -> jax.Array:
    """The outputs at x, (..., inputs); every product is over sqrt(in-degree), zhu2024 (2.2)."""
    values, outputs = x, []
    for plan, weight in zip(layers, weights, strict=True):
        mask = jnp.asarray(plan.mask, weight.dtype)
        # A vertex without edges, as in padded layers, is 0 / sqrt(1).
        scale = mask / jnp.sqrt(jnp.maximum(mask.sum(axis=1, keepdims=True), 1.0))
        read = values if plan.reads is None else values[..., plan.reads]
        before = read @ (weight * scale).T
        after = activation(before)
        if plan.skip is not None:
            after = after + values @ jnp.asarray(plan.skip, weight.dtype).T
        if plan.is_output.any():
            after = jnp.where(plan.is_output, output_activation(before), after)
            outputs.append(after[..., plan.is_output])
        values = jnp.concatenate([values, after], axis=-1)
    return jnp.concatenate(outputs, axis=-1)


def _check_skips(skips: Sequence[Edge], net: Wiring) -> None:
    layer = {v: i for i, names in enumerate(net.layers) for v in names}
    hidden = set(net.fed) - set(net.outputs)
    for a, b in skips:
        for vertex in (a, b):
            if vertex not in layer:
                raise unknown("vertex", str(vertex), map(str, layer))
        if b not in hidden or layer[a] >= layer[b]:
            raise bad("skips", (a, b), "a hidden vertex that a vertex of an earlier layer skips to")


def _skip_matrix(
    layer: Sequence[Vertex], earlier: int, skips: Sequence[Edge], place: dict[Vertex, int]
) -> np.ndarray | None:
    found = [(layer.index(b), place[a]) for a, b in skips if b in layer]
    if not found:
        return None
    matrix = np.zeros((len(layer), earlier))
    matrix[tuple(np.transpose(found))] = 1.0
    return matrix
