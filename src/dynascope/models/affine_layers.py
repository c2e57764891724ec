"""Many affine layers from one random draw: networks of many parts compile their start quickly."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from dynascope.numerics.draws import uniform

Layer = dict[str, jax.Array]


def draw_layers(key: jax.Array, sizes: Sequence[tuple[int, int]]) -> list[Layer]:
    """Weights (outputs, inputs) and offsets, uniform within 1/sqrt(inputs), PyTorch's default.

    All numbers come from one call of the generator and are cut into layers: XLA takes a third
    of a second to compile each call, whatever its size.

    Args:
        key: The source of randomness.
        sizes: (inputs, outputs) of every layer.

    Returns:
        One dictionary of `weight` and `bias` a layer, as in `MLP`.

    Example:
        >>> first, second = draw_layers(jax.random.key(0), [(2, 3), (3, 1)])
        >>> first["weight"].shape, second["bias"].shape
        ((3, 2), (1,))
    """
    counts = [(inputs + 1) * outputs for inputs, outputs in sizes]
    drawn = uniform(key, (sum(counts),), -1.0)
    ends = np.cumsum(counts).tolist()
    layers = []
    for (inputs, outputs), end, count in zip(sizes, ends, counts, strict=True):
        own = drawn[end - count : end].reshape(outputs, inputs + 1) * (1.0 / inputs**0.5)
        layers.append({"weight": own[:, :inputs], "bias": own[:, inputs]})
    return layers


def affine(layer: Layer, x: jax.Array) -> jax.Array:
    """W x + b for rows x."""
    return x @ layer["weight"].T + layer["bias"]


def two_layers(layers: Sequence[Layer], x: jax.Array) -> jax.Array:
    """Two affine maps with ReLU between them."""
    return affine(layers[1], jax.nn.relu(affine(layers[0], x)))
