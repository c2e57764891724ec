"""The denoiser of pictures: a conditional U-Net, yang2025 app. G.2.

Down: at every level two residual blocks, then half the side and the condition added. Bottleneck:
block, attention over all places, block. Up: twice the side, what the level had on the way down
beside it, the condition added, two residual blocks. The estimate is the last convolution plus z.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.denoisers.flat import flat_network
from dynascope.models.denoisers.layers import (
    Affine,
    Conditioning,
    Convolution,
    GroupNorm,
    PlaceAttention,
    ResidualBlock,
    doubled,
    halved,
)
from dynascope.models.denoisers.schedule import COORDINATES, Levels, NoiseLevels
from dynascope.tasks.diffusion import Noised

COLOURS = 3


class Down(eqx.Module):
    """One level on the way down."""

    blocks: list[ResidualBlock]
    halving: Affine
    conditioning: Conditioning | None

    def __call__(self, x: jax.Array, told: jax.Array | None) -> tuple[jax.Array, jax.Array]:
        """What goes down, and what is kept for the way up."""
        for block in self.blocks:
            x = block(x)
        down = self.halving(halved(x))
        if self.conditioning is not None and told is not None:
            down = down + self.conditioning(told)[:, None, None]
        return down, x


class Up(eqx.Module):
    """One level on the way up."""

    conditioning: Conditioning
    blocks: list[ResidualBlock]

    def __call__(self, x: jax.Array, kept: jax.Array, told: jax.Array) -> jax.Array:
        """Twice the side."""
        x = x + self.conditioning(told)[:, None, None]
        x = jnp.concatenate([doubled(x), kept], axis=-1)
        for block in self.blocks:
            x = block(x)
        return x


class Bottleneck(eqx.Module):
    """What stands between the ways: block, attention, block."""

    before: ResidualBlock
    attention: PlaceAttention
    after: ResidualBlock

    @staticmethod
    def entries(channels: int, groups: int) -> Bottleneck:
        """All of the same channels."""
        block = ResidualBlock.entries(channels, channels, groups)
        return Bottleneck(block, PlaceAttention.entries(channels, groups), block)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Pictures to pictures of the same side."""
        return self.after(self.attention(self.before(x)))


class Arrays(eqx.Module):
    """The arrays of a `UNet`."""

    levels: Levels
    first: Convolution
    down: list[Down]
    bottleneck: Bottleneck
    up: list[Up]
    norm: GroupNorm
    output: Convolution


@dataclass(frozen=True)
class UNet(Model):
    """A U-Net on square pictures of three colours.

    Args:
        channels: Of the levels, before each halving; the paper has (64, 128, 256).
        blocks: Residual blocks of a level, on either way.
        groups: Of the norms: 1 is layer norm over the picture, as the text says; the authors'
            program has several.
        levels: Where the learned noise schedule starts.

    Example:
        >>> network = UNet((4, 8)).build(3 * 8 * 8 + 4, 3 * 8 * 8)
        >>> params = jax.eval_shape(network.init, jax.random.key(0))  # shapes only: quick
        >>> x = Noised(jnp.ones((2, 192)), jnp.zeros(2), jnp.ones((2, 4)))
        >>> jax.eval_shape(network.apply, params, x).shape
        (2, 192)
    """

    reads: ClassVar[Literal["noised"]] = "noised"

    channels: tuple[int, ...] = (16, 32, 64)
    blocks: int = 2
    groups: int = 1
    levels: NoiseLevels = NoiseLevels()

    def check(self) -> None:
        """Raise for sizes that make no network."""
        if not self.channels or min(self.channels) < 1:
            raise bad("channels", self.channels, "at least one level of at least 1 channel")
        if self.blocks < 1:
            raise bad("blocks", self.blocks, "a whole number of at least 1")
        if self.groups < 1 or any(c % self.groups for c in self.channels):
            raise bad("groups", self.groups, f"a divisor of all of {self.channels}")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; `input_size` counts data and condition."""
        side = checked_side(output_size, len(self.channels))
        entries = self.entries(input_size - output_size + COORDINATES)

        def apply(params: Any, x: Noised) -> jax.Array:
            told = jnp.concatenate([x.condition, self.levels.coordinates(x.gamma)], axis=-1)
            h = params.first(x.z.reshape(-1, side, side, COLOURS))
            kept = []
            for level in params.down:
                h, own = level(h, told)
                kept.append(own)
            h = params.bottleneck(h)
            for up, own in zip(params.up, reversed(kept), strict=True):
                h = up(h, own, told)
            h = params.output(jax.nn.gelu(params.norm(h)))
            return h.reshape(x.z.shape) + x.z

        return flat_network(entries, apply, lambda arrays, t: arrays.levels(t))

    def entries(self, given: int) -> Arrays:
        """The law of every array; `given` numbers are told to the conditioning maps."""
        first, deepest = self.channels[0], self.channels[-1]
        up, below = [], deepest
        for own in reversed(self.channels):
            rows = self._blocks(below + own, own)
            up.append(Up(Conditioning.entries(given, below), rows))
            below = own
        return Arrays(
            self.levels.entries(), Convolution.entries(COLOURS, first),
            down_path(self.channels, self.blocks, self.groups, given),
            Bottleneck.entries(deepest, self.groups), up, GroupNorm.entries(first, self.groups),
            Convolution.entries(first, COLOURS, zero=True),
        )  # fmt: skip

    def _blocks(self, inputs: int, outputs: int) -> list[ResidualBlock]:
        return block_row(inputs, outputs, self.blocks, self.groups)


def block_row(inputs: int, outputs: int, count: int, groups: int) -> list[ResidualBlock]:
    """Residual blocks one after the other; the first changes the channels."""
    sizes = [inputs, *[outputs] * count]
    return [ResidualBlock.entries(a, b, groups) for a, b in itertools.pairwise(sizes)]


def down_path(channels: tuple[int, ...], blocks: int, groups: int, given: int | None) -> list[Down]:
    """The levels on the way down; without `given` they are told nothing."""
    before = (channels[0], *channels[:-1])
    return [
        Down(
            block_row(a, b, blocks, groups), Affine.entries(4 * b, b),
            None if given is None else Conditioning.entries(given, b),
        )
        for a, b in zip(before, channels, strict=True)
    ]  # fmt: skip


def checked_side(size: int, halvings: int) -> int:
    """The side of a picture of so many numbers, or `BadInput` where it cannot be halved.

    Example:
        >>> checked_side(3 * 16 * 16, 3)
        16
    """
    side = round((size / COLOURS) ** 0.5)
    if COLOURS * side * side != size:
        raise bad("output size", size, f"{COLOURS} x side x side numbers of a picture")
    if side % 2**halvings:
        raise bad(
            "side", side, f"a multiple of {2**halvings}: the U-Net halves it {halvings} times",
            "another side, or fewer channels",
        )  # fmt: skip
    return side
