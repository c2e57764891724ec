"""The four maps of every head, as boix2023 writes them: W_K, W_Q, W_V, W_O of shape (d, d_h)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp


class HeadMaps(NamedTuple):
    """W_K, W_Q, W_V and W_O of every head: arrays (..., layer, head, width, head_size)."""

    key: Any
    query: Any
    value: Any
    output: Any


def head_maps(params: Any) -> HeadMaps:
    """The maps of all heads of a transformer's parameters, layer by layer.

    Heads that share keys and values have each a copy of their group's.

    Example:
        >>> import jax
        >>> from dynascope.models import Transformer
        >>> network = Transformer(depth=3, width=6, heads=2).build(4, 1)
        >>> params = jax.eval_shape(network.init, jax.random.key(0))  # nothing is computed
        >>> jax.eval_shape(head_maps, params).key.shape
        (3, 2, 6, 3)
    """
    layers = [block["attention"] for block in params["blocks"]]
    heads = layers[0]["query"].shape[1]

    def stacked(name: str) -> Any:  # (layer, width, head, size) to (layer, head, width, size)
        maps = jnp.stack([layer[name] for layer in layers]).swapaxes(1, 2)
        return jnp.repeat(maps, heads // maps.shape[1], axis=1)

    output = jnp.stack([layer["output"] for layer in layers]).swapaxes(-1, -2)
    return HeadMaps(stacked("key"), stacked("query"), stacked("value"), output)


def has_heads(params: Any) -> bool:
    """Whether parameters are those of a transformer."""
    blocks = params.get("blocks", []) if isinstance(params, dict) else []
    return bool(blocks) and "attention" in blocks[0]
