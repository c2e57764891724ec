"""The runner: executes a study's plan, judges its claims, stores and reports it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.records import Claim, StudyResult
from dynascope.core.spec import Spec, fingerprint, to_plain
from dynascope.engine import Experiment, compiling_ahead
from dynascope.engine.dataset import versions
from dynascope.store import Store
from dynascope.studies import Study, studies
from dynascope.sweeps.changes import with_changes
from dynascope.sweeps.split import split
from dynascope.sweeps.sweep import missing, run_experiment


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
        """The runs behind the claims."""
        return [cast(xr.Dataset, self.store.load(id)) for id in self.result.runs]

    def _repr_markdown_(self) -> str:
        """In a notebook: the verdict table."""
        from dynascope.report import claim_table

        return claim_table(self.result)


@dataclass(frozen=True)
class Request(Spec):
    """What a study's fingerprint covers: its settings, which include seeds, and the scale."""

    study: Study
    scale: str


def configure(name: str, scale: str, changes: Mapping[str, Any] | None = None) -> Study:
    """The study of that name with a scale's settings and the user's changes by path."""
    return with_changes(studies.get(name).at(scale), changes or {})


def stored(study: Study, scale: str, store: Store) -> str | None:
    """The record that answers for this study at this scale, if there is one."""
    return store.find(fingerprint(Request(study, scale)))


def run(
    name: str,
    scale: str = "laptop",
    *,
    changes: Mapping[str, Any] | None = None,
    store: Store | None = None,
    again: bool = False,
    progress: bool = True,
    plan: Mapping[str, Experiment] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run a study, or answer from the store if it is there.

    Args:
        name: The study, as `dynascope list` gives it.
        scale: "smoke", "laptop" or "paper".
        changes: Settings by path, such as `{"seeds": 8}`.
        store: Where to keep it; the results folder by default.
        again: Compute again although it is stored; the results must agree.
        progress: Whether to show progress.
        plan: The study's plan, if the caller has worked it out already.
        tell: Called with a line before each experiment.

    Returns:
        The outcome, with claims, charts and the id of the record.
    """
    study = configure(name, scale, changes)
    store = store or Store()
    found = stored(study, scale, store)
    if found and not again:
        return Outcome(cast(StudyResult, store.load(found)), found, True, store)
    begun = time.perf_counter()
    runs, ids, plan = {}, [], study.plan() if plan is None else plan
    to_run = missing(plan.values(), None if again else store)
    groups = [group for experiment in to_run for _, group in split(experiment)]
    with compiling_ahead(groups):
        for number, (label, experiment) in enumerate(plan.items(), 1):
            tell(f"{number}/{len(plan)} {label}")
            runs[label] = run_experiment(
                experiment, store=store, again=again, progress=progress, label=f"{name}: {label}"
            )
            ids.append(store.find(fingerprint(experiment)))
        findings = study.analyse(runs)
    result = StudyResult(
        study=name,
        title=study.title,
        source=study.source,
        scale=scale,
        fingerprint=fingerprint(Request(study, scale)),
        settings=to_plain(study),
        notes=study.notes(),
        claims=tuple(study.judge(findings)),
        charts=tuple(study.draw(findings)),
        headline=study.headline(findings),
        runs=tuple(i for i in ids if i),
        seconds=round(time.perf_counter() - begun, 2),
        provenance={
            "versions": versions(),
            "changes": {path: json.dumps(to_plain(v)) for path, v in (changes or {}).items()},
        },
    )
    return Outcome(result, store.put_study(result), False, store, found)


def load(record: str, store: Store | None = None) -> xr.Dataset | StudyResult:
    """A stored run (a dataset) or study (a result) by its id or a unique beginning of it."""
    return (store or Store()).load(record)


def runs(store: Store | None = None) -> list[Any]:
    """Everything in the store, newest first."""
    return (store or Store()).runs()
