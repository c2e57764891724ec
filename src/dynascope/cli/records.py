"""`dynascope runs`, `show` and `forget`: what is in the results folder."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, encoding, say, table
from dynascope.core.choices import ORDERS, RECORD_KINDS
from dynascope.core.errors import BadInput, bad, unknown
from dynascope.core.printable import printable


def runs(
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(RECORD_KINDS),
            help="Only these.",
            autocompletion=lambda: [*RECORD_KINDS],
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only what belongs to it.", autocompletion=options.study_names
        ),
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only labels, ids and outcomes with it.")
    ] = None,
    sort: Annotated[
        str,
        typer.Option(metavar="|".join(ORDERS), help="By what.", autocompletion=lambda: [*ORDERS]),
    ] = "age",
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Only the first N; all by default.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List what is stored, the newest first.

    Damaged records are marked.

    \b
    Examples
      dynascope runs --study swing-by --limit 10
      dynascope runs --kind run --search learning_rate --sort size
    """  # noqa: D301
    if kind not in (None, *RECORD_KINDS):
        raise unknown("kind", str(kind), RECORD_KINDS)
    if sort not in ORDERS:
        raise unknown("order", sort, ORDERS)
    if limit is not None and limit < 1:
        raise bad("--limit", limit, "at least 1")
    from dynascope.report.words import duration, size
    from dynascope.store import Store

    store = Store()
    matching = store.runs(kind, study)  # type: ignore[arg-type]
    if search:
        wanted = search.lower()
        matching = [e for e in matching if wanted in f"{e.id} {e.label} {e.outcome}".lower()]
    matching.sort(key=ORDERS[sort])  # stable: the newest first
    found = matching[:limit]
    if as_json:
        emit({"home": str(store.home), "records": [asdict(e) for e in found]})
        return
    rows = [
        (e.id, e.kind, e.label, e.outcome, size(e.size), duration(e.seconds), age(e.created))
        if not e.damaged
        else (e.id, "damaged", e.damaged, "", "", "", "")
        for e in found
    ]
    if rows:
        table(("id", "kind", "label", "outcome", "size", "took", "age"), rows)
    shown = f" of {len(matching)}" if len(found) < len(matching) else ""
    say(f"{len(found)}{shown} record{'s' * (len(matching) != 1)} in {store.home}")


def age(created: str) -> str:
    """How long ago a moment was, as people say it."""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "now"


def show(record: options.Record, as_json: options.Json = False) -> None:
    """Show a record: verdicts, runs, settings, the command behind it."""
    from dynascope.report.settings import setting_rows
    from dynascope.report.spelling import spelled
    from dynascope.runner.remake import remake
    from dynascope.store import Store, index

    store = Store()
    name = index.resolve(store.records, record)
    manifest = store.manifest(name)
    command = remake(store, name, manifest)
    result: Any = store.load(name) if manifest["kind"] == "study" else None
    if as_json:
        found = (
            {"claims": [asdict(c) for c in result.claims], "runs": result.runs} if result else {}
        )
        emit({"id": name, **manifest, **found, "remake": command})
        return
    table(("record", name), _about(manifest))
    print()
    if result:
        _verdicts(result)
    table(("setting", "value"), [row for row in setting_rows(manifest["spec"]) if row[0]])
    print(f"\nTo make it again:\n\n{spelled(command, encoding())}")


def _verdicts(result: Any) -> None:
    """A line for every claim, why some are open, and the records behind them."""
    from dynascope.report.words import VERDICT_WORDS, expected_words, measured_words, summary

    rows = [
        (VERDICT_WORDS[c.verdict], c.id.partition("/")[2], measured_words(c.measured),
         expected_words(c.expected), c.quantity)
        for c in result.claims
    ]  # fmt: skip
    table(("verdict", "claim", "measured", "expected", "quantity"), rows)
    open_ = [c for c in result.claims if c.verdict in ("undecided", "not_applicable") and c.note]
    if open_:
        print()
        table(("claim", "why it is open"), [(c.id.partition("/")[2], c.note) for c in open_])
    runs = printable(" ".join(result.runs)) or "none"
    print(f"\n{summary(result.claims)}\n\nruns: {runs}\n")


def _about(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    from dynascope.report.settings import setting_rows
    from dynascope.report.words import duration

    rows = [(key, str(manifest[key])) for key in ("kind", "label", "fingerprint", "outcome")]
    rows += [
        (
            "created",
            f"{manifest['created'][:19].replace('T', ' ')} UTC, {age(manifest['created'])}",
        ),
        ("took", duration(manifest["seconds"])),
    ]
    told = ("device", "machine", "processor", "versions", "code_unknown")
    return rows + setting_rows({k: v for k, v in manifest["attrs"].items() if k in told})


def forget(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="Ids or unique beginnings of them; last, or a study's name, for the newest.",
            autocompletion=options.record_ids,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.Json = False,
) -> None:
    """Remove records from the results folder, after asking."""
    from dynascope.runner.reporting import forget as forget_record
    from dynascope.store import Store, index

    store = Store()
    names = list(dict.fromkeys(index.resolve(store.records, r) for r in records))
    if not yes:
        _ask(names)
    for name in names:
        forget_record(name, store)
    if as_json:
        emit({"forgotten": names})
    else:
        print(f"forgotten: {', '.join(names)}")


def _ask(names: list[str]) -> None:
    what = f"forget {', '.join(names)}"
    if not sys.stdin.isatty():
        raise BadInput(f"cannot ask whether to {what}: stdin is no terminal; add --yes to do it")
    say(f"{what}? This cannot be undone. [y/N]")
    if input().strip().lower() not in ("y", "yes"):
        raise BadInput("nothing was forgotten")
