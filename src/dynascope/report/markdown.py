"""The claims of a study as a GitHub table, for documentation and notebooks."""

from __future__ import annotations

from dynascope.core.records import Claim, StudyResult
from dynascope.report.words import (
    VERDICT_WORDS,
    control_words,
    controls,
    expected_words,
    measured_words,
)

_HEAD = ("claim", "measured", "expected", "controls", "verdict")


def claim_table(result: StudyResult) -> str:
    """One row per claim: what was said, measured and expected, the controls, the verdict.

    Args:
        result: What the study found.

    Returns:
        Markdown lines, the last one with its newline.
    """
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_row, result.claims)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(claim: Claim) -> tuple[str, ...]:
    cases = (
        f"{must}: {c.statement}: {measured_words(c.measured)}; {control_words(c, as_it_must)}"
        for must, c, as_it_must in controls(claim)
    )
    cells = (
        measured_words(claim.measured),
        expected_words(claim.expected),
        ". ".join(cases) or "none",
        VERDICT_WORDS[claim.verdict],
    )
    mark = " (exploratory)" if claim.exploratory else ""
    first = f"`{_plain(claim.id)}`{mark} {_plain(claim.statement)} ({_plain(claim.source)})"
    return first, *map(_plain, cells)


def _plain(text: str) -> str:
    r"""Text that neither ends a cell nor opens a tag.

    Example:
        >>> _plain("a|b <c>")
        'a\\|b &lt;c&gt;'
    """
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(safe.replace("|", "\\|").split())
