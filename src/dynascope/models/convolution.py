"""Convolutional networks over a line or an image, in PyTorch's or the tangent kernel's scaling."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.activations import ACTIVATIONS, Activation
from dynascope.models.affine_layers import Layer, Parameterization, draw_layer, scaled_product
from dynascope.models.base import Model, Network


@dataclass(frozen=True)
class CNN(Model):
    """`depth` - 1 convolutions of stride 1 with zero padding, then one affine map of everything.

    Inputs are vectors, read as an array of `shape` with the channels last (row-major). In the
    scaling "ntk" a convolution is over sqrt(channels x window size) and the last map over
    sqrt(its inputs), zhu2024 (A.15) and (C.6) with the printed index limits put right.

    Args:
        depth: Number of weight arrays.
        channels: Channels of every hidden layer; the width of zhu2024 A.5.
        window: Side of the window.
        shape: (length, channels) or (height, width, channels) of the input; None is a line
            with one channel.
        activation: What stands between the layers.
        bias: Whether layers have offsets; None is yes for "pytorch", no for "ntk".
        init_scale: Factor on the start.
        parameterization: As in `MLP`.

    Example:
        >>> network = CNN(depth=3, channels=4, shape=(8, 8, 2)).build(128, 1)
        >>> [layer["weight"].shape for layer in network.init(jax.random.key(0))]
        [(4, 3, 3, 2), (4, 3, 3, 4), (1, 256)]
    """

    depth: int = 2
    channels: int = 16
    window: int = 3
    shape: tuple[int, ...] | None = None
    activation: Activation = "relu"
    bias: bool | None = None
    init_scale: float = 1.0
    parameterization: Parameterization = "pytorch"

    def check(self) -> None:
        """Raise for sizes below one and for shapes that are no line or image."""
        for name in ("depth", "channels", "window"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        if self.shape is not None and (len(self.shape) not in (2, 3) or min(self.shape) < 1):
            raise bad("shape", self.shape, "(length, channels) or (height, width, channels)")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    @property
    def has_bias(self) -> bool:
        """Whether layers have offsets."""
        return self.parameterization == "pytorch" if self.bias is None else self.bias

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        *sides, first = (input_size, 1) if self.shape is None else self.shape
        if math.prod((*sides, first)) != input_size:
            raise bad("shape", self.shape, f"{input_size} numbers, as the task has")
        counts = [first, *[self.channels] * (self.depth - 1)]
        windows = [(b, *[self.window] * len(sides), a) for a, b in itertools.pairwise(counts)]
        shapes = [*windows, (output_size, math.prod(sides) * counts[-1])]
        act = ACTIVATIONS[self.activation]

        def init(key: jax.Array) -> list[Layer]:
            return [
                draw_layer(jax.random.fold_in(key, i), math.prod(shape[1:]), shape,
                           self.init_scale, self.parameterization, self.has_bias)
                for i, shape in enumerate(shapes)
            ]  # fmt: skip

        def apply(params: list[Layer], x: jax.Array) -> jax.Array:
            h = x.reshape(*x.shape[:-1], *sides, first)
            for layer in params[:-1]:
                rows = layer["weight"].reshape(layer["weight"].shape[0], -1)
                z = scaled_product(patches(h, self.window, len(sides)), rows, self.parameterization)
                h = act(z + layer["bias"] if self.has_bias else z)
            last = params[-1]
            flat = h.reshape(*x.shape[:-1], -1)
            out = scaled_product(flat, last["weight"], self.parameterization)
            return out + last["bias"] if self.has_bias else out

        return Network(init, apply)


def patches(h: jax.Array, window: int, axes: int) -> jax.Array:
    """What the window sees at every place: (..., places, channels) to (..., places, s^axes c).

    The window of place i covers i - ceil((s - 1) / 2) to i + floor((s - 1) / 2). Shifted copies
    and one matrix product are faster in float64 on a CPU than XLA's own convolution.

    Example:
        >>> patches(jnp.array([[1.0], [2.0], [3.0]]), 3, 1).tolist()
        [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 0.0]]
    """
    before = math.ceil((window - 1) / 2)
    lead = h.ndim - 1 - axes
    ends = [(0, 0)] * lead + [(before, window - 1 - before)] * axes + [(0, 0)]
    padded = jnp.pad(h, ends)
    shifted = []
    for offsets in itertools.product(range(window), repeat=axes):
        here = padded
        for axis, offset in enumerate(offsets, lead):
            here = jax.lax.slice_in_dim(here, offset, offset + h.shape[axis], axis=axis)
        shifted.append(here)
    return jnp.concatenate(shifted, axis=-1)
