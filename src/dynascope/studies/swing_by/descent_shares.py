"""Claims about how many random starts descend how often; bound by the study of multiple descent.

`found.counts` are the descents of every start, by name of the run.
"""

from __future__ import annotations

from typing import Any

from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, share, single


@claim(
    "uniform-starts-text",
    "One does not have to search long: at least one in twenty uniform starts descends three "
    "times with A and the caption's clusters.",
    "001 Fig. 8 (tuned seed)",
)
def uniform_text(study: Any, found: Any) -> Evidence:
    """Share of starts with three descents; wide Gaussian starts must have none."""
    return _shares(found, 0.05, 3, "three concepts, text", "three concepts, wide")


@claim(
    "uniform-starts-squared",
    "With A squared in its place, at least a third do.",
    "authors' program for 001 Fig. 8 against (4.1)",
)
def uniform_squared(study: Any, found: Any) -> Evidence:
    """Share of starts with three descents; with A there are fewer."""
    return _shares(found, 1 / 3, 3, "three concepts, squared", "three concepts, text")


@claim(
    "uniform-starts-program",
    "With the program's own clusters, at least 15 % do.",
    "authors' program for 001 Fig. 8",
)
def uniform_program(study: Any, found: Any) -> Evidence:
    """Share of starts with three descents; wide Gaussian starts must have none."""
    return _shares(found, 0.15, 3, "three concepts, program", "three concepts, wide")


@claim(
    "four-descents-program",
    "With four concepts and A squared, at least one in twenty uniform starts descends four times.",
    "authors' program for 001 Fig. 9",
)
def four_program(study: Any, found: Any) -> Evidence:
    """Share of starts with four descents; with A there are hardly any."""
    return _shares(found, 0.05, 4, "four concepts, program", "four concepts, text")


@claim(
    "four-descents-need-tuning",
    "With A and the caption's clusters four descents need a tuned seed: at most 3 % of the "
    "starts have them.",
    "001 Fig. 9 (tuned seed)",
)
def four_text(study: Any, found: Any) -> Evidence:
    """Share of starts with four descents; with A squared there are more."""
    text, program = (found.counts[f"four concepts, {n}"] >= 4 for n in ("text", "program"))
    return compare(at_most(0.03), share(text), ("A squared, equal scales", share(program)))


@claim(
    "never-more-than-concepts",
    "No start descends more often than there are concepts: three.",
    "001 E.1, as the picture of one suppression per concept implies",
)
def never_more(study: Any, found: Any) -> Evidence:
    """Largest count with three concepts; four concepts must exceed three."""
    most = max(int(c.max()) for n, c in found.counts.items() if n.startswith("three"))
    control = ("four concepts", single(found.counts["four concepts, program"].max()))
    return compare(at_most(3), single(most), control)


@claim(
    "wide-starts-descend-once",
    "Gaussian starts of width 8 descend once: rows of a wide U are nearly uncorrelated.",
    "001 E.1 on the scale of minor entries, (E.1)",
)
def wide(study: Any, found: Any) -> Evidence:
    """Share with a single descent; narrow uniform starts must mostly have more."""
    control = ("uniform starts of width 3", share(found.counts["three concepts, text"] == 1))
    return compare(at_least(0.9), share(found.counts["three concepts, wide"] == 1), control)


def _shares(found: Any, least: float, times: int, here: str, there: str) -> Evidence:
    """Share of random starts with so many descents, against that of a control."""
    control = (there, share(found.counts[there] >= times))
    return compare(at_least(least), share(found.counts[here] >= times), control)
