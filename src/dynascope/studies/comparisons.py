"""Bounds: which numbers a claim allows, and where that comes from.

The same bound is put to a claim's own case and to its controls; see `judging`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dynascope.core.records import Measured, Origin, VerdictWord
from dynascope.numerics import intervals

MOST = 0.5  # of all seeds: what the seeds seen must show before "in all seeds" holds


@dataclass(frozen=True)
class Bound:
    """Numbers from `low` to `high`; None leaves a side open."""

    low: float | None = None
    high: float | None = None
    value: float | None = None  # the predicted value, where the bound is a tolerance around it
    origin: Origin = "ours"  # printed in the document, derived from it, or chosen here
    every: bool = False  # whether the claim is about all seeds; then the measurement is a share

    def accepts(self, number: float) -> bool:
        """Whether a number lies within the bound."""
        above = self.low is None or number >= self.low
        return above and (self.high is None or number <= self.high)

    def words(self) -> dict[str, float | None]:
        """The bound as a record stores it."""
        value = {} if self.value is None else {"value": self.value}
        return {"low": self.low, "high": self.high} | value | ({"every": 1.0} if self.every else {})

    def verdict(self, measured: Measured) -> VerdictWord:
        """`holds` if the whole 95 % interval is allowed, `fails` if none of it, else `undecided`.

        Example:
            >>> at_least(0.5, "ours").verdict(Measured(0.6, 0.1, 100, 0.58, 0.62))
            'holds'
            >>> at_least(0.5, "ours").verdict(Measured(0.51, 0.1, 25, 0.47, 0.55))
            'undecided'
        """
        value, low, high = measured.value, measured.low, measured.high
        if value is None or low is None or high is None or math.isnan(value + low + high):
            return "undecided"
        if self.every and measured.kind != "share":
            raise TypeError("a statement about all seeds is put to the share of seeds that keep it")
        if self.every:  # one seed refutes; those seen are said to be all only if they say enough
            return "fails" if value < 1 else "holds" if low >= MOST else "undecided"
        if (self.low is not None and high < self.low) or (
            self.high is not None and low > self.high
        ):
            return "fails"
        return "holds" if self.accepts(low) and self.accepts(high) else "undecided"


def at_least(low: float, origin: Origin) -> Bound:
    """Numbers of at least `low`."""
    return Bound(low=low, origin=origin)


def at_most(high: float, origin: Origin) -> Bound:
    """Numbers of at most `high`."""
    return Bound(high=high, origin=origin)


def between(low: float, high: float, origin: Origin) -> Bound:
    """Numbers from `low` to `high`."""
    return Bound(low, high, origin=origin)


def near(value: float, tolerance: float, origin: Origin) -> Bound:
    """Numbers within an absolute tolerance of a predicted value."""
    return Bound(value - tolerance, value + tolerance, value, origin)


def in_all_seeds(origin: Origin) -> Bound:
    """A share of 1: a statement about every seed, put to the `share` of seeds that keep it.

    One seed that breaks it refutes it. It holds if no seed seen breaks it and there are enough
    of them (six) to say at 95 % that most seeds keep it; the interval says how many.

    Example:
        >>> [in_all_seeds("printed").verdict(Measured(1.0, 0.0, n, 0.025 ** (1 / n), 1.0, "share"))
        ...  for n in (5, 6)]
        ['undecided', 'holds']
    """
    return Bound(low=1.0, origin=origin, every=True)


def seeds_needed(measured: Measured, bound: Bound) -> int | None:
    """About how many seeds would decide, if value and spread stayed what they are.

    Args:
        measured: What is undecided.
        bound: What it is put to.

    Returns:
        A number of seeds, or None where no number would: nothing random, a value on the bound.

    Example:
        >>> seeds_needed(Measured(0.6, 0.1, 2, -0.3, 1.5), at_least(0.5, "ours"))
        7
    """
    if measured.value is None or measured.kind == "exact" or math.isnan(measured.value):
        return None
    n = max(measured.n, 1)
    while n < 10**7:
        n = math.ceil(n * 1.1) + 1 if n > 100 else n + 1
        if bound.verdict(_with_seeds(measured, n)) != "undecided":
            return n
    return None


def _with_seeds(measured: Measured, n: int) -> Measured:
    """The same value and spread, had there been `n` seeds."""
    assert measured.value is not None
    if measured.kind == "share":
        interval = intervals.of_share(round(measured.value * n), n)
    else:
        spread = math.nan if measured.spread is None else measured.spread
        interval = intervals.around(measured.value, spread / n**0.5, n - 1)
    low, high = interval or (None, None)
    return Measured(measured.value, measured.spread, n, low, high, measured.kind)
