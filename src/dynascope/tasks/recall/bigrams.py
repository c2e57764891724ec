"""Which token follows which: evenly, or as letters do in a text."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynascope.data import load_text


class Bigrams(NamedTuple):
    """Probabilities of the first token and of every following one."""

    initial: np.ndarray  # (tokens,)
    follow: np.ndarray  # (token, next token), rows that sum to 1

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return len(self.initial)

    @property
    def first(self) -> np.ndarray:
        """Cumulative probabilities of the first token, float32, the last at least 1."""
        return _cumulative(self.initial)

    @property
    def cumulative(self) -> np.ndarray:
        """The same for every following one."""
        return _cumulative(self.follow)

    def entropy(self, without: tuple[int, ...] = ()) -> float:
        """What a rule that knows the bigrams loses at a token, in nats: H(next | token).

        Args:
            without: Tokens that are left out.

        Returns:
            The mean over the other tokens, as often as they occur.

        Example:
            >>> round(float(np.exp(bigrams("uniform", 4).entropy())), 6)
            4.0
        """
        logs = np.log(np.where(self.follow > 0, self.follow, 1.0))
        return float(self._often(without) @ -(self.follow * logs).sum(1))

    def accuracy(self, without: tuple[int, ...] = ()) -> float:
        """How often the likeliest next token is the right one."""
        return float(self._often(without) @ self.follow.max(1))

    def _often(self, without: tuple[int, ...]) -> np.ndarray:
        often = np.where(np.isin(np.arange(self.tokens), without), 0.0, self.initial)
        return often / often.sum()

    def padded(self, count: int) -> Bigrams:
        """With tokens that nothing leads to, after which the next is as the first."""
        more = count - self.tokens
        initial = np.append(self.initial, np.zeros(more))
        follow = np.pad(self.follow, ((0, 0), (0, more)))
        return Bigrams(initial, np.vstack([follow, np.tile(initial, (more, 1))]))


def _cumulative(probabilities: np.ndarray) -> np.ndarray:
    found = np.cumsum(probabilities, axis=-1)
    ends = np.cumsum(probabilities[..., ::-1], axis=-1)[..., ::-1] <= 0  # nothing comes after
    found[ends] = 2.0
    last = np.arange(found.shape[-1]) == found.shape[-1] - 1
    return np.where(last | (found >= 1 - 1e-9), 2.0, found).astype(np.float32)


@lru_cache(maxsize=8)
def bigrams(name: str, ordinary: int) -> Bigrams:
    """Even bigrams over so many tokens ("uniform"), or those of a text's letters.

    The letters of a text are the different bytes of all of it, in order; the last letter has no
    next one. A letter that is only last is followed like a first one.

    Example:
        >>> bigrams("uniform", 4).follow[1].tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    if name == "uniform":
        even = np.full(ordinary, 1 / ordinary)
        return Bigrams(even, np.tile(even, (ordinary, 1)))
    text = load_text(name)
    letters, numbers = np.unique(
        np.frombuffer(text.train + text.test, np.uint8), return_inverse=True
    )
    counts = np.zeros((len(letters), len(letters)))
    np.add.at(counts, (numbers[:-1], numbers[1:]), 1)
    initial = np.bincount(numbers) / len(numbers)
    totals = counts.sum(1, keepdims=True)
    return Bigrams(initial, np.where(totals > 0, counts / np.maximum(totals, 1), initial))
