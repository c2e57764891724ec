"""Networks of many widths and wirings as arrays of one shape, so that they are compiled once.

A narrower network lies in the corner of the arrays of the widest; vertices beyond it have no
edges, hence no parameters that matter. Products are over sqrt(in-degree), as zhu2024 (2.2) has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.models.convolution import CNN
from dynascope.models.wiring import Wiring

WINDOW = 3


class Padded(Protocol):
    """A network as arrays that a compiled function takes as arguments."""

    def draw(self, random: np.random.Generator) -> list[np.ndarray]:
        """Standard normal weights where there are edges, zero elsewhere."""
        ...

    def outputs(self, weights: Sequence[jax.Array], x: jax.Array) -> jax.Array:
        """The measured numbers at every row of x, (rows, numbers)."""
        ...


class Wired(NamedTuple):
    """A wiring; layers are those above the inputs, the last one the output."""

    masks: tuple[Any, ...]  # per layer (vertices, all earlier vertices), 0 or 1
    skips: tuple[Any, ...]  # per layer (vertices,): place of the skipping vertex, or -1
    bend: Any  # 1 for tanh at the output, 0 for none
    watched: tuple[Any, ...]  # per layer (numbers, vertices): whose pre-activations are measured

    def draw(self, random: np.random.Generator) -> list[np.ndarray]:
        """Layer by layer; the numbers do not depend on the padding."""
        return [_normal(random, mask != 0) for mask in self.masks]

    def outputs(self, weights: Sequence[jax.Array], x: jax.Array) -> jax.Array:
        """Layer by layer, tanh between them."""
        values, seen = x, jnp.zeros((len(x), len(self.watched[0])), x.dtype)
        for i, (mask, skip, weight) in enumerate(zip(self.masks, self.skips, weights, strict=True)):
            scale = mask / jnp.sqrt(jnp.maximum(mask.sum(axis=1, keepdims=True), 1.0))
            before = values @ (weight * scale).T
            if i + 1 == len(weights):
                before = (1 - self.bend) * before + self.bend * jnp.tanh(before)
            seen = seen + before @ self.watched[i].T
            added = jnp.where(skip >= 0, values[:, jnp.maximum(skip, 0)], 0.0)
            values = jnp.concatenate([values, jnp.tanh(before) + added], axis=1)
        return seen


class Shared(NamedTuple):
    """A convolutional network on a line, three layers, zhu2024 (A.15)."""

    scales: tuple[Any, ...]  # like the weights: 0 without an edge, else the factor on a weight

    def draw(self, random: np.random.Generator) -> list[np.ndarray]:
        """Layer by layer; the numbers do not depend on the padding."""
        return [_normal(random, scale != 0) for scale in self.scales]

    def outputs(self, weights: Sequence[jax.Array], x: jax.Array) -> jax.Array:
        """The padded network divides by sqrt(padded inputs), which the factors put right."""
        channels = self.scales[0].shape[0]
        model = CNN(len(weights), channels, WINDOW, None, "tanh", parameterization="ntk")
        layers = [{"weight": w * s} for w, s in zip(weights, self.scales, strict=True)]
        return model.build(x.shape[1], 1).apply(layers, x)


def _normal(random: np.random.Generator, edges: np.ndarray) -> np.ndarray:
    """Standard normal numbers where there are edges; drawn by numpy, which compiles nothing."""
    weights = np.zeros(edges.shape)
    weights[edges] = random.normal(size=int(edges.sum()))
    return weights


def pad_channels(channels: int, length: int, padded: int) -> Shared:
    """A network of so many channels among `padded` ones, for inputs of a length."""
    on = (np.arange(padded) < channels).astype(float)
    factor = (padded / channels) ** 0.5
    first = np.broadcast_to(on[:, None, None], (padded, WINDOW, 1))
    middle = factor * np.broadcast_to(on[:, None, None] * on, (padded, WINDOW, padded))
    last = factor * np.tile(on, length)[None]
    return Shared((first, middle, last))


def pad(
    net: Wiring,
    sizes: Sequence[int] | None = None,
    *,
    skips: Sequence[tuple[int, int]] = (),
    bend: float = 0.0,
    watched: Sequence[int] | None = None,
) -> Wired:
    """A wiring in the corner of layers of the given sizes, the inputs first, the output last.

    Args:
        net: The wiring, of at most as many layers; hidden layers are filled from the first on.
        sizes: Vertices of every padded layer; those of the wiring by default.
        skips: Pairs (from, to) of places among all vertices of the wiring, layer by layer: the
            value of the first is added to that of the second, without a weight.
        bend: 1 for tanh on the output.
        watched: Places of the vertices whose pre-activations are measured; by default the
            first of the last layer.
    """
    own = [len(layer) for layer in net.layers]
    sizes = own if sizes is None else sizes
    slots = [*range(len(own) - 1), len(sizes) - 1]  # where each layer of the wiring goes
    begins = [0, *accumulate(sizes)]
    moved = np.concatenate([begins[s] + np.arange(n) for s, n in zip(slots, own, strict=True)])
    masks = [np.zeros((size, begins[i])) for i, size in enumerate(sizes)][1:]
    for slot, count, mask in zip(slots[1:], own[1:], net.masks, strict=True):
        masks[slot - 1][:count, moved[: mask.shape[1]]] = mask
    places = np.full(begins[-1], -1, np.int32)
    for source, target in skips:
        places[moved[target]] = moved[source]
    numbers = [sum(own[:-1])] if watched is None else watched
    chosen = np.zeros((len(numbers), begins[-1]))
    chosen[np.arange(len(numbers)), moved[numbers]] = 1.0
    spans = list(pairwise(begins[1:]))
    by_layer = tuple(places[a:b] for a, b in spans)
    picked = tuple(chosen[:, a:b] for a, b in spans)
    return Wired(tuple(masks), by_layer, np.float64(bend), picked)


def inputs(count: int, rows: int, seed: int, padded: int) -> np.ndarray:
    """Standard normal inputs (rows, padded), zero beyond the first `count`."""
    x = np.zeros((rows, padded))
    x[:, :count] = np.random.default_rng(seed).normal(size=(rows, count))
    return x
