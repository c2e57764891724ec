"""A study as pages show it: what is declared, and what is stored of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dynascope.core.records import Claim, StudyResult
from dynascope.report.words import VERDICT_WORDS

ALL_VERDICTS: dict[str, str] = {str(v): words for v, words in VERDICT_WORDS.items()}
ALL_VERDICTS["not_run"] = "not run"


@dataclass(frozen=True)
class Stated:
    """A claim as declared, with its last verdict if its study was run."""

    id: str
    statement: str
    source: str
    documents: tuple[str, ...] = ()  # handles
    how: str = ""  # what was done with the place, where it was not simply read: "corrects"
    must_fail: str = ""  # the case in which it must fail, in words
    must_hold: str = ""
    expected: dict[str, float | None] | str = ""  # "" where it is worked out from the run
    note: str = ""
    partner: str | None = None  # the id of the claim that states the same as printed, or corrected
    exploratory: bool = False
    judged: Claim | None = None
    quantity: str = ""  # what the measured number is
    current: bool = True  # whether it was judged by today's words, bound and code

    @property
    def verdict(self) -> str:
        """The last verdict, or "not_run"."""
        return self.judged.verdict if self.judged else "not_run"

    @property
    def slug(self) -> str:
        """The id without its study."""
        return self.id.partition("/")[2] or self.id


def stated(claim: Claim) -> Stated:
    """A judged claim by itself, without the study that declares it.

    Example:
        >>> from dynascope.core.records import Measured
        >>> claim = Claim("a/b", "It falls.", "", Measured(None), "", "undecided", None)
        >>> stated(claim).verdict, stated(claim).slug
        ('undecided', 'b')
    """
    return Stated(
        claim.id, claim.statement, claim.source, note=claim.note, expected=claim.expected,
        partner=claim.partner, exploratory=claim.exploratory, judged=claim,
        quantity=claim.quantity,
    )  # fmt: skip


@dataclass(frozen=True)
class StudyEntry:
    """A study: what is declared, and its newest stored result if there is one."""

    name: str
    title: str
    phenomenon: str
    source: str
    documents: tuple[str, ...]  # handles of the documents that it cites
    claims: tuple[Stated, ...]
    notes: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)  # of its default scale
    result: StudyResult | None = None
    current: bool = True  # whether claims, code and rule are still those of the result
    command: str = ""  # that makes the result, or makes it again


def tally(claims: tuple[Stated, ...]) -> list[tuple[str, int]]:
    """How many claims have which verdict, in a fixed order, without zeros.

    Example:
        >>> tally((Stated("a/b", "", ""), Stated("a/c", "", "")))
        [('not_run', 2)]
    """
    counts = Counter(c.verdict for c in claims)
    return [(verdict, counts[verdict]) for verdict in ALL_VERDICTS if counts[verdict]]
