"""The chain behind noisy recall with even bigrams, and its exact moments.

Tokens 0 to N - 1 are ordinary, q = 0 is the trigger, tau = N the noise. From any token but q the
next is even over the ordinary ones; from q it is the answer with probability 1 - alpha, else tau.
By symmetry two answers stand for all: q itself, and any other one (token 1 here).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad

TRIGGER = 0
ANSWERS = (0, 1)  # the trigger itself, and one that stands for all others


@dataclass(frozen=True)
class Sequences:
    """The law of the rows.

    Args:
        ordinary: N.
        length: T, the number of positions.
        noise: alpha.
        generic_share: How often an ordinary step gives tau all the same; 0 in the thesis.
    """

    ordinary: int
    length: int
    noise: float
    generic_share: float = 0.0

    def __post_init__(self) -> None:
        """Raise for sizes and shares that make no rows."""
        if self.ordinary < 3 or self.length < 2:
            raise bad("ordinary", self.ordinary, "at least 3 tokens, and a length of at least 2")
        if not 0 <= self.noise <= 1 or not 0 <= self.generic_share < 1:
            raise bad("noise", self.noise, "a number from 0 to 1")

    @property
    def first(self) -> np.ndarray:
        """Probabilities of the first token, and of one that follows an ordinary token."""
        even = np.full(self.ordinary + 1, (1 - self.generic_share) / self.ordinary)
        even[-1] = self.generic_share
        return even

    def after_trigger(self, answer: int) -> np.ndarray:
        """Probabilities of the token after q, p_alpha."""
        found = np.zeros(self.ordinary + 1)
        found[answer] = 1 - self.noise
        found[-1] += self.noise
        return found


class Counts(NamedTuple):
    """Moments of how often tokens occur at the first positions, given the answer."""

    mean: np.ndarray  # E n_k, (tokens,)
    second: np.ndarray  # E n_k n_l, (tokens, tokens)
    pairs: np.ndarray  # E of how often k is followed by l, (tokens, tokens)
    last: np.ndarray  # probabilities of the last of these positions


def token_counts(law: Sequences, answer: int, positions: int | None = None) -> Counts:
    """Exact moments of the counts over the first positions, by recursion.

    With R_t[a, b] = sum over s < t of P(z_s = a, z_t = b), R_{t+1} = (R_t + diag D_t) P.

    Args:
        law: Of the rows.
        answer: 0 for the trigger, any other ordinary token otherwise.
        positions: How many; all of the chain by default, without the trigger that is put last.

    Returns:
        Means, second moments, pairs and the last distribution.

    Example:
        >>> counts = token_counts(Sequences(65, 256, 0.5), answer=0)
        >>> [round(float(counts.mean[k]), 6) for k in (0, 65)]  # n_q and n_tau
        [7.613722, 3.791936]
    """
    steps = law.length if positions is None else positions
    first, special = law.first, law.after_trigger(answer)

    def follow(rows: np.ndarray) -> np.ndarray:  # rows @ P, P being of this simple form
        ordinary = rows.sum(-1, keepdims=True) - rows[..., :1]
        return ordinary * first + rows[..., :1] * special

    d = first.copy()
    mean, before = d.copy(), np.zeros((len(d), len(d)))
    cross, pairs = np.zeros_like(before), np.zeros_like(before)
    for _ in range(steps - 1):
        now = np.diag(d)
        pairs += follow(now)
        before = follow(before + now)
        cross += before
        d = follow(d)
        mean += d
    return Counts(mean, cross + cross.T + np.diag(mean), pairs, d)
