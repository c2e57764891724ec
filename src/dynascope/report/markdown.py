"""The claims of a study as a GitHub table, for documentation and notebooks."""

from __future__ import annotations

from dynascope.core.records import Claim, StudyResult
from dynascope.report.words import VERDICT_WORDS, control_words, expected_words, measured_words

_HEAD = ("claim", "measured", "expected", "control", "verdict")


def claim_table(result: StudyResult) -> str:
    """One row per claim: what was said, measured and expected, the control, the verdict.

    Args:
        result: What the study found.

    Returns:
        Markdown lines, the last one with its newline.
    """
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_row, result.claims)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(claim: Claim) -> tuple[str, ...]:
    control = "none"
    if claim.control is not None:
        measured = measured_words(claim.control.measured)
        control = f"{claim.control.statement}: {measured}; {control_words(claim.control)}"
    cells = (
        measured_words(claim.measured),
        expected_words(claim.expected),
        control,
        VERDICT_WORDS[claim.verdict],
    )
    first = f"`{_plain(claim.id)}` {_plain(claim.statement)} ({_plain(claim.source)})"
    return first, *map(_plain, cells)


def _plain(text: str) -> str:
    r"""Text that neither ends a cell nor opens a tag.

    Example:
        >>> _plain("a|b <c>")
        'a\\|b &lt;c&gt;'
    """
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(safe.replace("|", "\\|").split())
