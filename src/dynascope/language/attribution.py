"""Who writes the generic token: what every block adds to the logit difference, and without it.

The last position is a sum: the word's vector, and what each attention and feed-forward part has
added. The last norm divides that sum by one number r, so with r held fixed the difference of two
logits is a sum over parts too: (W_U[generic] - W_U[answer]) . scale * (part - its mean) / r, where
only layer norm takes means off. The sum over parts is the difference itself, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.language import forward
from dynascope.language.loading import load_model
from dynascope.language.model import LanguageModel, padded
from dynascope.language.prompts.base import Prompt
from dynascope.language.prompts.encoding import NONE, Encoded, encoded
from dynascope.language.search.resuming import Resumed
from dynascope.models import Transformer
from dynascope.runtime.precision import precision
from dynascope.runtime.progress import Progress

PARTS = ("attention", "mlp")


class Attribution(NamedTuple):
    """Logit differences, generic less answer, (prompt,) last; natural logarithms of odds."""

    whole: np.ndarray  # (prompt,): of the model
    words: np.ndarray  # (prompt,): written by the last word's own vector, and by fixed offsets
    written: np.ndarray  # (part, layer, prompt): written by each part
    without: np.ndarray  # (part, layer, prompt): of the model without that part

    def told(self) -> list[dict[str, Any]]:
        """A row for each part, the strongest writer of the generic token first."""
        rows = [
            {"layer": layer, "part": part, "writes": float(self.written[i, layer].mean()),
             "without": float(self.without[i, layer].mean())}
            for i, part in enumerate(PARTS)
            for layer in range(self.written.shape[1])
        ]  # fmt: skip
        return sorted(rows, key=lambda row: -row["writes"])


def attribute(
    model: LanguageModel,
    prompts: Encoded,
    layers: Sequence[int] | None = None,
    *,
    progress: bool = True,
) -> Attribution:
    """What every part of every block adds to the generic token's logit over the answer's.

    Args:
        model: The model.
        prompts: Each with an answer and a generic token.
        layers: From 0, rising; all by default.
        progress: Whether to show how far it is.

    Returns:
        Contributions of these layers, and the difference once the part is dropped and all
        later ones run anew.
    """
    if (prompts.answer == NONE).any():
        raise bad("prompts", "prompts without an answer", "an answer for each")
    ids, at = padded(prompts.texts)
    pair = np.stack([prompts.generic, prompts.answer], axis=1).astype(np.int32)
    with precision("float32"):
        parts = np.asarray(_parts(model.transformer, model.params, ids, at))
        share = _shares(model.transformer, model.params, jnp.asarray(parts), pair)
        shares, offset = (np.asarray(found) for found in share)
    asked = list(range(model.layers) if layers is None else layers)
    here, without = Resumed(model, prompts), np.zeros((2, len(asked), len(at)), np.float32)
    with Progress("attribution", len(asked), enabled=progress) as bar:
        for k, layer in enumerate(asked):
            while here.layer < layer:
                here.advance()
            for i, part in enumerate(PARTS):
                scores = here.dropped(part)
                without[i, k] = scores[:, 1] - scores[:, 0]
            bar.update(k + 1, f"layer {layer}")
    written = shares[1:].reshape(model.layers, 2, -1).swapaxes(0, 1)[:, asked]
    return Attribution(shares.sum(0) + offset, shares[0] + offset, written, without)


@partial(jax.jit, static_argnums=0)
def _parts(model: Transformer, params: Any, ids: jax.Array, at: jax.Array) -> jax.Array:
    """At the last positions: the words, then attention and feed-forward of every layer in turn."""

    def one(z: jax.Array, block: Any) -> tuple[jax.Array, jax.Array]:
        _, attended, mixed = forward.parts_at(model, block, z, at)
        return model.block(block, z), jnp.stack([attended[:, 0], mixed[:, 0]])

    z = model.embed(params, ids)
    first = jnp.take_along_axis(z, at[:, None, None], axis=1)[None, :, 0]
    found = jax.lax.scan(one, z, params["blocks"])[1]  # (layer, 2, text, width)
    return jnp.concatenate([first, found.reshape(-1, *found.shape[2:])])


@partial(jax.jit, static_argnums=0)
def _shares(
    model: Transformer, params: Any, parts: jax.Array, pair: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Each part's share of the difference of two logits, (part, text), and the norm's offset's."""
    table = params["tokens"]["weight"] if model.tied else params["output"]["weight"].T
    difference = table[pair[:, 0]] - table[pair[:, 1]]  # (text, width)
    whole, norm = parts.sum(0), params["last_norm"]
    if model.norm == "layer":
        parts, whole = (x - x.mean(-1, keepdims=True) for x in (parts, whole))
    r = jnp.sqrt((whole * whole).mean(-1) + model.epsilon)
    shares = jnp.einsum("ptw,tw->pt", parts, difference * norm["scale"]) / r
    offset = difference @ norm["offset"] if model.norm == "layer" else jnp.zeros_like(r)
    return shares, offset


def attribution_series(
    paths: Sequence[str | Path], prompts: Sequence[Prompt]
) -> dict[str, Attribution]:
    """The same along checkpoints of one model, by path, in the order given."""
    found = {}
    for path in paths:
        model = load_model(path)
        found[str(path)] = attribute(model, encoded(model, prompts))
    return found
