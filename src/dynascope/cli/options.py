"""Options that several commands take, and what the shell may complete in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

SCALES = ("smoke", "laptop", "paper")
FORMS = ("csv", "netcdf", "parquet")
PICTURES = ("png", "svg", "pdf")


def study_names() -> list[str]:
    """Every study's name, read from the source: the shell should not wait for jax."""
    folder = Path(__file__).parent.parent / "studies"
    name = re.compile(r'^    name: ClassVar\[str\] = "([^"]+)"', re.MULTILINE)
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))
    return [found for text in texts for found in name.findall(text)]


def record_ids() -> list[tuple[str, str]]:
    """Every record's id with its label."""
    from dynascope.store import Store

    return [(entry.id, entry.label) for entry in Store().runs()]


Study = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="Its name, see `dynascope list`.", autocompletion=study_names
    ),
]
Record = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The record's id, a unique beginning of it, or last for the newest.",
        autocompletion=record_ids,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change a setting, such as task.means=[1,2]; may be repeated.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print plan and estimated cost, and run nothing.")
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Compute although it is stored; the results must agree."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
