"""The code behind a study, as a digest: a stored answer is valid for the same code only.

Studies of ours are known by the text of their files: a computation by that of its module and of
all that this imports, down to the numerics, a result by that of the study's folder and of all
packages that a study may import. Anybody else's code is walked (`core/code.py`); where it cannot
be known, nothing stored may answer.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from dynascope.core.code import code_of
from dynascope.core.source_text import ROOT, text_digest
from dynascope.core.spec import is_ours
from dynascope.studies.imports import rests_on
from dynascope.studies.study import Study

# What describes studies and documents computes nothing.
DESCRIBING = frozenset(f"dynascope.{m}" for m in ("studies.study", "studies.nodes", "core.sources"))
# They stand behind the studies in the row of packages: what they do changes no verdict.
BEHIND = ("docs_site", "cli", "page", "watching", "runner", "store", "explorers", "report")


def function_code(function: Callable) -> str:
    """A digest of the code behind a computation."""
    if is_ours(function):
        return text_digest(computation_files(function))
    found = code_of(function)
    return uuid.uuid4().hex if found.unknown else found.digest


def computation_files(function: Callable) -> tuple[Path, ...]:
    """The file of a function of ours, and those of the library that its module rests on."""
    return tuple(sorted(rests_on(function.__module__, left_out=DESCRIBING)))


def study_code(study: Study) -> str:
    """A digest of everything that decides a study's verdicts and charts, beside its numbers.

    That is its claims and charts, and the library that they measure, judge and predict with: a
    detector, an interval or a theory that has been edited is another measurement.
    """
    library = text_digest(library_files())
    if is_ours(study.settings):
        return text_digest(study_files(study)) + library
    found = code_of((study.claims, study.charts, study.title, study.sources))
    return uuid.uuid4().hex if found.unknown else found.digest + library


def study_files(study: Study) -> tuple[Path, ...]:
    """The files of a study's folder, and those beside it, shared within its phenomenon."""
    folder = _folder(sys.modules[study.settings.__module__])
    return (*sorted(folder.rglob("*.py")), *sorted(folder.parent.glob("*.py")))


@cache
def library_files() -> tuple[Path, ...]:
    """What studies may import, and the form of studies itself: all but other studies' folders."""
    packages = [p for p in sorted(ROOT.iterdir()) if p.is_dir() and p.name not in BEHIND]
    found = [f for p in packages if p.name != "studies" for f in sorted(p.rglob("*.py"))]
    return (*found, *sorted((ROOT / "studies").glob("*.py")))


def _folder(module: ModuleType) -> Path:
    return Path(str(module.__file__)).parent
