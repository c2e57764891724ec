"""Families of wirings: fully connected, dense, with dropped edges, with narrow places, widened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from dynascope.core.errors import bad
from dynascope.models.wiring import Edge, Vertex, Wiring, wire


def fully_connected(sizes: Sequence[int]) -> Wiring:
    """Every layer reads all of the layer before it, zhu2024 (A.4).

    Args:
        sizes: Vertices of every layer, the inputs first.

    Example:
        >>> net = fully_connected((3, 8, 5, 1))
        >>> net.width, len(net.edges)
        (5, 69)
    """
    return _layered(sizes, reach=1)


def densely_connected(sizes: Sequence[int]) -> Wiring:
    """Every layer reads all layers before it, the inputs too: DenseNet, zhu2024 (A.5), (A.6).

    Example:
        >>> densely_connected((3, 8, 5, 1)).width  # the second layer reads 3 + 8
        11
    """
    return _layered(sizes, reach=len(sizes))


def bypassed(sizes: Sequence[int], layer: int) -> Wiring:
    """Fully connected, and the vertices after a narrow `layer` also read the one before it.

    zhu2024 A.6: wide connections around a narrow layer give its readers a large in-degree again.

    Example:
        >>> bypassed((3, 8, 2, 8, 1), 2).width  # without the bypass it is 2
        8
    """
    net = fully_connected(sizes)
    masks = [mask.copy() for mask in net.masks]
    end = sum(sizes[:layer])
    masks[layer][:, end - sizes[layer - 1] : end] = True
    return Wiring(net.layers, tuple(masks))


def drop_edges(net: Wiring, probability: float, seed: int) -> Wiring:
    """Every edge removed with a probability, once and for all; zhu2024 A.1, Fig. 2.2.

    A vertex that would lose all edges that feed it keeps one of them, and a hidden vertex
    one that reads it, lest they become inputs and outputs. The printed rule keeps with the
    probability with which it should drop; at 1/2 that is the same. Vertices stay in the
    layers they were built in: `wire(net.edges)` moves those that lost their longest path.
    """
    if not 0 <= probability < 1:
        raise bad("probability", probability, "a number from 0 to below 1")
    random = np.random.default_rng(seed)
    chances = [np.where(mask, random.random(mask.shape), -1.0) for mask in net.masks]
    kept = [chance >= probability for chance in chances]
    for chance, mask in zip(chances, kept, strict=True):
        alone = ~mask.any(axis=1)
        mask[alone, chance[alone].argmax(axis=1)] = True
    _keep_readers(net, chances, kept)
    return Wiring(net.layers, tuple(kept))


def _keep_readers(net: Wiring, chances: list[np.ndarray], kept: list[np.ndarray]) -> None:
    """Give every hidden vertex that nobody reads the reader it came closest to."""
    outputs = {*net.outputs}
    for place, vertex in enumerate(chain.from_iterable(net.layers)):
        columns = [i for i, mask in enumerate(kept) if place < mask.shape[1]]
        read = any(kept[i][:, place].any() for i in columns)
        if read or vertex in outputs or vertex in net.inputs:
            continue
        best = max(columns, key=lambda i: chances[i][:, place].max())
        kept[best][chances[best][:, place].argmax(), place] = True


def narrow_vertices(net: Wiring, layer: int, count: int, in_degree: int, seed: int) -> Wiring:
    """The first `count` vertices of a layer keep `in_degree` of their edges; zhu2024 Fig. 2.3."""
    random = np.random.default_rng(seed)
    masks = [mask.copy() for mask in net.masks]
    for row in masks[layer - 1][:count]:
        kept = random.permutation(np.flatnonzero(row))[:in_degree]
        row[:] = False
        row[kept] = True
    return Wiring(net.layers, tuple(masks))


def widen(net: Wiring, factor: int) -> Wiring:
    """Every hidden vertex replaced by copies that are joined to all copies of its neighbours.

    Example:
        >>> net = wire([("x", "a"), ("x", "b"), ("a", "y"), ("b", "y")])
        >>> widen(net, 3).width, len(widen(net, 3).edges)
        (6, 12)
    """
    if factor < 1:
        raise bad("factor", factor, "a whole number of at least 1")
    outer = {*net.inputs, *net.outputs}

    def copies(vertex: Vertex) -> list[Vertex]:
        return [vertex] if vertex in outer else [f"{vertex}#{k}" for k in range(factor)]

    edges: list[Edge] = [(a, b) for u, v in net.edges for a in copies(u) for b in copies(v)]
    order = chain.from_iterable(map(copies, chain.from_iterable(net.layers)))
    return wire(edges, order)


def _layered(sizes: Sequence[int], reach: int) -> Wiring:
    """Layers of given sizes, each reading up to `reach` layers before it."""
    if len(sizes) < 2 or min(sizes) < 1:
        raise bad("sizes", sizes, "at least two layers of at least one vertex")
    starts = np.cumsum([0, *sizes]).tolist()
    layers = tuple(tuple(range(a, a + n)) for a, n in zip(starts, sizes, strict=False))
    masks = []
    for layer in range(1, len(sizes)):
        mask = np.zeros((sizes[layer], starts[layer]), bool)
        mask[:, starts[max(0, layer - reach)] :] = True
        masks.append(mask)
    return Wiring(layers, tuple(masks))
