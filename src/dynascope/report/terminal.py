"""Verdicts for the terminal, in the letters that its encoding has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynascope.core.records import Claim, StudyResult, VerdictWord
from dynascope.report.spelling import spelled
from dynascope.report.words import (
    VERDICT_SIGNS,
    VERDICT_WORDS,
    control_words,
    controls,
    expected_words,
    left_out,
    measured_words,
    summary,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

WIDE = 100  # columns; with fewer, claims stand below each other instead of in a table
_STYLES: dict[VerdictWord, str] = {
    "holds": "bold green",
    "fails": "bold red",
    "undecided": "bold yellow",
    "not_applicable": "dim",
}


def verdict_table(result: StudyResult) -> RenderableType:
    """The claims of a study with their verdicts, for `rich.print`.

    Args:
        result: What the study found.

    Returns:
        A renderable that fits itself to the width and the encoding of the console.
    """
    return _Verdicts(result)


class _Verdicts:
    """The interface through which rich tells how wide the console is and what it can write."""

    def __init__(self, result: StudyResult) -> None:
        self.result = result

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.text import Text

        def words(text: str, style: str = "") -> Text:
            return Text(spelled(text, options.encoding), style)

        claims = self.result.claims
        heading = f"{self.result.title} ({self.result.study}, scale {self.result.scale})"
        yield words(heading, "bold")
        show = _table if options.max_width >= WIDE else _list
        judged = tuple(c for c in claims if not left_out(c))
        stated = tuple(c for c in judged if not c.exploratory)
        if stated:
            yield show(stated, words)
        if len(stated) < len(judged):
            yield words("Exploratory: readings of ours that no document states", "bold")
            yield show(tuple(c for c in judged if c.exploratory), words)
        for reason, names in _reasons(claims).items():
            yield words("– not applicable  ", _STYLES["not_applicable"]).append_text(
                words(f"{reason}: ", "not dim").append_text(words(", ".join(names), "dim"))
            )
        yield words(summary(claims))


def _reasons(claims: tuple[Claim, ...]) -> dict[str, list[str]]:
    """Which claims were not measured, by reason: one line for all of a data set or panel."""
    found: dict[str, list[str]] = {}
    for claim in filter(left_out, claims):
        found.setdefault(claim.note.rstrip("."), []).append(claim.id.rpartition("/")[2])
    return found


def _table(claims: tuple[Claim, ...], words: Any) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.ROUNDED, show_lines=True, expand=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", ratio=5)
    table.add_column("measured", ratio=3)
    table.add_column("expected", ratio=2)
    table.add_column("controls", ratio=4)
    for claim in claims:
        statement = words(f"{claim.id}\n", "dim").append_text(words(claim.statement))
        statement.append_text(words(f"\n{claim.source}", "dim"))
        if claim.note:
            statement.append_text(words(f"\n{claim.note}", "italic"))
        measured = words(measured_words(claim.measured).replace(" (", "\n("))
        if claim.quantity:
            measured.append_text(words(f"\n{claim.quantity}", "dim"))
        expected = words(expected_words(claim.expected))
        table.add_row(_badge(claim, words), statement, measured, expected, _control(claim, words))
    return table


def _list(claims: tuple[Claim, ...], words: Any) -> Any:
    from rich.console import Group
    from rich.padding import Padding

    parts = []
    for claim in claims:
        head = _badge(claim, words).append_text(words(f"  {claim.id}", "not bold dim"))
        body = words(f"{claim.statement}\n{claim.source}\n")
        body.append_text(words(f"measured: {measured_words(claim.measured)}; "))
        body.append_text(words(f"expected: {expected_words(claim.expected)}\n"))
        body.append_text(words(f"quantity: {claim.quantity}\n" if claim.quantity else "", "dim"))
        body.append_text(_control(claim, words))
        if claim.note:
            body.append_text(words(f"\n{claim.note}", "italic"))
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Group(*parts)


def _badge(claim: Claim, words: Any) -> Any:
    sign, word = VERDICT_SIGNS[claim.verdict], VERDICT_WORDS[claim.verdict]
    return words(f"{sign} {word}", _STYLES[claim.verdict])


def _control(claim: Claim, words: Any) -> Any:
    text = words("")
    for i, (must, control, as_it_must) in enumerate(controls(claim)):
        found = f"{control.statement}: {measured_words(control.measured)}; "
        text.append_text(words("\n" if i else "")).append_text(words(f"{must}: ", "dim"))
        text.append_text(words(found))
        style = "green" if as_it_must else "bold red"
        text.append_text(words(control_words(control, as_it_must), style))
    return text if controls(claim) else words("none", "dim")
