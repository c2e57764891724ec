"""Rows of noisy recall drawn with numpy, and the margins after one step of gradient descent.

A program of its own, so that it is a witness for the exact moments: no chain, no recursion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.recall.first_step import bernstein, feed_forward_margin, label_gradient
from dynascope.theories.recall.sequences import Sequences


class Rows(NamedTuple):
    """Tokens (rows, T), the last the trigger, and labels (rows,)."""

    tokens: np.ndarray
    labels: np.ndarray


def drawn(law: Sequences, count: int, rng: np.random.Generator) -> Rows:
    """Rows with answers even over all ordinary tokens."""
    n, t = law.ordinary, law.length
    answers = rng.integers(0, n, count)
    tokens = np.empty((count, t), np.int64)
    tokens[:, 0] = rng.integers(0, n, count)
    for i in range(1, t):
        recalled = np.where(rng.random(count) < law.noise, n, answers)
        tokens[:, i] = np.where(tokens[:, i - 1] == 0, recalled, rng.integers(0, n, count))
    tokens[:, -1] = 0
    labels = np.where(rng.random(count) < law.noise, n, answers)
    return Rows(tokens, labels)


class Steps(NamedTuple):
    """Margins of the noise after one step at rate 1, one for each training set."""

    feed_forward: np.ndarray
    attention: np.ndarray  # with the previous token's part, as Eq. 4.2 has it
    token_alone: np.ndarray  # without it, as the proof has it
    share: np.ndarray  # of the noise token in the test row


def margins(law: Sequences, rows: int, batches: int, rng: np.random.Generator) -> Steps:
    """One step from zero on each training set, put to a test row of its own."""
    found = []
    for _ in range(batches):
        train, test = drawn(law, rows, rng), drawn(law, 1, rng).tokens[0]
        found.append(_margins(law, train, test))
    return Steps(*map(np.array, zip(*found, strict=True)))


def _margins(law: Sequences, train: Rows, test: np.ndarray) -> tuple[float, ...]:
    size, t = law.ordinary + 1, law.length
    residual = np.eye(size)[train.labels] - 1 / size  # (rows, tokens)
    here, before = (_shares(a, size, t) for a in (train.tokens, train.tokens[:, :-1]))
    value, previous = residual.T @ here / len(here), residual.T @ before / len(here)
    own, prior = _shares(test[None], size, t)[0], _shares(test[None, :-1], size, t)[0]
    token = value @ own
    both = token + previous @ prior
    frequencies = np.bincount(train.labels, minlength=size) / len(train.labels)
    noise_share = float(np.mean(test == law.ordinary))
    return (
        float(feed_forward_margin(frequencies)), float(both[-1] - both[:-1].max()),
        float(token[-1] - token[:-1].max()), noise_share,
    )  # fmt: skip


def _shares(tokens: np.ndarray, size: int, length: int) -> np.ndarray:
    """How often each token occurs in each row, over T: (rows, tokens)."""
    offsets = tokens + size * np.arange(len(tokens))[:, None]
    counts = np.bincount(offsets.ravel(), minlength=size * len(tokens))
    return counts.reshape(len(tokens), size) / length


def coverage(
    ordinary: int, noise: float, samples: int, delta: float, draws: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Which draws of m labels keep the bound of Lemma C.1 at all tokens."""
    probabilities = np.append(np.full(ordinary, (1 - noise) / ordinary), noise)
    labels = rng.multinomial(samples, probabilities, draws) / samples
    gradients = 1 / (ordinary + 1) - labels
    found = {}
    for which in ("printed", "corrected"):
        law = label_gradient(ordinary, noise, which)
        bound = bernstein(law, samples, delta)
        found[which] = (np.abs(gradients - law.mean) <= bound).all(1)
    law = label_gradient(ordinary, noise)
    off, bound = np.abs(gradients - law.mean), bernstein(law, samples, delta)
    for words, factor in (("a twentieth of the bound", 1 / 20), ("three times the bound", 3)):
        found[words] = (off <= factor * bound).all(1)
    return found
