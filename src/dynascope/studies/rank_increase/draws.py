"""Statements about drawn problems: in how many of the draws one is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.studies.comparisons import Bound
from dynascope.studies.measures import share
from dynascope.studies.nodes import Missing


def drawn(first_seed: int, seeds: int) -> tuple[int, ...]:
    """The seeds of some draws.

    Example:
        >>> drawn(100, 3)
        (100, 101, 102)
    """
    return tuple(range(first_seed, first_seed + seeds))


def share_within(numbers: Iterable[float | Missing], allowed: Bound) -> Measured | Missing:
    """The share of draws whose number is allowed, among those that have one.

    Where one is not a number, nothing is measured.

    Example:
        >>> from dynascope.studies.comparisons import at_most
        >>> found = share_within([0.1, 0.3, Missing("no stage")], at_most(0.2, "ours"))
        >>> found.value, found.n
        (0.5, 2)
    """
    found = list(numbers)
    known = [n for n in found if not isinstance(n, Missing)]
    if not known:
        return next(iter(found), Missing("nothing was drawn"))  # type: ignore[return-value]
    return share([np.nan if np.isnan(n) else float(allowed.accepts(n)) for n in known])


def from_to(number: Callable[..., float | Missing], what: str) -> Callable[..., str]:
    """A note for a claim about draws: between which values a number of each lies.

    Args:
        number: Of one draw, and of what else the claim's measuring function gets.
        what: Its name in words.

    Returns:
        A function of the own case, for `note=` of a claim.
    """

    def note(draws: dict[Any, Any], *options: Any) -> str:
        found = (number(one, *options) for one in draws.values())
        known = [n for n in found if not isinstance(n, Missing)]
        low, high = (f"{end(known):.3g}" for end in (np.min, np.max))
        values = low if low == high else f"{low} to {high}"
        return f"{what} of each of {len(known)} draws: {values}."

    return note
