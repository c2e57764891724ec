"""Text that a model writes on: the most likely token again and again.

Keys and values of what has been read are kept, so that a new token costs one position.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.language.model import LanguageModel
from dynascope.models import Transformer
from dynascope.models.transformer.attention import _mapped
from dynascope.models.transformer.rotary import rotated
from dynascope.runtime.precision import precision


def generate(model: LanguageModel, text: str, tokens: int = 50, stop: tuple[str, ...] = ()) -> str:
    """Write on greedily.

    Args:
        model: The model.
        text: What stands before.
        tokens: How many are written at most.
        stop: Ends before the first of these strings, and at an end-of-text token.

    Returns:
        What was written, without the text before.
    """
    ids = model.encode(text)
    written: list[int] = []
    for token in greedy(model, ids, tokens):
        written.append(token)
        so_far = _continued(model, ids, written)
        if token in ends(model):
            return _continued(model, ids, written[:-1])
        cut = [so_far.index(s) for s in stop if s in so_far]
        if cut:
            return so_far[: min(cut)]
    return _continued(model, ids, written)


def _continued(model: LanguageModel, ids: list[int], written: list[int]) -> str:
    """The text of new tokens, as it follows the old ones."""
    return model.decode([*ids, *written])[len(model.decode(ids)) :]


def ends(model: LanguageModel) -> tuple[int, ...]:
    """Tokens that end a text, as the model's settings say; llama2.c ends with a beginning."""
    told = model.config.get("eos_token_id", (1, 2) if model.source.endswith(".bin") else ())
    return tuple(told) if isinstance(told, list | tuple) else (int(told),)


def greedy(model: LanguageModel, ids: list[int], tokens: int) -> Any:
    """The most likely tokens one after the other, as an iterator."""
    longest = model.transformer.tokens.count(0)
    if not ids or len(ids) + tokens > longest:
        raise bad("tokens", len(ids) + tokens, f"at most {longest} with the text before")
    length = min(-(-(len(ids) + tokens) // 64) * 64, longest)  # few different shapes
    text = np.zeros((1, length), np.int32)
    text[0, : len(ids)] = ids
    with precision("float32"):
        logits, keys, values = _read(model.transformer, model.params, text, len(ids) - 1)
        for place in range(len(ids), len(ids) + tokens):
            token = int(np.argmax(logits))
            yield token
            logits, keys, values = _step(
                model.transformer, model.params, jnp.int32(token), jnp.int32(place), keys, values
            )


@partial(jax.jit, static_argnums=0)
def _read(model: Transformer, params: Any, ids: jax.Array, last: jax.Array) -> Any:
    """The whole text at once: logits at its last position, keys and values of every layer."""

    def one(z: jax.Array, block: Any) -> tuple[jax.Array, Any]:
        return model.block(block, z), _keys_values(model, block, z, 0)

    z, (keys, values) = jax.lax.scan(one, model.embed(params, ids), params["blocks"])
    return model.output(params, z[:, last])[0], keys, values


def _keys_values(model: Transformer, block: Any, z: jax.Array, first: Any) -> Any:
    """Keys, turned, and values of positions: (text, position, group, size)."""
    x, attention = model._norm(block["attention_norm"], z), model.attention
    k, v = (_mapped(block["attention"], name, x) for name in ("key", "value"))
    return (k if attention.rotary is None else rotated(k, *attention.rotary, first=first)), v


@partial(jax.jit, static_argnums=0, donate_argnums=(4, 5))
def _step(
    model: Transformer, params: Any, token: jax.Array, place: jax.Array, keys: jax.Array,
    values: jax.Array,
) -> Any:  # fmt: skip
    """One token more: logits after it, and keys and values with its own put in."""
    z = jnp.take(params["tokens"]["weight"], token[None, None], axis=0)
    if model.positions == "learned":
        z = z + params["positions"][place]

    def one(z: jax.Array, layer: Any) -> tuple[jax.Array, Any]:
        block, k, v = layer
        new_k, new_v = _keys_values(model, block, z, place)
        k = jax.lax.dynamic_update_slice_in_dim(k, new_k, place, axis=1)
        v = jax.lax.dynamic_update_slice_in_dim(v, new_v, place, axis=1)
        return _one_position(model, block, z, place, k, v), (k, v)

    z, (keys, values) = jax.lax.scan(one, z, (params["blocks"], keys, values))
    return model.output(params, z)[0, 0], keys, values


def _one_position(
    model: Transformer, block: Any, z: jax.Array, place: jax.Array, k: jax.Array, v: jax.Array
) -> jax.Array:
    """A block at one position, with the keys and values of those before it: (1, 1, width)."""
    a, weights = model.attention, block["attention"]
    q = _mapped(weights, "query", model._norm(block["attention_norm"], z))
    q = q if a.rotary is None else rotated(q, *a.rotary, first=place)
    q = q.reshape(1, 1, a.groups, a.heads // a.groups, a.head_size)
    scores = jnp.einsum("tigre,tjge->tgrij", q, k) * (a.head_size**-0.5 if a.scaled else 1.0)
    seen = jnp.arange(k.shape[1]) <= place
    pattern = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    read = jnp.einsum("tgrij,tjge->tigre", pattern, v).reshape(1, 1, -1)
    added = read @ weights["output"].reshape(-1, model.width)
    added = added + weights["output_bias"] if a.output_bias else added
    middle = z + added
    norm = model._norm(block["feed_forward_norm"], z if model.parallel else middle)
    return middle + model.mixer(block["feed_forward"], norm)
