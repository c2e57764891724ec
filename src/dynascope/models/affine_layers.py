"""Affine layers: how they start and are scaled, one by one or many from one random draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import jax
import numpy as np

from dynascope.numerics.draws import normal, uniform

Layer = dict[str, jax.Array]
Parameterization = Literal["pytorch", "ntk"]


def draw_layer(
    key: jax.Array,
    fan_in: int,
    shape: tuple[int, ...],
    scale: float,
    parameterization: Parameterization,
    bias: bool,
    *,
    signs: bool = False,
) -> Layer:
    """One layer's start; its outputs are the first axis of `shape`.

    Args:
        key: The source of randomness.
        fan_in: Number of inputs that one output sums over.
        shape: Shape of the weights.
        scale: Factor on all numbers.
        parameterization: "pytorch" draws within 1/sqrt(fan_in), "ntk" standard normal numbers.
        bias: Whether to draw offsets too.
        signs: Whether the weights are plus or minus one (times the scale) instead.

    Returns:
        `weight` and perhaps `bias`.
    """
    weight_key, bias_key = jax.random.split(key)
    ntk = parameterization == "ntk"
    factor = scale if ntk else scale * (1.0 / fan_in**0.5)

    def draw(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return factor * (normal(key, shape) if ntk else uniform(key, shape, -1.0))

    if signs:
        weight = factor * jax.numpy.where(uniform(weight_key, shape, -1.0) < 0, -1.0, 1.0)
    else:
        weight = draw(weight_key, shape)
    return {"weight": weight} | ({"bias": draw(bias_key, (shape[0],))} if bias else {})


def scaled_product(
    x: jax.Array, weight: jax.Array, parameterization: Parameterization
) -> jax.Array:
    """W x for one x or for rows, divided by sqrt(inputs) in the scaling of the tangent kernel."""
    # The same numbers; but XLA copies the matrix for a row from the left, forwards and back.
    product = weight @ x if x.ndim == 1 else x @ weight.T
    return product / weight.shape[1] ** 0.5 if parameterization == "ntk" else product


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
