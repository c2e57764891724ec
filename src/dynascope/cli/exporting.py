"""`dynascope report` and `dynascope export`: stored records as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit
from dynascope.core.errors import bad, unknown


def report(
    record: options.Record,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; the results folder by default.")
    ] = None,
    open_: options.Open = False,
    as_json: options.Json = False,
) -> None:
    """Write the report of a stored study anew and print where it is."""
    from dynascope.sweeps import Outcome, write_report

    store, name, result = _study(record, "a report")
    path = write_report(Outcome(result, name, True, store), out).resolve()
    if as_json:
        emit({"record": name, "report": str(path)})
    else:
        print(path)
    if open_:
        typer.launch(path.as_uri())


def export(
    record: options.Record,
    form: Annotated[
        str,
        typer.Option(
            metavar="|".join(options.FORMS),
            help="Tables, or one file that keeps the axes (runs only).",
            autocompletion=lambda: list(options.FORMS),
        ),
    ] = "csv",
    figures: Annotated[
        list[str] | None,
        typer.Option(
            metavar="|".join(options.PICTURES),
            help="Also draw a study's charts; may be repeated.",
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
    from dynascope.store import Store, index
    from dynascope.sweeps import write_figures

    store = Store()
    name = index.resolve(store.records, record)
    folder = out or Path(f"dynascope-{name}")
    drawn = _study(name, "figures")[2] if figures else None
    paths = store.export(name, folder, form)  # type: ignore[arg-type]
    if drawn:
        paths += write_figures(drawn, folder, figures or ())
    if as_json:
        emit({"record": name, "files": [str(path.resolve()) for path in paths]})
    else:
        print("\n".join(map(str, paths)))


def _study(record: str, what: str) -> tuple[Any, str, Any]:
    """The store, the id and the result of a record that must be a study."""
    from dynascope.core.records import StudyResult
    from dynascope.store import Store, index

    store = Store()
    name = index.resolve(store.records, record)
    result = store.load(name)
    if not isinstance(result, StudyResult):
        hint = "see `dynascope runs --kind study`"
        raise bad("record", name, f"a study: {what} can be made of studies only", hint)
    return store, name, result
