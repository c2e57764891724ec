"""From a sample to tokens: patches of a picture, or words of a text.

To add one: derive from `TokenMap` and write `count`, `entries` and `tokens`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.models.transformer.drawing import Entry, Start


@dataclass(frozen=True)
class TokenMap(Spec):
    """What makes tokens of a sample."""

    def count(self, input_size: int) -> int:
        """How many tokens a sample of this size has."""
        raise NotImplementedError

    def entries(self, input_size: int, width: int, start: Start) -> dict[str, Entry]:
        """The arrays that it learns."""
        raise NotImplementedError

    def tokens(self, weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        """(..., input) to (..., tokens, width)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Patches(TokenMap):
    """An affine map of every patch of a picture; pixels come as one row or in their shape.

    Args:
        shape: (length, channels) or (height, width, channels); None is a line with one channel.
        side: Of a patch; it divides length, height and width.

    Example:
        >>> Patches((32, 32, 3), 4).count(3072)
        64
    """

    shape: tuple[int, ...] | None = None
    side: int = 1

    def check(self) -> None:
        """Raise for patches that do not fill the picture."""
        if self.side < 1:
            raise bad("side", self.side, "a whole number of at least 1")
        if self.shape is None:
            return
        if len(self.shape) not in (2, 3) or min(self.shape) < 1:
            raise bad("shape", self.shape, "(length, channels) or (height, width, channels)")
        if any(length % self.side for length in self.shape[:-1]):
            raise bad("side", self.side, f"a divisor of the sides of {self.shape}")

    def _sizes(self, input_size: int) -> tuple[int, ...]:
        shape = self.shape or (input_size, 1)
        if math.prod(shape) != input_size or input_size % self.side:
            raise bad("shape", shape, f"{input_size} numbers, as the task has")
        return shape

    def count(self, input_size: int) -> int:
        """How many patches there are."""
        return math.prod(length // self.side for length in self._sizes(input_size)[:-1])

    def entries(self, input_size: int, width: int, start: Start) -> dict[str, Entry]:
        """A map (pixels of a patch, width) and its offset."""
        pixels = input_size // self.count(input_size)
        weight = start.weight((pixels, width), pixels)
        return {"weight": weight, "bias": start.offset((width,), pixels)}

    def tokens(self, weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        """Every patch through the map."""
        if self.shape is not None and x.shape[-len(self.shape) :] == self.shape:
            x = x.reshape(*x.shape[: -len(self.shape)], -1)
        shape = self._sizes(x.shape[-1])
        return patches(x, shape, self.side) @ weights["weight"] + weights["bias"]


def patches(x: jax.Array, shape: tuple[int, ...], side: int) -> jax.Array:
    """The patches of a picture, row by row; the pixels of each row by row, channels last.

    Example:
        >>> patches(jnp.arange(8.0), (2, 4, 1), 2).tolist()
        [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]
    """
    *lengths, channels = shape
    lead, axes = x.ndim - 1, len(lengths)
    cut = list(itertools.chain.from_iterable((length // side, side) for length in lengths))
    blocks = x.reshape(*x.shape[:-1], *cut, channels)
    outer = [lead + 2 * i for i in range(axes)]
    inner = [axis + 1 for axis in outer]
    blocks = blocks.transpose(*range(lead), *outer, *inner, lead + 2 * axes)
    return blocks.reshape(*x.shape[:-1], math.prod(cut[::2]), -1)


@dataclass(frozen=True)
class Words(TokenMap):
    """A vector for every word; a sample is a row of whole numbers below the number of words.

    Args:
        length: The longest row, for positions that are learned.

    Example:
        >>> Words(64).count(27)  # 27 different words in rows of up to 64
        64
    """

    length: int = 128

    def check(self) -> None:
        """Raise for rows without words."""
        if self.length < 1:
            raise bad("length", self.length, "a whole number of at least 1")

    def count(self, input_size: int) -> int:
        """As many as a row has."""
        return self.length

    def entries(self, input_size: int, width: int, start: Start) -> dict[str, Entry]:
        """A table (words, width); the input size is the number of different words."""
        return {"weight": start.table((input_size, width))}

    def tokens(self, weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        """The vectors of the words."""
        return jnp.take(weights["weight"], x, axis=0)
