"""The runner: executes what a study's claims and charts ask for, judges, stores."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.plain import fingerprint, to_plain
from dynascope.core.records import Claim, StudyResult
from dynascope.core.sources import cited
from dynascope.core.spec import Spec
from dynascope.data import there
from dynascope.engine.experiment import check_seed_count
from dynascope.runner.changes import with_changes
from dynascope.runner.evaluation import Evaluation
from dynascope.runtime.processor import processor
from dynascope.runtime.versions import versions
from dynascope.store import Store
from dynascope.store.export import claim_columns
from dynascope.store.files import damaged
from dynascope.studies import Study, studies
from dynascope.studies.code import study_code
from dynascope.studies.judging import RULE, judge
from dynascope.studies.nodes import Missing, Node, Together

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Outcome:
    """What `run` returns: the result, where it is stored, and whether it was there already."""

    result: StudyResult
    record: str
    from_store: bool
    store: Store
    earlier: str | None = None  # the record that was there before it was computed again

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim with its verdict."""
        return self.result.claims

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart as data."""
        return self.result.charts

    def datasets(self) -> list[xr.Dataset]:
        """The runs behind the claims, in the order of the study.

        Each is a dataset as `simulate` returns it, with its settings in `attrs["spec"]`.
        """
        found = (self.store.load(id) for id in self.result.runs)
        return [run for run in found if isinstance(run, xr.Dataset)]

    def to_frame(self) -> pd.DataFrame:
        """The claims as a pandas table: verdict, value, interval, bound, controls, source."""
        import pandas as pd

        return pd.DataFrame(claim_columns(self.result.claims)).set_index("id")

    def __repr__(self) -> str:
        from dynascope.report.words import summary

        counts = summary(self.claims).partition(".")[0]
        return f"Outcome({self.result.study!r}, {self.result.scale!r}: {counts}; {self.record})"

    def _repr_html_(self) -> str:
        """In a notebook: the headline and the verdicts."""
        from dynascope.report import result_html

        return result_html(self.result)


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


def run(
    name: str,
    scale: str = "laptop",
    *,
    seeds: int | None = None,
    changes: Mapping[str, Any] | None = None,
    store: Store | None = None,
    again: bool = False,
    progress: bool = True,
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run a study, or answer from the store if it is there.

    Args:
        name: The study, as `dynascope list` gives it.
        scale: "smoke", "laptop" or "paper".
        seeds: Number of seeds; short for `changes={"seeds": ...}`.
        changes: Settings by path, such as `{"task.means": (1.0, 3.0)}`.
        store: Where to keep it; the results folder by default.
        again: Compute again although it is stored; the results must agree.
        progress: Whether to show progress.
        tell: Called with a line before each run and computation.

    Returns:
        The outcome, with claims, charts and the id of the record.
    """
    study, store = studies.get(name), store or Store()
    changes = {**(changes or {}), **({} if seeds is None else {"seeds": seeds})}
    settings = configure(name, scale, changes)
    key = request(study, settings, scale)
    found = store.find(key)
    if found and not again:
        return Outcome(stored_result(store, found), found, True, store)
    begun = time.perf_counter()
    values = Evaluation(study, settings, store, again=again, progress=progress, tell=tell)
    claims, charts, headline, left_out = _execute(study, values)
    result = StudyResult(
        study=name,
        title=study.title,
        source=cited(study.sources),
        scale=scale,
        fingerprint=key,
        settings=to_plain(settings),
        notes=(*study.notes(settings), *left_out),
        claims=claims,
        charts=charts,
        headline=headline,
        runs=tuple(dict.fromkeys(values.records)),
        seconds=round(time.perf_counter() - begun, 2),
        provenance={
            "versions": versions(),
            "processor": processor(),
            "changes": {path: json.dumps(to_plain(v)) for path, v in (changes or {}).items()},
        },
    )
    return Outcome(result, store.put_study(result), False, store, found)


def stored_result(store: Store, record: str) -> StudyResult:
    """A stored result; a record of another kind under its fingerprint is damaged."""
    result = store.load(record)
    if not isinstance(result, StudyResult):
        raise damaged(store.records / record, "it holds no study's result")
    return result


def _gone(node: Node, values: Evaluation) -> Missing | None:
    """Why there is nothing to draw: the input is missing, or all that it would put together."""
    value = values.value(node)
    if isinstance(node, Together) and not value:
        value = values.value(node.inputs[0])
    return value if isinstance(value, Missing) else None


def _execute(
    study: Study, values: Evaluation
) -> tuple[tuple[Claim, ...], tuple[Chart, ...], str | None, list[str]]:
    """Every claim judged, every chart drawn, the name of the headline, and what was left out."""
    nodes = study.needed()
    with values.compiling_ahead(nodes):
        for node in nodes:  # runs and computations first, in the order in which they are read
            values.value(node)
        claims = tuple(judge(claim, values.settings, values.value) for claim in study.claims)
    charts, headline, left_out = [], None, []
    for spec in sorted(study.charts, key=lambda c: not c.headline):
        if gone := next(filter(None, (_gone(n, values) for n in spec.inputs)), None):
            name = spec.function.__name__.strip("_").replace("_", " ")
            left_out.append(f"The chart {name!r} is left out: {gone.reason}.")
            continue
        drawn = spec.function(values.settings, *map(values.value, spec.inputs))
        charts += drawn if isinstance(drawn, list) else [drawn]
        headline = charts[0].name if spec.headline and headline is None else headline
    return claims, tuple(charts), headline, left_out


def load(record: str, store: Store | None = None) -> Any:
    """A stored record by its id or a unique beginning of it; see `Store.load`."""
    return (store or Store()).load(record)


def runs(store: Store | None = None) -> list[Any]:
    """Everything in the store, newest first."""
    return (store or Store()).runs()
