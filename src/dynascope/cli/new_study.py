"""`dynascope new-study`: a package with a study of one's own, from the files in `template`.

The study itself is the template of CONTRIBUTING.md; a test compares the two.
"""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit
from dynascope.core.errors import BadInput, bad

PLACES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "study.py": "src/MODULE/__init__.py",
    "test_study.py": "tests/test_study.py",
}


def new_study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the study, such as my-study.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to; a folder that is new or empty.")
    ],
    as_json: options.Json = False,
) -> None:
    """Write a Python package with a study of your own and its test.

    Installed packages add their studies to dynascope: they are listed, run, stored and
    reported like the built-in ones.

    \b
    Example
      dynascope new-study my-study my-study
    """  # noqa: D301
    if name in options.study_names():
        raise BadInput(f"{name} is a built-in study; take another name")
    paths = _write(name, folder)
    if as_json:
        emit({"study": name, "files": [str(path) for path in paths]})
        return
    print("\n".join(map(str, paths)))
    print(f"next: pip install -e {folder} && dynascope run {name} --scale smoke")


def template(file: str, name: str) -> str:
    """A file of the template for a study of this name."""
    text = files("dynascope.cli").joinpath("template", f"{file}.txt").read_text(encoding="utf-8")
    return text.replace("NAME", name).replace("MODULE", name.replace("-", "_"))


def _write(name: str, folder: Path) -> list[Path]:
    """Write the package into a folder that is empty or not there."""
    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or keyword.iskeyword(module):
        raise bad("name", name, "small letters, digits and single hyphens, such as my-study")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there and not empty; name a folder that is new")
    paths = []
    for file, place in PLACES.items():
        path = folder / place.replace("MODULE", module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template(file, name), encoding="utf-8")
        paths.append(path)
    return paths
