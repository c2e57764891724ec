"""Options that several commands take, and what the shell may complete in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.core.errors import BadInput, bad, unknown

PICTURES = ("png", "svg", "pdf")


def study_names() -> list[str]:
    """Every study's name, read from the source: the shell should not wait for jax."""
    folder = Path(__file__).parent.parent / "studies"
    name = re.compile(r'tag="studies\.([a-z0-9-]+)"')
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))
    return [found for text in texts for found in name.findall(text)]


def piece_names(*packages: str) -> list[str]:
    """Class names of tasks, models and so on, read from the source like those of studies."""
    root, found = Path(__file__).parent.parent, list[str]()
    for package in packages or ("tasks", "models", "dynamics", "probes", "theories"):
        text = (root / package / "__init__.py").read_text(encoding="utf-8")
        public = text.partition("__all__ = [")[2]
        base = re.findall(
            r"\w+", text.partition(f"from dynascope.{package}.base import ")[2].split("\n")[0]
        )
        found += [n for n in re.findall(r'"([A-Z]\w+)"', public) if n not in base]
    return found


def setting_paths() -> list[str]:
    """Paths such as `model.width=`, of every class that an experiment can be made of."""
    root, found = Path(__file__).parent.parent, dict[str, None]()
    field = re.compile(r"^    ([a-z]\w*): ", re.MULTILINE)
    for kind, package in (("task", "tasks"), ("model", "models"), ("dynamics", "dynamics")):
        for path in sorted((root / package).rglob("*.py")):
            for block in re.split(r"^@dataclass", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
                head = block.partition("\n    def ")[0].rpartition('"""')[2]
                found |= dict.fromkeys(f"{kind}.{name}=" for name in field.findall(head))
    return list(found)


def document_handles() -> list[tuple[str, str]]:
    """Every document of the bibliography with its title."""
    from dynascope.studies import bibliography

    return [(d.handle, d.title) for d in bibliography()]


def record_ids() -> list[tuple[str, str]]:
    """Every record's id with its label."""
    from dynascope.store import Store

    return [(entry.id, entry.label) for entry in Store().runs()]


def check_picture(out: Path | None) -> None:
    """Raise unless a chart can be drawn into this file."""
    if out is not None and out.suffix[1:] not in PICTURES:
        raise unknown("picture format", out.suffix[1:] or str(out), PICTURES)
    if out is not None and not out.absolute().parent.is_dir():
        raise bad("--out", str(out), "a file in a folder that exists")


def refuse_with(option: str, given: Mapping[str, Any]) -> None:
    """Raise if options are given that would do nothing beside another."""
    if idle := [name for name, value in given.items() if value]:
        raise BadInput(f"{option} has nothing to do for {', '.join(idle)}: leave one of them out")


Study = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="Its name, see `dynascope list`.", autocompletion=study_names
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        metavar="HANDLE",
        help="Only what cites this document, such as chen2025.",
        autocompletion=document_handles,
    ),
]
Record = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="Id or a unique beginning of it; last, or a study's name, for the newest.",
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
        autocompletion=setting_paths,
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
