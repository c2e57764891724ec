"""Convolutional networks with pooling: wide residual networks and the Myrtle network.

zhu2024 ch. 4 trains "standard" ones. Ours have no batch norm, whose statistics tie samples
together so that a tangent kernel has no rows; where a block normalises, nothing is in its place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from dynascope.core.errors import bad
from dynascope.models.affine_layers import Layer, Parameterization, draw_layer, scaled_product
from dynascope.models.base import Model, Network
from dynascope.models.convolution import patches

STAGES = 3  # of a wide residual network, each with twice the channels on half the side
MYRTLE_POOLS = (False, True, True, True)  # after which of the four convolutions is pooled


def convolve(h: jax.Array, layer: Layer, window: int, scaling: Parameterization) -> jax.Array:
    """A convolution of stride 1 with zero padding, (..., height, width, channels)."""
    weight = layer["weight"]
    seen = patches(h, window, 2) if window > 1 else h
    z = scaled_product(seen, weight.reshape(weight.shape[0], -1), scaling)
    return z + layer["bias"] if "bias" in layer else z


def pool(h: jax.Array) -> jax.Array:
    """The mean of every two by two pixels."""
    *lead, height, width, channels = h.shape
    blocks = h.reshape(*lead, height // 2, 2, width // 2, 2, channels)
    return blocks.mean(axis=(-4, -2))


@dataclass(frozen=True)
class _Pictures(Model):
    """What both have in common: pictures as rows, channels last, and how layers start."""

    shape: tuple[int, int, int] = (32, 32, 3)
    init_scale: float = 1.0
    parameterization: Parameterization = "ntk"
    bias: bool | None = None

    def _check_sides(self, halvings: int) -> None:
        if min(self.shape) < 1 or any(side % 2**halvings for side in self.shape[:2]):
            raise bad("shape", self.shape, f"sides that can be halved {halvings} times")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")

    @property
    def has_bias(self) -> bool:
        """Whether layers have offsets: None is yes for "pytorch", no for "ntk", as in `MLP`."""
        return self.parameterization == "pytorch" if self.bias is None else self.bias

    def _network(self, shapes: list[tuple[int, ...]], apply: Callable, size: int) -> Network:
        if math.prod(self.shape) != size:
            raise bad("shape", self.shape, f"{size} numbers, as the task has")

        def init(key: jax.Array) -> list[Layer]:
            return [
                draw_layer(jax.random.fold_in(key, i), math.prod(s[1:]), s, self.init_scale,
                           self.parameterization, self.has_bias)
                for i, s in enumerate(shapes)
            ]  # fmt: skip

        def whole(params: Any, x: jax.Array) -> jax.Array:
            return apply(params, x.reshape(*x.shape[:-1], *self.shape))

        return Network(init, whole)

    def _read(self, h: jax.Array, last: Layer) -> jax.Array:
        """The affine map of the last layer, of rows."""
        out = scaled_product(h, last["weight"], self.parameterization)
        return out + last["bias"] if self.has_bias else out


@dataclass(frozen=True)
class WideResNet(_Pictures):
    """A wide residual network of pre-activation blocks, without batch norm.

    WRN depth-widen: (depth - 4) / 6 blocks in each of three stages of 16, 32 and 64 times `widen`
    channels. A block is two 3x3 convolutions, each after a ReLU, added to its input (through a
    1x1 convolution where the channels change); the sum is divided by sqrt(2), so that signals
    keep their size without normalisation. The side is halved by means of pixels before the
    second and third stage; at the end pixels are averaged and read by one affine map.

    Args:
        shape: (height, width, channels) of the pictures.
        init_scale: Factor on the start.
        parameterization: As in `MLP`.
        bias: As in `MLP`.
        depth: 10 for WRN 10-10, 16 for WRN 16-2.
        widen: The factor on the channels.
        channels: Of the first layer, 16 in the standard one.

    Example:
        >>> network = WideResNet((8, 8, 3), depth=10, widen=1, channels=4).build(192, 1)
        >>> params = jax.eval_shape(network.init, jax.random.key(0))  # nothing is computed
        >>> len(params)  # 1 + 3 x 2 + 2 + 1
        10
        >>> jax.eval_shape(network.apply, params, jax.numpy.zeros((5, 192))).shape
        (5, 1)
    """

    depth: int = 10
    widen: int = 10
    channels: int = 16

    def check(self) -> None:
        """Raise for depths that are no such network."""
        if self.depth < 10 or (self.depth - 4) % 6:
            raise bad("depth", self.depth, "6 k + 4 for some k of at least 1, such as 10 or 16")
        if self.widen < 1 or self.channels < 1:
            raise bad("widen", self.widen, "a whole number of at least 1, as channels")
        self._check_sides(STAGES - 1)

    def _stages(self) -> list[int]:
        return [self.channels * self.widen * 2**stage for stage in range(STAGES)]

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        blocks = (self.depth - 4) // 6
        shapes: list[tuple[int, ...]] = [(self.channels, 3, 3, self.shape[-1])]
        before = self.channels
        for width in self._stages():
            for _ in range(blocks):
                shapes += [(width, 3, 3, before), (width, 3, 3, width)]
                shapes += [(width, 1, 1, before)] if before != width else []
                before = width
        shapes.append((output_size, before))

        def apply(params: list[Layer], x: jax.Array) -> jax.Array:
            left = iter(params)
            h = convolve(x, next(left), 3, self.parameterization)
            for stage, width in enumerate(self._stages()):
                h = pool(h) if stage else h
                for _ in range(blocks):
                    h = self._block(h, left, width)
            h = jax.nn.relu(h).mean(axis=(-3, -2))
            return self._read(h, next(left))

        return self._network(shapes, apply, input_size)

    def _block(self, h: jax.Array, left: Any, width: int) -> jax.Array:
        first, second = next(left), next(left)
        inner = convolve(jax.nn.relu(h), first, 3, self.parameterization)
        inner = convolve(jax.nn.relu(inner), second, 3, self.parameterization)
        if h.shape[-1] != width:
            h = convolve(h, next(left), 1, self.parameterization)
        return (h + inner) / 2**0.5


@dataclass(frozen=True)
class Myrtle(_Pictures):
    """The five-layer Myrtle network: four 3x3 convolutions with means of pixels, one affine map.

    Pixels are averaged two by two after the second, third and fourth convolution, then over
    the picture. No batch norm.

    Args:
        shape: (height, width, channels) of the pictures.
        init_scale: Factor on the start.
        parameterization: As in `MLP`.
        bias: As in `MLP`.
        channels: Of the first convolution; the others have 2, 4 and 8 times as many.

    Example:
        >>> network = Myrtle((8, 8, 1), channels=2).build(64, 10)
        >>> [layer["weight"].shape[0] for layer in network.init(jax.random.key(0))]
        [2, 4, 8, 16, 10]
    """

    channels: int = 64

    def check(self) -> None:
        """Raise for pictures that cannot be halved three times."""
        if self.channels < 1:
            raise bad("channels", self.channels, "a whole number of at least 1")
        self._check_sides(sum(MYRTLE_POOLS))

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        counts = [self.shape[-1], *(self.channels * 2**i for i in range(len(MYRTLE_POOLS)))]
        shapes = [(b, 3, 3, a) for a, b in itertools.pairwise(counts)]

        def apply(params: list[Layer], h: jax.Array) -> jax.Array:
            for layer, pooled in zip(params[:-1], MYRTLE_POOLS, strict=True):
                h = jax.nn.relu(convolve(h, layer, 3, self.parameterization))
                h = pool(h) if pooled else h
            return self._read(h.mean(axis=(-3, -2)), params[-1])

        return self._network([*shapes, (output_size, counts[-1])], apply, input_size)
