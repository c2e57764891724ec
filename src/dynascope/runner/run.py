"""The runner: executes what a study's claims and charts ask for, judges, stores."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from dynascope.core.charts import Chart
from dynascope.core.plain import to_plain
from dynascope.core.records import Claim, StudyResult
from dynascope.core.sources import cited
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.outcome import Outcome, stored_result
from dynascope.runner.request import configure, request
from dynascope.runtime.processor import processor
from dynascope.runtime.versions import versions
from dynascope.store import Store
from dynascope.studies import Study, studies
from dynascope.studies.judging import judge
from dynascope.studies.nodes import Missing, Node, Together


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
