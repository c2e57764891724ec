"""The parts of the denoisers: affine maps, norms, residual blocks, attention over places.

Each is an Equinox module; `entries` gives it with the law of every array in the array's place,
and `drawing.drawn` draws them all at once. Pictures are (count, side, side, channels).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from dynascope.models.denoisers.picture_convolution import convolved
from dynascope.models.transformer.drawing import Entry

EPSILON = 1e-5


class Affine(eqx.Module):
    """x W + b over the last axis."""

    weight: Any
    bias: Any

    @staticmethod
    def entries(inputs: int, outputs: int, *, zero: bool = False) -> Affine:
        """PyTorch's start, or zero."""
        factor = 0.0 if zero else inputs**-0.5
        return Affine(
            Entry((inputs, outputs), "uniform", factor), Entry((outputs,), "uniform", factor)
        )

    def __call__(self, x: jax.Array) -> jax.Array:
        """The map on the last axis."""
        return x @ self.weight + self.bias


class Conditioning(eqx.Module):
    """A two-layer map from what the network is told to one number a channel."""

    first: Affine
    second: Affine

    @staticmethod
    def entries(given: int, channels: int) -> Conditioning:
        """Hidden layer as wide as the result."""
        return Conditioning(Affine.entries(given, channels), Affine.entries(channels, channels))

    def __call__(self, told: jax.Array) -> jax.Array:
        """(count, given) to (count, channels)."""
        return self.second(jax.nn.gelu(self.first(told)))


class Convolution(eqx.Module):
    """A window of three by three with zero padding."""

    weight: Any
    bias: Any

    @staticmethod
    def entries(inputs: int, outputs: int, *, zero: bool = False) -> Convolution:
        """PyTorch's start, or zero."""
        factor = 0.0 if zero else (9 * inputs) ** -0.5
        return Convolution(
            Entry((3, 3, inputs, outputs), "uniform", factor),
            Entry((outputs,), "uniform", factor),
        )

    def __call__(self, x: jax.Array) -> jax.Array:
        """Pictures to pictures of the same side."""
        return convolved(x, self.weight) + self.bias


class GroupNorm(eqx.Module):
    """Each group of a picture's channels brought to mean 0 and deviation 1 over all places.

    One group is layer norm over the whole picture. Mean and mean square are taken in one pass,
    which is several times faster on a CPU than the deviations from the mean.
    """

    scale: Any
    offset: Any
    groups: int = eqx.field(static=True)

    @staticmethod
    def entries(channels: int, groups: int) -> GroupNorm:
        """Scale 1 and offset 0."""
        one, zero = (Entry((channels,), "constant", value) for value in (1.0, 0.0))
        return GroupNorm(one, zero, groups)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Pictures to pictures."""
        count, side, _, channels = x.shape
        share = channels // self.groups
        places = side * side * share
        sums = lambda a: a.sum((1, 2)).reshape(count, self.groups, share).sum(-1)  # noqa: E731
        mean = sums(x) / places  # (count, groups)
        variance = jnp.maximum(sums(x * x) / places - mean**2, 0)
        spread = lambda a: jnp.repeat(a, share, axis=1)  # noqa: E731  to (count, channels)
        factor = spread(jax.lax.rsqrt(variance + EPSILON)) * self.scale
        shift = self.offset - spread(mean) * factor
        return x * factor[:, None, None] + shift[:, None, None]


class ResidualBlock(eqx.Module):
    """x + conv(gelu(norm(conv(gelu(norm(x)))))), through an affine map where channels change."""

    norms: list[GroupNorm]
    convolutions: list[Convolution]
    skip: Affine | None

    @staticmethod
    def entries(inputs: int, outputs: int, groups: int) -> ResidualBlock:
        """Two convolutions."""
        return ResidualBlock(
            [GroupNorm.entries(inputs, groups), GroupNorm.entries(outputs, groups)],
            [Convolution.entries(inputs, outputs), Convolution.entries(outputs, outputs)],
            None if inputs == outputs else Affine.entries(inputs, outputs),
        )

    def __call__(self, x: jax.Array) -> jax.Array:
        """Pictures to pictures of the same side."""
        h = x
        for norm, convolution in zip(self.norms, self.convolutions, strict=True):
            h = convolution(jax.nn.gelu(norm(h)))
        return h + (x if self.skip is None else self.skip(x))


class PlaceAttention(eqx.Module):
    """x + attention of every place to all places, one head."""

    norm: GroupNorm
    maps: Affine  # to queries, keys and values
    output: Affine

    @staticmethod
    def entries(channels: int, groups: int) -> PlaceAttention:
        """Head as wide as the channels."""
        return PlaceAttention(
            GroupNorm.entries(channels, groups), Affine.entries(channels, 3 * channels),
            Affine.entries(channels, channels),
        )  # fmt: skip

    def __call__(self, x: jax.Array) -> jax.Array:
        """Pictures to pictures."""
        count, side, _, channels = x.shape
        flat = self.maps(self.norm(x)).reshape(count, side * side, 3 * channels)
        query, key, value = jnp.split(flat, 3, axis=-1)
        scores = jnp.einsum("nic,njc->nij", query, key) * channels**-0.5
        read = jnp.einsum("nij,njc->nic", jax.nn.softmax(scores, axis=-1), value)
        return x + self.output(read).reshape(x.shape)


def halved(x: jax.Array) -> jax.Array:
    """Squares of two by two places put into channels: (n, s, s, c) to (n, s/2, s/2, 4 c).

    With an affine map after it, it is a convolution of window 2 and stride 2.

    Example:
        >>> halved(jnp.arange(4.0).reshape(1, 2, 2, 1)).tolist()
        [[[[0.0, 1.0, 2.0, 3.0]]]]
    """
    n, side, _, c = x.shape
    x = x.reshape(n, side // 2, 2, side // 2, 2, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(n, side // 2, side // 2, 4 * c)


def doubled(x: jax.Array) -> jax.Array:
    """Every place repeated twice along both sides.

    Example:
        >>> doubled(jnp.ones((1, 2, 2, 3))).shape
        (1, 4, 4, 3)
    """
    n, side, _, c = x.shape
    wide = jnp.broadcast_to(x[:, :, None, :, None], (n, side, 2, side, 2, c))
    return wide.reshape(n, 2 * side, 2 * side, c)
