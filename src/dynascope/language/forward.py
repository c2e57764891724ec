"""One pass through a decoder whose layers are stacked, compiled once for each shape of tokens.

Where only the last position of each text is asked for, the last layer is worked out there alone:
its keys and values everywhere, all else at one position a text.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.models import Transformer

Params = dict[str, Any]


@partial(jax.jit, static_argnums=0)
def all_logits(model: Transformer, params: Params, tokens: jax.Array) -> jax.Array:
    """(text, position) to (text, position, word)."""
    return model.output(params, _through(model, params, model.embed(params, tokens)))


def _through(model: Transformer, params: Params, z: jax.Array) -> jax.Array:
    """All layers, one after the other."""
    return jax.lax.scan(lambda z, block: (model.block(block, z), None), z, params["blocks"])[0]


@partial(jax.jit, static_argnums=0)
def last_logits(model: Transformer, params: Params, tokens: jax.Array, at: jax.Array) -> jax.Array:
    """Logits at one position of each text: (text, word)."""
    return _ended(model, params, model.embed(params, tokens), jnp.int32(0), at)


@partial(jax.jit, static_argnums=0)
def entered(model: Transformer, params: Params, tokens: jax.Array) -> jax.Array:
    """What the first layer reads, (text, position, width)."""
    return model.embed(params, tokens)


@partial(jax.jit, static_argnums=0)
def advanced(model: Transformer, block: Params, z: jax.Array) -> jax.Array:
    """One layer further."""
    return model.block(block, z)


@partial(jax.jit, static_argnums=0)
def attended(model: Transformer, block: Params, z: jax.Array) -> jax.Array:
    """What attention has added, for edits of the feed-forward part: (text, position, width)."""
    return z + model.attention(block["attention"], model._norm(block["attention_norm"], z))


def ended(
    model: Transformer, params: Params, z: jax.Array, layer: int, block: Params, at: jax.Array
) -> jax.Array:
    """Last logits with another block in the place of a layer, from what enters it.

    Args:
        model: The decoder.
        params: Its weights.
        z: What enters the layer, (text, position, width).
        layer: Which layer; all but the last share one compiled program.
        block: Its weights.
        at: The last position of each text.

    Returns:
        (text, word).
    """
    if layer == model.depth - 1:
        return _last_block(model, params, z, block, at)
    return _block_and_rest(model, params, z, jnp.int32(layer), block, at)


def ended_mixed(
    model: Transformer, params: Params, z: jax.Array, added: jax.Array, layer: int, block: Params,
    at: jax.Array,
) -> jax.Array:  # fmt: skip
    """The same where only the feed-forward part differs: what attention adds is given.

    `added` is `attended` of the layer. In the last layer all but the last positions are left out.
    """
    if layer == model.depth - 1:
        return _last_mixed(model, params, z, added, block, at)
    return _mixed_and_rest(model, params, z, added, jnp.int32(layer), block, at)


@partial(jax.jit, static_argnums=0)
def _last_block(
    model: Transformer, params: Params, z: jax.Array, block: Params, at: jax.Array
) -> jax.Array:
    return model.output(params, block_at(model, block, z, at))[..., 0, :]


@partial(jax.jit, static_argnums=0)
def _block_and_rest(
    model: Transformer, params: Params, z: jax.Array, layer: jax.Array, block: Params, at: jax.Array
) -> jax.Array:
    return _ended(model, params, model.block(block, z), layer + 1, at)


@partial(jax.jit, static_argnums=0)
def _last_mixed(
    model: Transformer, params: Params, z: jax.Array, added: jax.Array, block: Params, at: jax.Array
) -> jax.Array:
    own, after = (jnp.take_along_axis(x, at[:, None, None], axis=1) for x in (z, added))
    return model.output(params, _mixed(model, block, own, after))[..., 0, :]


@partial(jax.jit, static_argnums=0)
def _mixed_and_rest(
    model: Transformer, params: Params, z: jax.Array, added: jax.Array, layer: jax.Array,
    block: Params, at: jax.Array,
) -> jax.Array:  # fmt: skip
    return _ended(model, params, _mixed(model, block, z, added), layer + 1, at)


def _mixed(model: Transformer, block: Params, z: jax.Array, added: jax.Array) -> jax.Array:
    """A block's second half."""
    read = z if model.parallel else added
    norm = model._norm(block["feed_forward_norm"], read)
    return added + model.mixer(block["feed_forward"], norm)


def _ended(
    model: Transformer, params: Params, z: jax.Array, first: jax.Array, at: jax.Array
) -> jax.Array:
    """Logits at one position, from what enters a layer on."""

    def one(i: jax.Array, z: jax.Array) -> jax.Array:
        return model.block(layer_of(params, i), z)

    z = jax.lax.fori_loop(first, model.depth - 1, one, z)
    return model.output(params, block_at(model, layer_of(params, -1), z, at))[..., 0, :]


def layer_of(params: Params, layer: jax.Array | int) -> Params:
    """The weights of one layer."""
    return jax.tree.map(lambda stack: stack[layer], params["blocks"])


def block_at(model: Transformer, weights: Params, z: jax.Array, at: jax.Array) -> jax.Array:
    """A block worked out at one position of each text: (text, 1, width)."""
    return sum(parts_at(model, weights, z, at))  # type: ignore[return-value]


def parts_at(
    model: Transformer, weights: Params, z: jax.Array, at: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """At one position of each text: what enters a block, and what its two parts add."""
    own = jnp.take_along_axis(z, at[:, None, None], axis=1)
    x = model._norm(weights["attention_norm"], z)
    pattern = model.attention.pattern(weights["attention"], x)  # (text, group, head, asks, answers)
    rows = jnp.take_along_axis(pattern, at[:, None, None, None, None], axis=3)
    attended = model.attention.output(weights["attention"], rows, x)
    read = own if model.parallel else own + attended
    mixed = model.mixer(weights["feed_forward"], model._norm(weights["feed_forward_norm"], read))
    return own, attended, mixed
