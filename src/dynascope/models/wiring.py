"""The graph of a feedforward network: vertices in layers, and which of them feed which.

zhu2024 Definitions 2.2.1, 2.2.5 and 2.2.7: a vertex's layer is the length of the longest path to
it from an input, and the width is the smallest in-degree from the second layer on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad

Vertex = int | str
Edge = tuple[Vertex, Vertex]


@dataclass(frozen=True, eq=False)
class Wiring:
    """A directed acyclic graph, ready to be evaluated layer by layer.

    `masks[l - 1]` tells which earlier vertices feed those of layer l: (vertices of layer l,
    all vertices of the layers before, in the order of `layers`).
    """

    layers: tuple[tuple[Vertex, ...], ...]
    masks: tuple[np.ndarray, ...]

    @property
    def inputs(self) -> tuple[Vertex, ...]:
        """Vertices that nothing feeds, in the order in which they came."""
        return self.layers[0]

    @property
    def outputs(self) -> tuple[Vertex, ...]:
        """Vertices that are fed and feed nothing; an isolated vertex is an input only."""
        return tuple(v for v, out in zip(self.fed, self.is_output, strict=True) if out)

    @property
    def fed(self) -> tuple[Vertex, ...]:
        """All vertices but the inputs, layer by layer."""
        return tuple(chain.from_iterable(self.layers[1:]))

    @property
    def is_output(self) -> np.ndarray:
        """Whether each of the fed vertices feeds nothing."""
        feeds = np.zeros(sum(map(len, self.layers)), bool)
        for mask in self.masks:
            feeds[: mask.shape[1]] |= mask.any(axis=0)
        return ~feeds[len(self.layers[0]) :]

    @property
    def width(self) -> float:
        """Smallest in-degree from the second layer on; infinite for a single layer."""
        return min((int(mask.sum(axis=1).min()) for mask in self.masks[1:]), default=math.inf)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge as (from, to), by the vertex that is fed."""
        names = list(chain.from_iterable(self.layers))
        found = []
        for layer, mask in zip(self.layers[1:], self.masks, strict=True):
            found += [(names[j], layer[i]) for i, j in np.argwhere(mask)]
        return tuple(found)


def wire(edges: Any, vertices: Iterable[Vertex] = ()) -> Wiring:
    """Put the vertices of a directed acyclic graph into layers.

    Args:
        edges: Pairs (from, to) of names (whole numbers or text), a networkx DiGraph, or a wiring
            whose layers are to be found anew.
        vertices: Names of vertices, for those that no edge has, or to fix their order;
            vertices are otherwise in the order in which the edges name them.

    Returns:
        The wiring. Cycles, repeated edges and loops are refused.

    Example:
        >>> net = wire([("x", "a"), ("x", "b"), ("a", "b"), ("b", "y"), ("a", "y")])
        >>> net.layers, net.width
        ((('x',), ('a',), ('b',), ('y',)), 2)
    """
    pairs, names = normalize(edges, vertices)
    _check_edges(pairs)
    feeds: dict[Vertex, list[Vertex]] = {v: [] for v in names}
    fed_by: dict[Vertex, list[Vertex]] = {v: [] for v in names}
    for a, b in pairs:
        feeds[a].append(b)
        fed_by[b].append(a)
    depth = _depths(names, feeds, fed_by)
    layers = tuple(
        tuple(v for v in names if depth[v] == level) for level in range(max(depth.values()) + 1)
    )
    return Wiring(layers, _masks(layers, fed_by))


def normalize(
    edges: Any, vertices: Iterable[Vertex] = ()
) -> tuple[tuple[Edge, ...], tuple[Vertex, ...]]:
    """Edges as pairs of names, and all names in order; from pairs, a graph or a wiring."""
    if isinstance(edges, Wiring):
        vertices, edges = (*vertices, *chain.from_iterable(edges.layers)), edges.edges
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):
        if not edges.is_directed() or edges.is_multigraph():
            raise bad("edges", type(edges).__name__, "a networkx DiGraph")
        vertices, edges = (*vertices, *edges.nodes), edges.edges
    if isinstance(edges, str) or not hasattr(edges, "__iter__"):
        raise bad("edges", edges, "pairs (from, to) or a networkx DiGraph")
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise bad("edges", edge, "pairs (from, to)")
        pairs.append((_name(edge[0]), _name(edge[1])))
    names = dict.fromkeys([*map(_name, vertices), *chain.from_iterable(pairs)])
    if not pairs:
        raise bad("edges", pairs, "at least one edge")
    return tuple(pairs), tuple(names)


def _name(vertex: Any) -> Vertex:
    return int(vertex) if isinstance(vertex, int | np.integer) else str(vertex)


def _check_edges(pairs: Sequence[Edge]) -> None:
    seen: set[Edge] = set()
    for pair in pairs:
        if pair[0] == pair[1]:
            raise BadInput(f"edges: a cycle {pair[0]} -> {pair[0]}; a network has no loops")
        if pair in seen:
            raise bad("edges", f"{pair[0]} -> {pair[1]} twice", "every edge once")
        seen.add(pair)


def _depths(
    names: Sequence[Vertex], feeds: dict[Vertex, list], fed_by: dict[Vertex, list]
) -> dict[Vertex, int]:
    """The longest path to every vertex (Def. 2.2.1), by peeling off vertices without inputs."""
    waiting = {v: len(fed_by[v]) for v in names}
    ready = [v for v in names if not waiting[v]]
    depth = dict.fromkeys(ready, 0)
    while ready:
        vertex = ready.pop()
        for target in feeds[vertex]:
            depth[target] = max(depth.get(target, 0), depth[vertex] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    left = [v for v in names if waiting[v]]
    if left:
        raise BadInput(f"edges: a cycle {_cycle(left, fed_by)}; a network has none")
    return depth


def _cycle(left: list[Vertex], fed_by: dict[Vertex, list]) -> str:
    """A cycle among vertices that could not be peeled off: each is fed by another of them."""
    inside, path = set(left), [left[0]]
    while path[-1] not in path[:-1]:
        path.append(next(v for v in fed_by[path[-1]] if v in inside))
    loop = path[path.index(path[-1]) :][::-1]
    return " -> ".join(map(str, loop))


def _masks(
    layers: Sequence[Sequence[Vertex]], fed_by: dict[Vertex, list]
) -> tuple[np.ndarray, ...]:
    place = {v: i for i, v in enumerate(chain.from_iterable(layers))}
    masks, before = [], len(layers[0])
    for layer in layers[1:]:
        mask = np.zeros((len(layer), before), bool)
        for row, vertex in zip(mask, layer, strict=True):
            row[[place[u] for u in fed_by[vertex]]] = True
        masks.append(mask)
        before += len(layer)
    return tuple(masks)
