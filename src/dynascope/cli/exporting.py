"""`dynascope report` and `dynascope export`: stored records as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit
from dynascope.core.choices import FORMS
from dynascope.core.errors import unknown


def report(
    record: options.Record,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; the results folder by default.")
    ] = None,
    open_: options.Open = False,
    as_json: options.Json = False,
) -> None:
    """Write the report of a stored study, run, sweep or watched run."""
    from dynascope.runner import write_report
    from dynascope.store import Store
    from dynascope.watching.reporting import read_any

    outcome, command = read_any(record, Store())
    path = write_report(outcome, out, command).resolve()
    if as_json:
        emit({"record": outcome.record, "report": str(path)})
    else:
        print(path)
    if open_:
        typer.launch(path.as_uri())


def export(
    record: options.Record,
    form: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMS),
            help="Tables, or one file that keeps the axes (runs only).",
            autocompletion=lambda: list(FORMS),
        ),
    ] = "csv",
    figures: Annotated[
        list[str] | None,
        typer.Option(
            metavar="|".join(options.PICTURES),
            help="Also draw the charts of a study or sweep; may be repeated.",
            autocompletion=lambda: list(options.PICTURES),
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to; dynascope-ID by default.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write a stored record as files for other programs."""
    for picture in figures or ():
        if picture not in options.PICTURES:
            raise unknown("picture format", picture, options.PICTURES)
    from dynascope.runner import write_figures
    from dynascope.store import Store, index
    from dynascope.watching.reporting import read_any

    store = Store()
    name = index.resolve(store.records, record)
    folder = out or Path(f"dynascope-{name}")
    drawn = read_any(name, store)[0].result if figures else None
    paths = store.export(name, folder, form)  # type: ignore[arg-type]
    if drawn:
        paths += write_figures(drawn, folder, figures or ())
    if as_json:
        emit({"record": name, "files": [str(path.resolve()) for path in paths]})
    else:
        print("\n".join(map(str, paths)))
