"""`dynascope list`: studies, and everything that an experiment can be made of."""

from __future__ import annotations

import dataclasses
import itertools
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
            metavar="KIND|NAME",
            help=f"One of {', '.join(KINDS)}, or the name of a study, document, task, model ...",
            autocompletion=_names,
            show_default=False,
        ),
    ] = "studies",
    as_json: options.Json = False,
) -> None:
    """List the studies by phenomenon, or look at one thing by name.

    Tasks, models, dynamics, probes and theories come with their settings and defaults, a study
    with its settings at every scale and its claims.

    \b
    Examples
      dynascope list models
      dynascope list swing-by
      dynascope list TiedLinear
    """  # noqa: D301
    if what == "studies":
        _studies(as_json)
    elif what == "quantities":
        _quantities(as_json)
    elif what in PIECES:
        _pieces(what, as_json)
    else:
        _one(what, as_json)


def _names() -> list[str]:
    """Everything that `list` knows, for completion."""
    return [*KINDS, *options.study_names(), *options.piece_names()]


def _one(name: str, as_json: bool) -> None:
    """A study or a piece, by its name."""
    from dynascope.runner import catalogue
    from dynascope.studies import studies

    if name in studies:
        _study(name, as_json)
        return
    found = {piece: kind for kind in PIECES for piece in catalogue(kind)}
    if name not in found:
        raise unknown("kind or name", name, [*KINDS, *studies.names(), *found])
    _pieces(found[name], as_json, name)


def _study(name: str, as_json: bool) -> None:
    """A study: what it is about, its settings at every scale, its claims."""
    from dynascope.core.choices import SCALES
    from dynascope.core.plain import to_plain
    from dynascope.core.sources import cited
    from dynascope.report.settings import setting_rows
    from dynascope.studies import studies

    study = studies.get(name)
    scales = {scale: to_plain(study.at(scale)) for scale in SCALES}
    documents = sorted({str(s.document) for s in study.sources if s.document})
    claims = [{"id": c.id, "statement": c.words, "source": cited(c.sources)} for c in study.claims]
    if as_json:
        emit({"name": name, "phenomenon": study.phenomenon, "title": study.title,
              "source": cited(study.sources), "documents": documents, "settings": scales,
              "claims": claims})  # fmt: skip
        return
    print(f"{study.title}\n{cited(study.sources)}")
    for document in documents:
        print(f"  {document}")
    columns = {scale: dict(setting_rows(plain)) for scale, plain in scales.items()}
    paths = list(dict.fromkeys(path for rows in columns.values() for path in rows if path))
    print()
    table(("setting", *SCALES), [
        (path, *(rows.get(path, "") for rows in columns.values())) for path in paths
    ])  # fmt: skip
    print()
    table(("claim", "statement"), [(c["id"].partition("/")[2], c["statement"]) for c in claims])
    print(f"\ndynascope run {name} --scale smoke --set SETTING=VALUE")


def _studies(as_json: bool) -> None:
    from dynascope.core.sources import cited
    from dynascope.studies import bibliography, studies

    found: list[dict[str, Any]] = [
        {"name": s.name, "phenomenon": s.phenomenon, "title": s.title,
         "source": cited(s.sources), "claims": len(s.claims)}
        for s in sorted(studies, key=lambda s: (s.phenomenon, s.name))
    ]  # fmt: skip
    cites = [d for d in bibliography() if any(d.handle in s["source"] for s in found)]
    if as_json:
        emit({"studies": found, "documents": {d.handle: str(d) for d in cites}})
        return
    for phenomenon, group in itertools.groupby(found, lambda s: s["phenomenon"]):
        rows = [(s["name"], str(s["claims"]), s["title"], s["source"]) for s in group]
        table((phenomenon.replace("-", " "), "claims", "what it shows", "source"), rows)
        print()
    for each in cites:
        print(f"{each.handle}: {each}")
    print("\ndynascope run STUDY --scale smoke")


def _quantities(as_json: bool) -> None:
    from dynascope.core.quantities import quantities

    if as_json:
        emit({"quantities": [dataclasses.asdict(q) for q in quantities]})
        return
    rows = [(q.name, q.symbol, q.unit, q.meaning) for q in quantities]
    table(("quantity", "symbol", "unit", "meaning"), rows)


def _pieces(package: str, as_json: bool, only: str | None = None) -> None:
    from dynascope.runner import catalogue

    found: list[dict[str, Any]] = [
        {"name": name, "meaning": _first_line(cls), "fields": _fields(cls)}
        for name, cls in catalogue(package).items()
        if only in (None, name)
    ]
    if as_json:
        emit({package: found})
        return
    rows: list[tuple[str, str, str]] = []
    for piece in found:
        rows.append((piece["name"], "", piece["meaning"]))
        rows += [(f"  {f['name']}", _text(f), f["type"]) for f in piece["fields"]]
    table((package, "default", "meaning or type"), rows)


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0]


def _fields(cls: Any) -> list[dict[str, Any]]:
    from dynascope.core.plain import to_plain

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
