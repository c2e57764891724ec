"""A language model: our decoder with its weights by name and its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.language import forward
from dynascope.language.stacks import StackedWeights
from dynascope.language.tokenizers.base import Tokenizer
from dynascope.models import Transformer
from dynascope.runtime.precision import precision


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A decoder with weights; nothing changes it, edits give new ones.

    Attributes:
        transformer: The architecture.
        params: Its weights; those of blocks are stacked, (layer, ...).
        config: What the model's files say, under the names of `config.json`.
        source: Where it was read from.
        tokenizer: None where no file for one lies beside the weights.
        packed: How weights of fewer than 16 bits were packed, such as "Q4_1"; else empty.
        factors: The two factors of matrices that were truncated, by name; for saving them small.
    """

    transformer: Transformer
    params: dict[str, Any]
    config: dict[str, Any]
    source: str
    tokenizer: Tokenizer | None = None
    packed: str = ""
    factors: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Bring the weights to the device once: a program that is called would copy them anew."""
        with precision("float32"):
            held = jax.tree.map(jnp.asarray, self.params)
        object.__setattr__(self, "params", held)

    @property
    def weights(self) -> Mapping[str, np.ndarray]:
        """Names to arrays: `blocks.0.feed_forward.in`, as (inputs, outputs)."""
        return StackedWeights(self.params)

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return self.transformer.depth

    @property
    def vocabulary(self) -> int:
        """How many words the model knows."""
        return int(self.params["tokens"]["weight"].shape[0])

    def with_weights(
        self, changes: Mapping[str, np.ndarray], factors: Mapping[str, Any] | None = None
    ) -> LanguageModel:
        """A new model with some weights replaced by name; this one stays as it was.

        Args:
            changes: Names to arrays.
            factors: The two factors of those that are products of thin ones.

        Returns:
            The new model.
        """
        left = {name: pair for name, pair in self.factors.items() if name not in changes}
        params = StackedWeights(self.params).replaced(changes)
        return replace(self, params=params, factors=left | dict(factors or {}))

    def logits(self, tokens: Any) -> np.ndarray:
        """What the model expects next, at every position.

        Args:
            tokens: Whole numbers (text, position).

        Returns:
            (text, position, word), in float32.
        """
        ids = self._checked(np.asarray(tokens))
        with precision("float32"):
            return np.asarray(forward.all_logits(self.transformer, self.params, jnp.asarray(ids)))

    def last_logits(self, texts: Sequence[Sequence[int]]) -> np.ndarray:
        """What the model expects after each of several texts, which may differ in length.

        Args:
            texts: The token numbers of each text.

        Returns:
            (text, word), in float32.
        """
        ids, at = padded(texts)
        with precision("float32"):
            return np.asarray(
                forward.last_logits(self.transformer, self.params, self._checked(ids), at)
            )

    def _checked(self, ids: np.ndarray) -> np.ndarray:
        if ids.ndim != 2 or ids.dtype.kind not in "iu" or not ids.size:
            raise bad("tokens", f"{ids.dtype} {ids.shape}", "whole numbers (text, position)")
        if ids.min() < 0 or ids.max() >= self.vocabulary:
            raise bad("tokens", int(ids.max()), f"numbers from 0 to {self.vocabulary - 1}")
        longest = self.transformer.tokens.count(0)
        if ids.shape[1] > longest:
            raise bad(
                "tokens", f"{ids.shape[1]} positions", f"at most {longest}, as it has learned"
            )
        return ids.astype(np.int32)

    def encode(self, text: str) -> list[int]:
        """The token numbers of a text."""
        return self._tokens().encode(text)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token numbers."""
        return self._tokens().decode([int(i) for i in ids])

    def _tokens(self) -> Tokenizer:
        if self.tokenizer is None:
            raise BadInput(
                f"no tokenizer beside {self.source}: put its tokenizer.json there (llama2.c: "
                "tokenizer.bin), or name one: load_model(PATH, tokenizer=FILE)"
            )
        return self.tokenizer

    def __repr__(self) -> str:
        t = self.transformer
        return (
            f"LanguageModel({self.source}: {t.depth} layers, width {t.width}, {t.heads} heads, "
            f"{self.vocabulary} words)"
        )


def padded(texts: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Texts as one array, filled up behind their ends, and the last position of each.

    A causal model sees nothing of what stands behind.

    Example:
        >>> padded([[5, 6, 7], [8]])[1].tolist()
        [2, 0]
    """
    lengths = np.array([len(text) for text in texts])
    if not len(lengths) or lengths.min() < 1:
        raise bad("texts", "a text without tokens", "at least one token in each")
    ids = np.zeros((len(texts), lengths.max()), np.int32)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    return ids, (lengths - 1).astype(np.int32)
