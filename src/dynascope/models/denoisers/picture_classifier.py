"""The classifier of yang2025 app. G.3: a U-Net's way down, the maximum over places, an MLP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax

from dynascope.core.errors import bad
from dynascope.models.base import Model, Network
from dynascope.models.denoisers.flat import flat_network
from dynascope.models.denoisers.layers import Affine, Conditioning, Convolution
from dynascope.models.denoisers.unet import COLOURS, Down, checked_side, down_path


class Arrays(eqx.Module):
    """The arrays of a `PictureClassifier`."""

    first: Convolution
    down: list[Down]
    output: Conditioning  # a map of two layers
    last: Affine


@dataclass(frozen=True)
class PictureClassifier(Model):
    """One number an output from a square picture of three colours.

    Args:
        channels: Of the levels, before each halving.
        blocks: Residual blocks of a level.

    Example:
        >>> network = PictureClassifier((4, 8)).build(3 * 8 * 8, 2)
        >>> params = jax.eval_shape(network.init, jax.random.key(0))  # nothing is computed
        >>> jax.eval_shape(network.apply, params, jax.numpy.ones((5, 192))).shape
        (5, 2)
    """

    channels: tuple[int, ...] = (16, 32)
    blocks: int = 1

    def check(self) -> None:
        """Raise for sizes that make no network."""
        if not self.channels or min(self.channels) < 1:
            raise bad("channels", self.channels, "at least one level of at least 1 channel")
        if self.blocks < 1:
            raise bad("blocks", self.blocks, "a whole number of at least 1")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for pictures as rows."""
        side = checked_side(input_size, len(self.channels))
        top = self.channels[-1]
        entries = Arrays(
            Convolution.entries(COLOURS, self.channels[0]),
            down_path(self.channels, self.blocks, 1, None), Conditioning.entries(top, top),
            Affine.entries(top, output_size),
        )  # fmt: skip

        def apply(params: Any, x: jax.Array) -> jax.Array:
            lead = x.shape[:-1]
            h = params.first(x.reshape(math.prod(lead), side, side, COLOURS))
            for level in params.down:
                h, _ = level(h, None)
            h = params.last(jax.nn.gelu(params.output(h.max((1, 2)))))
            return h.reshape(*lead, output_size)

        return flat_network(entries, apply)
