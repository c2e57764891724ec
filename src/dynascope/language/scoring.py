"""What a model says after prompts: how likely are the answer and the generic token?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from dynascope.language.model import LanguageModel
from dynascope.language.prompts.encoding import NONE, Encoded

BATCH = 64  # texts at a time


class Scores(NamedTuple):
    """Natural logarithms of probabilities, (prompt,); nan where there is no such answer."""

    answer: np.ndarray
    generic: np.ndarray
    other: np.ndarray
    top: np.ndarray  # the most likely token
    rank: np.ndarray  # of the generic token, 1 is the most likely

    @property
    def log_ratio(self) -> np.ndarray:
        """Logarithm of p(answer) / p(generic) of every prompt."""
        return self.answer - self.generic

    @property
    def ratio(self) -> float:
        """Geometric mean over prompts of p(answer) / p(generic)."""
        return float(np.exp(self.log_ratio.mean()))

    def told(self) -> dict[str, Any]:
        """Means, as plain data."""
        return {
            "answer": float(np.exp(self.answer).mean()),
            "generic": float(np.exp(self.generic).mean()),
            "other": float(np.exp(self.other).mean()),
            "ratio": self.ratio,
            "generic_rank": float(self.rank.mean()),
        }


def scores_of(logits: np.ndarray, prompts: Encoded) -> Scores:
    """Scores from the last logits, (prompt, word).

    Example:
        >>> one = Encoded((), ((0,),), np.array([1]), np.array([0]), np.array([NONE]), ())
        >>> found = scores_of(np.log(np.array([[0.5, 0.25, 0.25]])), one)
        >>> round(found.ratio, 6), found.rank.tolist()
        (0.5, [1])
    """
    log_p = log_softmax(logits.astype(float), axis=1)
    rows = np.arange(len(log_p))

    def at(tokens: np.ndarray) -> np.ndarray:
        return np.where(tokens == NONE, np.nan, log_p[rows, tokens])

    generic = at(prompts.generic)
    rank = 1 + (log_p > generic[:, None]).sum(1)
    return Scores(at(prompts.answer), generic, at(prompts.other), log_p.argmax(1), rank)


def score(model: LanguageModel, prompts: Encoded) -> Scores:
    """What a model says after each prompt."""
    return scores_of(last_logits(model, prompts), prompts)


def last_logits(model: LanguageModel, prompts: Encoded) -> np.ndarray:
    """The logits after each prompt, some prompts at a time: (prompt, word)."""
    parts = range(0, len(prompts.texts), BATCH)
    return np.concatenate([model.last_logits(prompts.texts[i : i + BATCH]) for i in parts])


def top_tokens(
    model: LanguageModel, logits: np.ndarray, count: int = 5
) -> list[list[tuple[str, float]]]:
    """The most likely next tokens after each prompt, with their probabilities."""
    p = np.exp(log_softmax(logits.astype(float), axis=1))
    order = np.argsort(-p, axis=1)[:, :count]
    return [[(model.decode([i]), float(row[i])) for i in best] for row, best in zip(p, order)]
