"""What is asked of a study: its settings, and what a stored result must agree with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynascope.core.plain import fingerprint
from dynascope.core.spec import Spec
from dynascope.data import there
from dynascope.engine.experiment import check_seed_count
from dynascope.runner.changes import with_changes
from dynascope.studies import Study, studies
from dynascope.studies.code import study_code
from dynascope.studies.judging import RULE


@dataclass(frozen=True)
class Request(Spec):
    """What the fingerprint of a study's result covers.

    Settings, scale, which of its data sets are there, the code of its claims and charts, and
    the rule of judging: a stored result answers only for the same of all of them. Otherwise it
    is judged anew, on the stored runs.
    """

    settings: Spec
    scale: str
    data: tuple[str, ...] = ()
    code: str = ""
    rule: int = RULE


def configure(name: str, scale: str, changes: Mapping[str, Any] | None = None) -> Any:
    """The settings of a study at a scale, with the user's changes by path."""
    settings = with_changes(studies.get(name).at(scale), changes or {})
    if isinstance(seeds := getattr(settings, "seeds", None), int):
        check_seed_count(seeds)
    return settings


def request(study: Study, settings: Any, scale: str) -> str:
    """The fingerprint of a study's result."""
    here = tuple(name for name in study.data() if there(name))
    return fingerprint(Request(settings, scale, here, study_code(study), RULE))
