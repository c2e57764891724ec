"""Scores of many edits of one layer: what lies before it is worked out once.

Texts go through the layers in groups, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.language import forward
from dynascope.language.model import LanguageModel, padded
from dynascope.language.prompts.encoding import NONE, Encoded
from dynascope.runtime.precision import precision

GROUP = 256  # texts at a time
PLACES = {
    "q": ("attention", "query"), "k": ("attention", "key"), "v": ("attention", "value"),
    "o": ("attention", "output"), "mlp_in": ("feed_forward", "in"),
    "mlp_gate": ("feed_forward", "gate"), "mlp_out": ("feed_forward", "out"),
}  # fmt: skip


class Resumed:
    """A model at the door of one layer, with some prompts; `advance` goes to the next.

    It moves, because what enters a layer is large and only the newest is kept.
    """

    def __init__(self, model: LanguageModel, prompts: Encoded) -> None:
        self.model, self.layer = model, 0
        parts = [slice(i, i + GROUP) for i in range(0, len(prompts.texts), GROUP)]
        self._tokens: list[tuple[Any, Any]] = [padded(prompts.texts[part]) for part in parts]
        asked = np.stack([prompts.answer, prompts.generic, prompts.other], axis=1)
        self._asked = [asked[part].astype(np.int32) for part in parts]
        with precision("float32"):
            self._z = [
                forward.entered(model.transformer, model.params, ids) for ids, _ in self._tokens
            ]
        self._added: list[jax.Array] = []

    @property
    def block(self) -> dict[str, Any]:
        """The weights of this layer."""
        return forward.layer_of(self.model.params, self.layer)

    def advance(self) -> None:
        """Through this layer, to the next."""
        with precision("float32"):
            block = self.block
            self._z = [forward.advanced(self.model.transformer, block, z) for z in self._z]
        self.layer, self._added = self.layer + 1, []

    def scores(self, matrix: str, w: np.ndarray) -> np.ndarray:
        """Log probabilities (prompt, 3) of answer, generic and other with another matrix here.

        Args:
            matrix: By the names of `MATRICES`.
            w: Its entries, (inputs, outputs).
        """
        part, name = PLACES[matrix]
        old = self.block[part][name]
        return self._run({part: {name: np.asarray(w, np.float32).reshape(old.shape)}})

    def dropped(self, part: str) -> np.ndarray:
        """The same without a whole part of this layer, "attention" or "mlp"."""
        inside, name = PLACES[{"attention": "o", "mlp": "mlp_out"}[part]]
        own = self.block[inside]
        names = [n for n in (name, f"{name}_bias") if n in own]
        return self._run({inside: {n: np.zeros(own[n].shape, np.float32) for n in names}})

    def _run(self, changes: Mapping[str, Mapping[str, np.ndarray]]) -> np.ndarray:
        model, params = self.model.transformer, self.model.params
        block = {**self.block, **{k: {**self.block[k], **v} for k, v in changes.items()}}
        with precision("float32"):
            if "attention" in changes:
                ends = [
                    forward.ended(model, params, z, self.layer, block, at)
                    for z, (_, at) in zip(self._z, self._tokens)
                ]
            else:
                self._added = self._added or [
                    forward.attended(model, self.block, z) for z in self._z
                ]
                ends = [
                    forward.ended_mixed(model, params, z, added, self.layer, block, at)
                    for z, added, (_, at) in zip(self._z, self._added, self._tokens)
                ]
            found = [_asked(end, asked) for end, asked in zip(ends, self._asked)]
        return np.concatenate([np.asarray(part) for part in found])


@partial(jax.jit)
def _asked(logits: jax.Array, tokens: jax.Array) -> jax.Array:
    """Log probabilities of some tokens of each text; nan where there is no such token."""
    log_p = jnp.take_along_axis(logits, jnp.maximum(tokens, 0), axis=1)
    log_p = log_p - jax.nn.logsumexp(logits, axis=1, keepdims=True)
    return jnp.where(tokens == NONE, jnp.nan, log_p)
