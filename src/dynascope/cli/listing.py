"""`dynascope list`: studies, and everything that an experiment can be made of."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import unknown

PIECES = ("tasks", "models", "dynamics", "probes", "theories")
KINDS = ("studies", *PIECES, "quantities")


def list_things(
    what: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"One of {', '.join(KINDS)}.",
            autocompletion=lambda: list(KINDS),
            show_default=False,
        ),
    ] = "studies",
    as_json: options.Json = False,
) -> None:
    """List the studies, or what experiments are made of.

    Tasks, models, dynamics, probes and theories come with their settings and defaults.
    """
    if what not in KINDS:
        raise unknown("kind", what, KINDS)
    if what == "studies":
        _studies(as_json)
    elif what == "quantities":
        _quantities(as_json)
    else:
        _pieces(what, as_json)


def _studies(as_json: bool) -> None:
    from dynascope.studies import studies

    found: list[dict[str, Any]] = [
        {"name": s.name, "title": s.title, "source": s.source, "claims": len(s.claims())}
        for s in sorted(studies, key=lambda s: s.name)
    ]
    if as_json:
        emit({"studies": found})
        return
    rows = [(s["name"], str(s["claims"]), s["title"], s["source"]) for s in found]
    table(("study", "claims", "title", "source"), rows)
    print("dynascope run STUDY --scale smoke")


def _quantities(as_json: bool) -> None:
    from dynascope.core.quantities import quantities

    if as_json:
        emit({"quantities": [dataclasses.asdict(q) for q in quantities]})
        return
    rows = [(q.name, q.symbol, q.unit, q.meaning) for q in quantities]
    table(("quantity", "symbol", "unit", "meaning"), rows)


def _pieces(room: str, as_json: bool) -> None:
    from dynascope.sweeps import catalogue

    found: list[dict[str, Any]] = [
        {"name": name, "meaning": _first_line(cls), "fields": _fields(cls)}
        for name, cls in catalogue(room).items()
    ]
    if as_json:
        emit({room: found})
        return
    rows: list[tuple[str, str, str]] = []
    for piece in found:
        rows.append((piece["name"], "", piece["meaning"]))
        rows += [(f"  {f['name']}", _text(f), f["type"]) for f in piece["fields"]]
    table((room, "default", "meaning or type"), rows)


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0]


def _fields(cls: Any) -> list[dict[str, Any]]:
    from dynascope.core.spec import to_plain

    found = []
    for field in dataclasses.fields(cls):
        required = field.default is field.default_factory is dataclasses.MISSING
        default = {} if required else {"default": to_plain(field.default)}
        found.append({"name": field.name, "type": _type(field.type), **default})
    return found


def _type(annotation: Any) -> str:
    """The annotation, with the choices of a literal as they are typed."""
    choices = re.sub(r"Literal\[(.*?)\]", lambda m: m[1].replace(", ", " | "), str(annotation))
    return choices.replace('"', "")


def _text(field: dict[str, Any]) -> str:
    return json.dumps(field["default"]) if "default" in field else "(needed)"
