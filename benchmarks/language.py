"""A forward pass of stories15M against transformers, and a whole search over truncations.

32 prompts of 24 tokens, the last position only, on the same weights: `transformers` gets its
`logits_to_keep=1`, eager and with PyTorch's fused attention, one and two threads; the best counts.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch
import transformers
from timing import line, median_seconds

from dynascope.data import read_checkpoint
from dynascope.data.models import find_model
from dynascope.language import encoded, ioi, load_model, search

TEXTS, LENGTH = 32, 24


def as_llama(lm, attention: str):
    """The same weights in `transformers`' Llama."""
    c = lm.config
    names = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
             "num_attention_heads", "num_key_value_heads", "max_position_embeddings")  # fmt: skip
    config = transformers.LlamaConfig(
        **{n: c[n] for n in names}, rms_norm_eps=1e-5, tie_word_embeddings=True,
        attn_implementation=attention,
    )  # fmt: skip
    theirs = transformers.LlamaForCausalLM(config).eval()
    found = read_checkpoint(lm.source)
    state = {n: torch.tensor(np.array(found[n])) for n in found}
    theirs.load_state_dict(state, strict=False)
    theirs.tie_weights()
    return theirs


def main() -> None:
    lm = load_model(find_model("stories15M"))
    ids = np.random.default_rng(0).integers(3, lm.vocabulary, (TEXTS, LENGTH))
    rows = [list(row) for row in ids]
    ours = median_seconds(lambda: lm.last_logits(rows), 9)
    best, got, tokens = np.inf, lm.last_logits(rows), torch.tensor(ids)
    for attention in ("eager", "sdpa"):
        theirs = as_llama(lm, attention)
        for threads in (1, 2):
            torch.set_num_threads(threads)
            with torch.no_grad():

                def work(theirs=theirs):
                    return theirs(tokens, logits_to_keep=1, use_cache=False).logits

                best = min(best, median_seconds(work, 9))
                assert np.abs(work().numpy()[:, 0] - got).max() < 1e-3
    line("forward of stories15M, 32 x 24, last position", ours, "transformers, best", best,
         ">= 1x", 1e-3)  # fmt: skip
    if "--forward" in sys.argv:
        return
    prompts = encoded(lm, ioi(200))
    begun = time.perf_counter()
    found = search(lm, prompts, progress=False)
    spent = time.perf_counter() - begun
    tried = int(np.prod(found.grid.kept.shape[:4])) + len(found.grid.layers)
    apart = lone(lm, prompts) * tried
    print(f"search of stories15M, 200 prompts, {tried} edits with controls: {spent:.0f} s "
          f"(aim < 300 s); one by one with nothing shared: {apart:.0f} s")  # fmt: skip


def lone(lm, prompts) -> float:
    """Seconds for one edit put to all prompts without anything shared."""
    from dynascope import edits
    from dynascope.language import score

    return median_seconds(
        lambda: score(edits.truncate(lm, layer=3, matrix="mlp_in", keep=0.1), prompts), 3
    )


if __name__ == "__main__":
    main()
