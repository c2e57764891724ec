"""The denoiser of vectors: an MLP with the condition added to every hidden layer."""

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
from dynascope.models.denoisers.layers import Affine, Conditioning
from dynascope.models.denoisers.schedule import COORDINATES, Levels, NoiseLevels
from dynascope.tasks.diffusion import Noised


class Layers(eqx.Module):
    """The arrays of a `ConditionalMLP`."""

    levels: Levels
    hidden: list[Affine]
    conditioning: list[Conditioning]
    output: Affine


@dataclass(frozen=True)
class ConditionalMLP(Model):
    """h = gelu(A h + m(c, gamma)) layer by layer, with a two-layer map m of its own in each.

    The estimate is the last affine map plus z itself.

    Args:
        hidden: Sizes of the hidden layers; the authors' program has (1024,).
        levels: Where the learned noise schedule starts.

    Example:
        >>> network = ConditionalMLP((8, 8)).build(6, 3)
        >>> params = jax.jit(network.init)(jax.random.key(0))
        >>> z, condition = jnp.ones((5, 3)), jnp.ones((5, 3))
        >>> jax.jit(network.apply)(params, Noised(z, jnp.zeros(5), condition)).shape
        (5, 3)
    """

    reads: ClassVar[Literal["noised"]] = "noised"

    hidden: tuple[int, ...] = (1024,)
    levels: NoiseLevels = NoiseLevels()

    def check(self) -> None:
        """Raise for no hidden layer and for sizes below one."""
        if not self.hidden or min(self.hidden) < 1:
            raise bad("hidden", self.hidden, "at least one size of at least 1")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; `input_size` counts data and condition."""
        given = input_size - output_size + COORDINATES
        sizes = (output_size, *self.hidden)
        entries = Layers(
            self.levels.entries(),
            [Affine.entries(a, b) for a, b in itertools.pairwise(sizes)],
            [Conditioning.entries(given, size) for size in self.hidden],
            Affine.entries(sizes[-1], output_size),
        )

        def apply(params: Any, x: Noised) -> jax.Array:
            told = jnp.concatenate([x.condition, self.levels.coordinates(x.gamma)], axis=-1)
            h = x.z
            for layer, conditioning in zip(params.hidden, params.conditioning, strict=True):
                h = jax.nn.gelu(layer(h) + conditioning(told))
            return params.output(h) + x.z

        return flat_network(entries, apply, lambda arrays, t: arrays.levels(t))
