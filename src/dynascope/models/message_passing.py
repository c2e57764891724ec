"""Networks that pass messages: GIN, GIN with jumping knowledge, and the community network.

GNN-D3. Unlike graph-augmented MLPs they learn between two steps along the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.models.affine_layers import Layer, affine, draw_layers, two_layers
from dynascope.models.base import Model, Network
from dynascope.models.propagation import standardise


@dataclass(frozen=True)
class GIN(Model):
    """Graph isomorphism network: h <- MLP((1 + eps) h + sum of neighbours), eps learned from 0.

    Args:
        layers: Steps along the graph; walks of that length can be counted.
        width: Of every layer; each layer's MLP has two affine maps.
        jumping: Whether the readout, again two affine maps, sees all layers, not the last only.
    """

    reads: ClassVar[Literal["vectors", "graphs"]] = "graphs"

    layers: int = 2
    width: int = 32
    jumping: bool = False

    def check(self) -> None:
        """Raise for sizes below one."""
        for name in ("layers", "width"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        w = self.width
        seen = w * (self.layers if self.jumping else 1)
        sizes = [(input_size, w), *[(w, w)] * (2 * self.layers - 1), (seen, w), (w, output_size)]

        def init(key: jax.Array) -> dict[str, Any]:
            return {"maps": draw_layers(key, sizes), "eps": jnp.zeros(self.layers)}

        def apply(params: dict[str, Any], graph: Any) -> jax.Array:
            h, kept, maps = graph.features, [], params["maps"]
            for k in range(self.layers):
                mixed = (1.0 + params["eps"][k]) * h + graph.neighbour_sum(h)
                h = jax.nn.relu(two_layers(maps[2 * k : 2 * k + 2], mixed))
                kept.append(h)
            return two_layers(maps[-2:], jnp.concatenate(kept, axis=1) if self.jumping else h)

        return Network(init, apply)


@dataclass(frozen=True)
class CommunityNetwork(Model):
    """The thesis's sGNN: in every layer a learned mix of h, A h and A^2 h, standardised.

    One half of the channels is rectified, the other stays linear, so that sixty layers can
    still carry an eigenvector; the thesis does not say.

    Args:
        layers: Depth; each layer looks two steps far.
        width: Channels, an even number.
    """

    reads: ClassVar[Literal["vectors", "graphs"]] = "graphs"

    layers: int = 60
    width: int = 10

    def check(self) -> None:
        """Raise for sizes that cannot be halved."""
        if self.layers < 1:
            raise bad("layers", self.layers, "a whole number of at least 1")
        if self.width < 2 or self.width % 2:
            raise bad("width", self.width, "an even number of at least 2")

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions; all layers but the first and the readout are one stack."""
        w, half = self.width, self.width // 2
        sizes = [(3 * input_size, w), (w, output_size), *[(3 * w, w)] * (self.layers - 1)]

        def init(key: jax.Array) -> dict[str, Any]:
            entry, head, *inner = draw_layers(key, sizes)
            stack = {n: jnp.stack([own[n] for own in inner]) for n in entry} if inner else None
            return {"entry": entry, "head": head, "stack": stack}

        def mix(layer: Layer, h: jax.Array, graph: Any) -> jax.Array:
            near = graph.neighbour_sum(h)
            h = affine(layer, jnp.concatenate([h, near, graph.neighbour_sum(near)], axis=1))
            return standardise(jnp.concatenate([jax.nn.relu(h[:, :half]), h[:, half:]], axis=1))

        def apply(params: dict[str, Any], graph: Any) -> jax.Array:
            h = mix(params["entry"], graph.features, graph)
            if params["stack"] is not None:
                h, _ = jax.lax.scan(lambda h, own: (mix(own, h, graph), None), h, params["stack"])
            return affine(params["head"], h)

        return Network(init, apply)
