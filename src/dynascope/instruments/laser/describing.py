"""A language model before and after an edit, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynascope.edits import Selection, apply, kept
from dynascope.edits.changes import words
from dynascope.language.attribution import Attribution
from dynascope.language.model import LanguageModel
from dynascope.language.prompts import Encoded
from dynascope.language.scoring import last_logits, scores_of, top_tokens
from dynascope.language.search import Found

SHOWN = 3  # prompts whose next tokens are told
CONTROLS = {
    "random_there": "random directions there, mean of 8 draws",
    "smallest_there": "the smallest directions there",
    "dropped_there": "that layer without its feed-forward part",
    "best_random": "the best of random directions anywhere",
    "best_dropped": "the best layer to drop the feed-forward part of",
}


def describe_model(model: LanguageModel, prompts: Encoded) -> dict[str, Any]:
    """What a model says after the prompts: means, and the next tokens of the first few."""
    logits = last_logits(model, prompts)
    scores = scores_of(logits, prompts)
    shown = top_tokens(model, logits[:SHOWN])
    return {
        **{k: None if np.isnan(v) else v for k, v in scores.told().items()},
        "top": [
            {"prompt": prompt.text, "tokens": [[token, p] for token, p in row]}
            for prompt, row in zip(prompts.prompts, shown)
        ],
    }


def describe_edit(model: LanguageModel, prompts: Encoded, edit: Selection) -> dict[str, Any]:
    """A truncation: what it keeps, and what the model says after it."""
    left = kept(model, edit)
    return {
        "edit": words(edit), "layer": edit.layer, "matrix": edit.matrix, "rank": left.rank,
        "shape": list(left.shape), "energy": left.energy,
        **describe_model(apply(model, edit), prompts),
    }  # fmt: skip


def describe_search(found: Found) -> dict[str, Any]:
    """What the search chose, and its controls, on the prompts that were held out."""
    return {
        "chosen_on": len(found.chosen_on),
        "held_out": len(found.held_out),
        "before": found.base,
        "best": found.best.told(),
        "controls": {words_: getattr(found, name).told() for name, words_ in CONTROLS.items()},
        "edits_tried": int(np.prod(found.grid.kept.shape[1:4])),
    }


def describe_attribution(series: Sequence[tuple[str, Attribution]]) -> list[dict[str, Any]]:
    """Who writes the generic token, for each checkpoint."""
    return [
        {"model": name, "difference": float(found.whole.mean()), "parts": found.told()}
        for name, found in series
    ]
