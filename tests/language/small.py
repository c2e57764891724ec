"""Small models of all kinds, made without torch, for tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.language.model import LanguageModel
from dynascope.language.tokenizers.scored import ScoredTokens
from dynascope.models import Transformer, Words

LLAMA = Transformer(
    Words(48), depth=3, width=16, heads=4, groups=2, feed_forward="gated", hidden=24,
    activation="swish", norm="rms", bias=False, causal=True, positions="rotary", read="every",
    tied=True,
)  # fmt: skip
GPT2 = replace(
    LLAMA, groups=None, feed_forward="mlp", activation="gelu", norm="layer", bias=True,
    qkv_bias=True, positions="learned",
)  # fmt: skip
NEOX = replace(GPT2, positions="rotary", rotary_share=0.5, parallel=True, tied=False)
KINDS = {"llama": LLAMA, "gpt2": GPT2, "gpt_neox": NEOX}
# For tests that compile for seconds: `make test` has one kind.
QUICK_KINDS = ["gpt2", *(pytest.param(k, marks=pytest.mark.slow) for k in ("llama", "gpt_neox"))]
LETTERS = "abcdefghijklmnopqrstuvwxyz .,"
PIECES = [b" the", b" cat", b" dog", b" in", b" on", b" to", b" gave", b" a"]


def tokens() -> ScoredTokens:
    """Bytes, letters, and a few words with higher scores than their beginnings."""
    first = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % b for b in range(256))]
    parts = sorted({p[:n] for p in PIECES for n in range(2, len(p) + 1)}, key=len)
    pieces = [*(c.encode() for c in LETTERS), *parts]
    return ScoredTokens([*first, *pieces], [0.0] * len(first) + [float(len(p)) for p in pieces])


@cache
def _init(kind: str, words: int):
    """How a network starts, as one compiled program."""
    return quick(KINDS[kind].build(words, words).init)


def model(kind: str = "llama", seed: int = 0) -> LanguageModel:
    """A language model with drawn weights, norms around 1."""
    transformer, words = KINDS[kind], tokens().size
    params = _init(kind, words)(jax.random.key(seed))
    rng = np.random.default_rng(seed)
    params = jax.tree.map(
        lambda a: np.asarray(a + 0.2 * rng.normal(size=a.shape), np.float32), params
    )
    blocks = jax.tree.map(lambda *layers: np.stack(layers), *params["blocks"])
    if "output" in params:  # published models have no offsets there
        params["output"]["bias"] = np.zeros(words, np.float32)
    return LanguageModel(
        transformer, {**params, "blocks": blocks}, {"model_type": kind}, "drawn", tokens()
    )


def plain(lm: LanguageModel) -> dict:
    """The parameters as `Transformer.apply` takes them: a list of blocks."""
    count = lm.transformer.depth
    blocks = [jax.tree.map(lambda a, i=i: jnp.asarray(a[i]), lm.params["blocks"])
              for i in range(count)]  # fmt: skip
    return {**jax.tree.map(jnp.asarray, {k: v for k, v in lm.params.items() if k != "blocks"}),
            "blocks": blocks}  # fmt: skip
