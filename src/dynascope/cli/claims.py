"""`dynascope claims`: every claim of every study with its last verdict; runs nothing."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import unknown

VERDICTS = ("holds", "fails", "undecided", "not_applicable", "outdated", "not_run")


def claims(
    source: options.Source = None,
    study: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this study.", autocompletion=options.study_names),
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(VERDICTS),
            help="Only those whose last verdict it is.",
            autocompletion=lambda: list(VERDICTS),
        ),
    ] = None,
    items: Annotated[
        bool,
        typer.Option(
            "--items", help="List numbered figures, tables, theorems, ... with their claims."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List every claim with its last stored verdict; nothing is run.

    \b
    Examples
      dynascope claims --source chen2025 --verdict fails
      dynascope claims --study swing-by --json
      dynascope claims --items --source yang2025
    """  # noqa: D301
    if verdict not in (None, *VERDICTS):
        raise unknown("verdict", str(verdict), VERDICTS)
    if items:
        _items(source, as_json)
        return
    from dynascope.runner import claim_rows
    from dynascope.store import Store

    every = claim_rows(Store(), source=source, study=study)
    rows = [row for row in every if verdict in (None, row["verdict"])]
    if as_json:
        emit({"claims": rows})
        return
    if rows:
        columns = ("claim", "verdict", "scale", "measured", "expected", "statement", "source")
        table(columns, [_row(row) for row in rows])
    counts = {v: sum(r["verdict"] == v for r in rows) for v in VERDICTS}
    told = ", ".join(f"{n} {v.replace('_', ' ')}" for v, n in counts.items() if n)
    noun = "claim" if len(rows) == 1 else "claims"
    print(f"{len(rows)} {noun}{': ' if told else ''}{told}")
    hidden = sum(row["verdict"] == "outdated" for row in every) - counts["outdated"]
    if hidden:
        print(f"not among them: {hidden} that are outdated, see --verdict outdated")
    if counts["outdated"] or hidden:
        print(
            "outdated: judged by other words, bounds, code, data sets or another rule than today's;"
            " dynascope run judges anew on the stored runs"
        )


def _items(source: str | None, as_json: bool) -> None:
    """The numbered items of a document, or of all, with the claims about them."""
    from dataclasses import asdict

    from dynascope.studies import bibliography
    from dynascope.studies.coverage import coverage

    rows = coverage(source and bibliography().get(source).handle)
    if as_json:
        emit({"items": [asdict(row) | {"open": row.open} for row in rows]})
        return
    words = [(f"{r.document} {r.item}", ", ".join(r.claims) or r.reason or "open") for r in rows]
    table(("item", "claims, or why there are none"), words)
    about, waiting = sum(bool(r.claims) for r in rows), sum(r.open for r in rows)
    print(f"{len(rows)} numbered items: {about} with claims, {waiting} open")


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    from dynascope.core.records import Measured
    from dynascope.report.words import expected_words, measured_words

    measured = measured_words(Measured(**row["measured"])) if row["measured"] else ""
    expected = "" if row["expected"] is None else expected_words(row["expected"])
    said = row["verdict"].replace("_", " ")
    if row["verdict"] == "outdated":
        said += f" ({row['last'].replace('_', ' ')})"
    return row["id"], said, row["scale"] or "", measured, expected, row["statement"], row["source"]
