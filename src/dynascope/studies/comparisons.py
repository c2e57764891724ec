"""The few ways to decide a claim, and the evidence that a claim rests on.

A bound accepts or refuses a number. The same bound is put to the measurement and to the
control: a claim holds only if the measurement is accepted beyond two standard errors and
the control is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dynascope.core.records import Claim, Control, Measured, VerdictWord


@dataclass(frozen=True)
class Bound:
    """Numbers from `low` to `high`; None leaves a side open."""

    low: float | None = None
    high: float | None = None
    value: float | None = None  # the predicted value, where the bound is a tolerance around it

    def accepts(self, number: float) -> bool:
        """Whether a number lies within the bound."""
        above = self.low is None or number >= self.low
        return above and (self.high is None or number <= self.high)

    def words(self) -> dict[str, float | None]:
        """The bound as a record stores it."""
        return {"low": self.low, "high": self.high} | (
            {} if self.value is None else {"value": self.value}
        )

    def verdict(self, measured: Measured) -> VerdictWord:
        """`holds` or `fails` if two standard errors do not change the answer, else `undecided`.

        Example:
            >>> at_least(0.5).verdict(Measured(0.6, 0.1, 100))
            'holds'
            >>> at_least(0.5).verdict(Measured(0.51, 0.1, 25))
            'undecided'
        """
        if measured.value is None or math.isnan(measured.value):
            return "undecided"
        around = [measured.value + k * measured.error for k in (-2, 0, 2)]
        answers = {self.accepts(number) for number in around}
        spanned = any(b is not None and around[0] < b < around[2] for b in (self.low, self.high))
        if len(answers) > 1 or spanned:  # an interval wider than the bound decides nothing
            return "undecided"
        return "holds" if answers.pop() else "fails"


def at_least(low: float) -> Bound:
    """Numbers of at least `low`."""
    return Bound(low=low)


def at_most(high: float) -> Bound:
    """Numbers of at most `high`."""
    return Bound(high=high)


def between(low: float, high: float) -> Bound:
    """Numbers from `low` to `high`."""
    return Bound(low, high)


def near(value: float, tolerance: float) -> Bound:
    """Numbers within an absolute tolerance of a predicted value."""
    return Bound(value - tolerance, value + tolerance, value)


def share(flags: np.ndarray) -> Measured:
    """The share of seeds for which something is true.

    The spread is that of a yes-or-no draw, with one yes and one no added: a share of 0 of 20
    is not certain to be 0.

    Example:
        >>> share(np.array([True, False, True, False])).value
        0.5
    """
    flags = np.asarray(flags, bool).ravel()
    n = len(flags)
    p = (flags.sum() + 1) / (n + 2)
    return Measured(float(flags.mean()), float(np.sqrt(p * (1 - p))), n)


def average(values: np.ndarray) -> Measured:
    """Mean over seeds, with its spread."""
    values = np.asarray(values, float).ravel()
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return Measured(float(values.mean()), spread, len(values))


def single(value: float) -> Measured:
    """A number that has no spread: a closed form, or a worst case over everything measured."""
    return Measured(float(value))


@dataclass(frozen=True)
class Evidence:
    """What a claim rests on: measurement, expectation, control."""

    measured: Measured
    expected: Bound | str
    verdict: VerdictWord
    control: Control | None
    note: str = ""

    def claim(self, id: str, statement: str, source: str) -> Claim:
        """The judged claim."""
        expected = self.expected.words() if isinstance(self.expected, Bound) else self.expected
        return Claim(
            id, statement, source, self.measured, expected, self.verdict, self.control, self.note
        )


def compare(
    bound: Bound, measured: Measured, control: tuple[str, Measured], note: str = ""
) -> Evidence:
    """Put the same bound to the measurement and to the control.

    Args:
        bound: What is expected.
        measured: What was found.
        control: In words, the case in which the claim must fail, and what was found there.
        note: What else the reader should know.

    Returns:
        The evidence. A claim whose control passes too decides nothing: `undecided`.
    """
    words, found = control
    check = Control(words, found, bound.verdict(found))
    verdict = bound.verdict(measured)
    if verdict == "holds" and check.verdict != "fails":
        note = f"{note} The control does not fail, so nothing is decided.".strip()
        verdict = "undecided"
    return Evidence(measured, bound, verdict, check, note)


def not_applicable(why: str) -> Evidence:
    """A claim that says nothing about these settings."""
    return Evidence(Measured(None, None, 0), "-", "not_applicable", None, why)
