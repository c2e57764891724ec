"""Table C.1 of chen2025: the gradient of W_V at zero, entry by entry.

Gamma(j, k) = (1 / (N + 1) - 1{y = j}) n_k / T. The printed variances of the rows j <= N take
1 / (N + 1) for the square of 1 / (N + 1), so that all seven are too large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dynascope.theories.recall.sequences import Counts, Sequences, token_counts

Formula = Callable[[float], float]  # of alpha


class Entry(NamedTuple):
    """One row of the table: mean N^m, and variance = part_t / (T N^e) + part_n / N^(e + 1)."""

    output: str  # j: "tau", "q" or "other"
    token: str  # k: "tau", "q", "other", or "same" for k = j
    mean: Formula
    printed: tuple[Formula, Formula]
    corrected: tuple[Formula, Formula]


def _times(rest: Formula) -> Formula:
    return lambda a: (1 - a) * rest(a)


_ONE: Formula = lambda a: 1.0  # noqa: E731
_TWO: Formula = lambda a: 2 - a  # noqa: E731
_EVEN = ((_TWO, _TWO), (_times(_ONE), _times(_ONE)))  # printed and corrected of four rows
_SAME = (lambda a: a, lambda a: a - a**2)
TABLE = (
    Entry("tau", "tau", lambda a: -(a**2), *((lambda a: a**2, lambda a: a**3 - a**4),) * 2),
    Entry("tau", "q", lambda a: -a, _SAME, _SAME),
    Entry("tau", "other", lambda a: -a, _SAME, _SAME),
    Entry("q", "tau", lambda a: 2 * a - 1, (_ONE, lambda a: a**2 - a + 1), _EVEN[1]),
    Entry(
        "q", "q", lambda a: (2 * a - 1) / a,
        (lambda a: (a**3 - a**2 - a + 2) / a**3, lambda a: (a**2 - a + 1) / a**2),
        (_times(lambda a: (2 / a - 1) / a), _times(lambda a: 1 / a**2)),
    ),
    Entry("q", "other", lambda a: a, *_EVEN),
    Entry(
        "other", "tau", lambda a: a**2, (lambda a: (2 - a) * a, lambda a: (2 - a) * a**2),
        (_times(lambda a: a), _times(lambda a: a**2)),
    ),
    Entry("other", "q", lambda a: a, *_EVEN),
    Entry(
        "other", "same", lambda a: -(a**2) + 3 * a - 1,
        (lambda a: 1 + (1 - a) * (2 - a), lambda a: 1 + (1 - a) * (2 - a) ** 2),
        (_times(_TWO), _times(lambda a: (2 - a) ** 2)),
    ),
    Entry("other", "other", lambda a: a, *_EVEN),
)  # fmt: skip


def predicted(entry: Entry, law: Sequences, which: str = "corrected") -> tuple[float, float]:
    """Mean and variance of an entry by the table.

    Example:
        >>> mean, _ = predicted(TABLE[8], Sequences(65, 256, 0.3))
        >>> round(mean * 65**2, 2)
        -0.19
    """
    n, t, a = law.ordinary, law.length, law.noise
    power = 1 if entry.output == "tau" else 2
    first, second = entry.printed if which == "printed" else entry.corrected
    return entry.mean(a) / n**power, first(a) / (t * n**power) + second(a) / n ** (power + 1)


class ValueMoments:
    """Exact moments of the entries; the counts are worked out once for a law."""

    def __init__(self, law: Sequences) -> None:
        self.law = law
        self.counts = {answer: token_counts(law, answer) for answer in (0, 1)}

    def of(self, entry: Entry) -> tuple[float, float]:
        """Mean and variance, over answers, rows and labels."""
        first = second = 0.0
        for share, counts, label, token in self._cases(entry):
            u = 1 / (self.law.ordinary + 1)
            n1, n2 = counts.mean[token], counts.second[token, token]
            first += share * (u - label) * n1 / self.law.length
            weight = u**2 * (1 - label) + (u - 1) ** 2 * label
            second += share * weight * n2 / self.law.length**2
        return float(first), float(second - first**2)

    def _cases(self, entry: Entry) -> list[tuple[float, Counts, float, int]]:
        """(share of answers, counts, P(y = j), token k) with the answers that differ for j, k.

        Token 0 is q; among the others 1 is the answer, 2 and 3 are not.
        """
        n, a = self.law.ordinary, self.law.noise
        own, others = self.counts[0], self.counts[1]
        code = {"tau": -1, "q": 0}
        found = []
        for answer in ("q", "j", "k", "else"):
            counts = own if answer == "q" else others
            j = code.get(entry.output, 1 if answer == "j" else 2)
            same = entry.token == "same"
            k = j if same else code.get(entry.token, 1 if answer == "k" else 3)
            share = 1 / n
            if answer == "j" and entry.output != "other":
                continue
            if answer == "k" and entry.token != "other":
                continue
            if answer == "else":
                distinct = (entry.output == "other") + (entry.token == "other")
                share = (n - 1 - distinct) / n
            label = a if entry.output == "tau" else (1 - a) * self._is_answer(entry, answer)
            found.append((share, counts, label, k))
        return found

    @staticmethod
    def _is_answer(entry: Entry, answer: str) -> float:
        return float(answer == ("q" if entry.output == "q" else "j"))
