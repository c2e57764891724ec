"""Exact population gradients of the simplified layer, Eq. 4.2 of chen2025.

x_t = W_E(z_t) + W'_E(z_{t-1}), phi = sum over t of a_t W_V x_t, logits W_U phi + W_U W_F x_T, all
embeddings orthonormal, so that rows of tokens are all there is: with features (e_{z_t},
e_{z_{t-1}}) of size 2 (N + 1), W_V is a matrix (tokens, features). Even attention; z_T = q.
The first position has no token before it, and its second feature is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.recall.sequences import TRIGGER, Sequences, token_counts


class Features(NamedTuple):
    """Of rows with one answer: mean of the averaged features, and their spread within a row."""

    mean: np.ndarray  # mu = E mean_t phi_t, (2 tokens,)
    within: np.ndarray  # G = E[mean_t phi_t phi_t^T - mean phi mean phi^T], (2 tokens, 2 tokens)


def features(law: Sequences, answer: int) -> Features:
    """Exact features of rows whose last token is the trigger."""
    counts, t = token_counts(law, answer, law.length - 1), law.length
    q = np.eye(law.ordinary + 1)[TRIGGER]
    n, m = counts.mean, counts.second
    mean = np.concatenate([n + q, n]) / t  # tokens at 1..T, tokens before them
    here = np.diag(n + q)
    before = np.diag(n)
    pairs = counts.pairs.T + np.outer(q, counts.last)  # (token, token before it)
    second = np.block([[here, pairs], [pairs.T, before]]) / t
    nn = m + np.outer(n, q) + np.outer(q, n) + np.outer(q, q)
    nm = m + np.outer(q, n)
    product = np.block([[nn, nm], [nm.T, m]]) / t**2
    return Features(mean, second - product)


class Population:
    """All answers together: answers even over the ordinary tokens, or over all but the trigger.

    Args:
        law: Of the rows.
        with_trigger: Whether the trigger itself may be the answer, as the thesis has it.
    """

    def __init__(self, law: Sequences, with_trigger: bool = True) -> None:
        self.law, self.with_trigger = law, with_trigger
        self.own, self.other = features(law, 0), features(law, 1)

    @property
    def tokens(self) -> int:
        """N + 1."""
        return self.law.ordinary + 1

    @property
    def answers(self) -> np.ndarray:
        """The answers that occur, all equally often."""
        return np.arange(0 if self.with_trigger else 1, self.law.ordinary)

    def labels(self) -> np.ndarray:
        """p(y | answer), (answers, tokens)."""
        return np.stack([self.law.after_trigger(int(a)) for a in self.answers])

    def settled(self) -> np.ndarray:
        """What is predicted once W_F has learned: the labels' frequencies over all answers."""
        return self.labels().mean(0)

    def value_gradient(self, predicted: np.ndarray) -> np.ndarray:
        """-grad W_V, (tokens, features): mean of (p(y | answer) - predicted) mu^T."""
        residual = self.labels() - predicted
        means = np.stack([self._swapped(self._features(a).mean, a) for a in self.answers])
        return residual.T @ means / len(self.answers)

    def attention_gradient(self, values: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """-grad W_QK at the query W_E(q), (features,): mean of (p - predicted)^T W_V G.

        The logit of a position that follows token i and holds j is v[j] + v[N + 1 + i].
        """
        pulls = (self.labels() - predicted) @ values  # (answers, features)
        total = np.zeros(2 * self.tokens)
        for pull, answer in zip(pulls, self.answers, strict=True):
            swapped = self._swapped(pull, answer)
            total += self._swapped(swapped @ self._features(answer).within, answer)
        return total / len(self.answers)

    def _features(self, answer: int) -> Features:
        return self.own if answer == TRIGGER else self.other

    def _swapped(self, vector: np.ndarray, answer: int) -> np.ndarray:
        """Token 1, which stands for any answer, and the answer change places."""
        if answer in (TRIGGER, 1):
            return vector
        order = np.arange(self.tokens)
        order[[1, answer]] = order[[answer, 1]]
        return vector[np.concatenate([order, order + self.tokens])]


def feed_forward_gradient(population: Population, predicted: np.ndarray) -> np.ndarray:
    """-grad W_F at the query W_E(q), (tokens,)."""
    return population.settled() - predicted
