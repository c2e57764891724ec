"""`dynascope runs`, `show` and `forget`: what is in the results folder."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, say, table
from dynascope.core.errors import BadInput, unknown

KINDS = ("study", "run")


def runs(
    kind: Annotated[
        str | None,
        typer.Option(metavar="|".join(KINDS), help="Only these.", autocompletion=lambda: [*KINDS]),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only what belongs to it.", autocompletion=options.study_names
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List what is stored, the newest first; damaged records are marked."""
    if kind not in (None, *KINDS):
        raise unknown("kind", str(kind), KINDS)
    from dynascope.report.words import duration, size
    from dynascope.store import Store

    store = Store()
    found = store.runs(kind, study)  # type: ignore[arg-type]
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
    say(f"{len(found)} record{'s' * (len(found) != 1)} in {store.home}")


def age(created: str) -> str:
    """How long ago a moment was, as people say it."""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "now"


def show(record: options.Record, as_json: options.Json = False) -> None:
    """Show a record's origin, settings and the command behind it."""
    from dynascope.cli.remake import remake
    from dynascope.report.settings import setting_rows
    from dynascope.store import Store, index

    store = Store()
    name = index.resolve(store.records, record)
    manifest = store.manifest(name)
    command = remake(store, name, manifest)
    if as_json:
        emit({"id": name, **manifest, "remake": command})
        return
    table(("record", name), _about(manifest))
    print()
    table(("setting", "value"), [row for row in setting_rows(manifest["spec"]) if row[0]])
    print(f"\nTo make it again:\n\n{command}")


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
    attrs = {k: v for k, v in manifest["attrs"].items() if k in ("device", "machine", "versions")}
    return rows + setting_rows(attrs)


def forget(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="Ids, unique beginnings of them, or last.",
            autocompletion=options.record_ids,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: options.Json = False,
) -> None:
    """Remove records from the results folder, after asking."""
    from dynascope.store import Store, index
    from dynascope.sweeps.reporting import forget as forget_record

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
