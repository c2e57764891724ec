"""Whether two accuracies differ: on the same questions in pairs, or from printed shares alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Paired(NamedTuple):
    """Two models on the same questions."""

    difference: float  # of accuracies, the second less the first
    low: float  # 95 % interval of the paired bootstrap
    high: float
    p_value: float  # McNemar's exact test, two-sided


def paired(first: np.ndarray, second: np.ndarray, draws: int = 10_000, seed: int = 0) -> Paired:
    """Compare answers that are right or wrong, question by question.

    Args:
        first: Right or not, (question,).
        second: Of the other model.
        draws: Of the bootstrap.
        seed: Of its draws.

    Returns:
        Difference, interval, and McNemar's test on the questions where they disagree.

    Example:
        >>> one = np.array([True] * 5 + [False] * 15)
        >>> two = np.array([True] * 15 + [False] * 5)
        >>> round(paired(one, two).p_value, 5)  # 10 of 10 disagreements: 2 / 2^10
        0.00195
    """
    from scipy.stats import binomtest  # slow to load

    first, second = np.asarray(first, bool), np.asarray(second, bool)
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    p = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    steps = second.astype(float) - first
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(steps), [1 / len(steps)] * len(steps), size=draws)
    low, high = np.quantile(counts @ steps / len(steps), [0.025, 0.975])
    return Paired(float(steps.mean()), float(low), float(high), float(p))


def z_of_shares(first: float, second: float, n: int) -> float:
    """Standard errors between two shares of n independent questions each, the second higher.

    Example:
        >>> round(z_of_shares(0.560, 0.661, 1319), 1)
        5.3
    """
    error = math.sqrt((first * (1 - first) + second * (1 - second)) / n)
    return (second - first) / error


def sign_pattern(signs: int) -> float:
    """How likely one given pattern of signs or its opposite is, if each is a coin's.

    Example:
        >>> sign_pattern(12) == 2 / 4096
        True
    """
    return 2.0 ** (1 - signs)
