"""Statements that measurements contradict, with their numbers, as a page of Markdown.

`python -m dynascope.runner.contradicted` writes it from what is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dynascope.core.records import Claim, StudyResult
from dynascope.core.sources import Document
from dynascope.report.words import expected_words, measured_words

HEAD = """\
# Contradicted statements

What the documents say and the measurement contradicts: of the studies named at the end, every
claim whose verdict is `fails`, that is not `exploratory`, and whose bound is printed in the
document or derived from it. Claims with a bound of ours are left out. Each row has what was
measured, what was expected, and the case in which the same measurement holds as it must, which
shows that it can see the phenomenon. `dynascope run STUDY` makes each number anew. Written by
`python -m dynascope.runner.contradicted` from stored results.
"""

HEADING = re.compile(r"## .* \((\w+)\)$")
ROW = re.compile(r"`(([\w-]+)/[\w-]+)`, scale")
RESTS = "## What it rests on"
BEHIND = re.compile(r"`([\w-]+)` \((\w+)\)")  # a study and its scale


def contradicted(results: Iterable[StudyResult]) -> list[tuple[StudyResult, Claim]]:
    """The claims of documents that fail, in the order of their ids."""
    found = [
        (result, claim)
        for result in results
        for claim in result.claims
        if claim.verdict == "fails" and not claim.exploratory and claim.origin != "ours"
    ]
    return sorted(found, key=lambda pair: pair[1].id)


def contradicted_page(
    results: Sequence[StudyResult], documents: Iterable[Document], earlier: str = ""
) -> str:
    """The page: a section for each document, a row for each claim.

    Args:
        results: Of studies.
        documents: In the order of their sections.
        earlier: A page as it was written before; it speaks for the studies of no result.

    Returns:
        Markdown.
    """
    new = {result.study for result in results}
    behind = BEHIND.findall(earlier.partition(RESTS)[2])
    scales = {study: scale for study, scale in behind if study not in new}
    scales |= {result.study: result.scale for result in results}
    found = contradicted(results)
    rows = {claim.id: (_first(claim), _row(result, claim)) for result, claim in found}
    handle = ""
    for line in earlier.splitlines():
        if heading := HEADING.match(line):
            handle = heading[1]
        elif (row := ROW.search(line)) and row[2] not in new:
            rows[row[1]] = handle, line
    parts = [HEAD]
    for document in documents:
        own = [row for _, (handle, row) in sorted(rows.items()) if handle == document.handle]
        if own:
            parts += [f"## {document.title} ({document.handle})\n"]
            parts += [
                "| statement | measured | expected | holds, as it must |",
                "|---|---|---|---|",
            ]
            parts += [*own, ""]
    words = [f"`{study}` ({scale})" for study, scale in sorted(scales.items())]
    parts += [f"{RESTS}\n", f"{len(words)} studies: {', '.join(words)}.", ""]
    return "\n".join(parts)


def _first(claim: Claim) -> str:
    """The handle of the document that says it; corrections and derivations begin otherwise."""
    return claim.source.split()[0]


def _row(result: StudyResult, claim: Claim) -> str:
    control = claim.positive
    shown = f"{control.statement}: {measured_words(control.measured)}" if control else ""
    place = f"{claim.source}; `{claim.id}`, scale {result.scale}"
    cells = (
        f"{claim.statement} ({place})", f"{claim.quantity} {measured_words(claim.measured)}",
        expected_words(claim.expected), shown,
    )  # fmt: skip
    return "| " + " | ".join(cell.strip().replace("|", r"\|") for cell in cells) + " |"
