"""Lemmas C.4 to C.10 of chen2025: how often a token occurs, as printed, corrected and exact.

With x = T / N: the moments for large N and T. The printed second moment of the trigger's count,
where the answer is the trigger itself, has 2 / alpha^2 in the place of 2 / alpha.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from dynascope.theories.recall.sequences import Counts, Sequences, token_counts


class CountLemma(NamedTuple):
    """Which token is counted in which rows."""

    name: str
    answer: int  # 0: the trigger itself
    token: int  # -1: the noise token, 2: any other


LEMMAS = (
    CountLemma("C.4", 0, 0), CountLemma("C.5", 0, -1), CountLemma("C.6", 0, 2),
    CountLemma("C.7", 1, 0), CountLemma("C.8", 1, -1), CountLemma("C.9", 1, 1),
    CountLemma("C.10", 1, 2),
)  # fmt: skip


def count_moments(
    lemma: CountLemma, law: Sequences, which: Literal["printed", "corrected"] = "corrected"
) -> tuple[float, float]:
    """E n and E n^2 for large N and T.

    Example:
        >>> law = Sequences(200, 5000, 0.5)
        >>> mean, second = count_moments(LEMMAS[0], law)
        >>> round(second - mean**2, 6)  # the printed formula gives 350, exactly it is 145
        150.0
    """
    x, a = law.length / law.ordinary, law.noise
    if lemma.name == "C.4":
        power = 2 if which == "printed" else 1
        return x / a, (x / a) * (2 / a**power - 1) + (x / a) ** 2
    rate = {"C.8": a, "C.9": 2 - a}.get(lemma.name, 1.0) * x
    return rate, rate + rate**2


def exact_moments(lemma: CountLemma, law: Sequences) -> tuple[float, float]:
    """E n and E n^2 by recursion."""
    return moments_of(token_counts(law, lemma.answer), lemma)


def moments_of(counts: Counts, lemma: CountLemma) -> tuple[float, float]:
    """The two moments of a lemma's token."""
    return float(counts.mean[lemma.token]), float(counts.second[lemma.token, lemma.token])


def closed_mean(lemma: CountLemma, law: Sequences) -> float:
    """E n in closed form, for any N and T; the trigger that is put last is not counted.

    Example:
        >>> round(closed_mean(LEMMAS[5], Sequences(65, 256, 0.5)), 6)
        5.81095
    """
    n, t, a = law.ordinary, law.length, law.noise
    if lemma.answer == 0:
        r, d = 1 - a - 1 / n, a + 1 / n
        first, rate = {0: (r, 1.0), -1: (a, a), 2: (-1 / n, a)}[lemma.token]
    else:
        r, d = -1 / n, 1 + 1 / n
        first, rate = {
            0: (-1 / n, 1.0), -1: (a, a), 1: (1 - a - 1 / n, 2 - a), 2: (-1 / n, 1.0)
        }[lemma.token]  # fmt: skip
    delta = first / d * (1 - r**t)
    return (rate * t / n - delta / n) / d


def arithmetic_geometric(a: float, terms: int) -> float:
    """Lemma C.13: the sum of t a^t for t from 1 on.

    Example:
        >>> arithmetic_geometric(2.0, 3)  # 2 + 8 + 24
        34.0
    """
    return float(a * (1 - a**terms) / (a - 1) ** 2 + terms * a ** (terms + 1) / (a - 1))


def with_last_trigger(law: Sequences) -> float:
    """How much the trigger that is put last adds to the trigger's count, as a share (C.7)."""
    mean = exact_moments(LEMMAS[3], law)[0]
    return float(np.divide(1.0, mean))
