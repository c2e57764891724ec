"""`sweep`: the same experiment over a grid of settings, as lanes wherever possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, cast

import xarray as xr

from dynascope.core.errors import unknown
from dynascope.core.spec import fingerprint, to_plain
from dynascope.dynamics import Dynamics
from dynascope.engine import Experiment, compiling_ahead, execute
from dynascope.engine.experiment import make_experiment
from dynascope.engine.record import Record
from dynascope.models import Model
from dynascope.probes import Loss, TestLoss
from dynascope.probes.base import Probe
from dynascope.store import Store
from dynascope.sweeps.cluster import blocks, run_everywhere, workers
from dynascope.sweeps.split import Changes, merge, split
from dynascope.tasks import Task

Executor = Literal["here", "ray"]


def sweep(
    task: Task,
    model: Model,
    dynamics: Dynamics,
    *,
    over: Mapping[str, Iterable[Any]],
    steps: int | None = None,
    time: float | None = None,
    probes: Iterable[Probe] | None = None,
    record: Record | None = None,
    seeds: int | Iterable[int] = 1,
    dtype: str | None = None,
    store: Store | None = None,
    executor: Executor = "here",
    progress: bool = True,
) -> xr.Dataset:
    """Simulate at every point of a grid; the result's dims are the paths as written.

    Args:
        task: What is to be learned.
        model: What learns.
        dynamics: How parameters move.
        over: Values by path, such as `{"task.means[0]": [0.5, 1.0]}`.
        steps: Number of steps, for discrete dynamics.
        time: Length in gradient-flow time, for `GradientFlow`.
        probes: What to measure; the training and the test loss by default.
        record: When to look.
        seeds: Number of seeds, or the seeds.
        dtype: "float32" or "float64".
        store: Where to keep the result and resume from; nowhere by default.
        executor: "here", or "ray" for a Ray cluster (the extra `ray`).
        progress: Whether to show progress.

    Returns:
        One dataset with an axis per path, then seed, step and the quantities' own.

    Example:
        >>> from dynascope import dynamics, models, probes, tasks
        >>> run = sweep(tasks.IdentityMapping((1.0,), (0.0,)), models.Linear(0.0),
        ...             dynamics.GradientDescent(0.5), steps=2, dtype="float64",
        ...             over={"dynamics.learning_rate": [0.5, 1.0]}, probes=[probes.OutputAt()])
        >>> run["output_at"].isel(step=-1).values.ravel().tolist()
        [0.75, 1.0]
    """
    experiment = make_experiment(
        task, model, dynamics, steps=steps, time=time, record=record, seeds=seeds, dtype=dtype,
        over=over, probes=[Loss(), TestLoss()] if probes is None else probes,
    )  # fmt: skip
    return run_experiment(experiment, store=store, executor=executor, progress=progress)


def run_experiment(
    experiment: Experiment,
    *,
    store: Store | None = None,
    again: bool = False,
    executor: Executor = "here",
    progress: bool = True,
    label: str = "sweep",
) -> xr.Dataset:
    """Execute an experiment of any shape; answer from the store where it is there already.

    An experiment of several groups is stored group by group while it runs, so that a kill
    loses at most a second of the group it was in; the whole replaces the groups at the end.
    On a cluster the pieces are blocks of seeds, each stored when it is finished.
    """
    key = fingerprint(experiment)
    if store and not again and (found := store.find(key)):
        return cast(xr.Dataset, store.load(found))
    groups = split(experiment)
    if executor == "here" and len(groups) == 1:
        sink = store.sink(to_plain(experiment), key, label=label, again=again) if store else None
        return execute(experiment, sink=sink, progress=progress, label=label)
    run_pieces = {"here": _run_here, "ray": _run_on_ray}.get(executor)
    if run_pieces is None:
        raise unknown("executor", executor, ("here", "ray"))
    pieces, parts = run_pieces(groups, store, again, progress, label)
    attrs = {**parts[0][1].attrs, "spec": to_plain(experiment), "fingerprint": key}
    attrs["seconds"] = round(sum(part.attrs["seconds"] for _, part in parts), 3)
    attrs["seeds"] = len(experiment.seeds)
    whole = merge(experiment, parts).assign_attrs(attrs)
    if store:
        _keep(store, experiment, whole, label, again)
        for piece in pieces:
            if fingerprint(piece) != key and (found := store.find(fingerprint(piece))):
                store.forget(found)
    return whole


def _keep(store: Store, experiment: Experiment, run: xr.Dataset, label: str, again: bool) -> None:
    """Store a finished run in one go."""
    sink = store.sink(to_plain(experiment), fingerprint(experiment), label=label, again=again)
    sink.append(run, b"")
    sink.finish(run.attrs)


Parts = tuple[list[Experiment], list[tuple[Changes, xr.Dataset]]]


def _run_here(groups: list, store: Store | None, again: bool, progress: bool, label: str) -> Parts:
    """Group after group in this process, each streamed to the store."""
    parts, pieces = [], [group for _, group in groups]
    with compiling_ahead(missing(pieces, None if again else store)):
        for number, (changes, group) in enumerate(groups, 1):
            title = f"{label} {number}/{len(groups)}"
            part = run_experiment(group, store=store, again=again, progress=progress, label=title)
            parts.append((changes, part))
    return pieces, parts


def missing(experiments: Iterable[Experiment], store: Store | None) -> Iterator[Experiment]:
    """Those of the experiments that the store, if there is one, cannot answer."""
    for experiment in experiments:
        if store is None or store.find(fingerprint(experiment)) is None:
            yield experiment


def _run_on_ray(
    groups: list, store: Store | None, again: bool, progress: bool, label: str
) -> Parts:
    """Blocks of seeds on the cluster; what the store has already is not run again."""
    count = workers()
    pieces = [(changes, block) for changes, group in groups for block in blocks(group, count)]
    done: dict[int, xr.Dataset] = {}
    for i, (_, block) in enumerate(pieces):
        if store and not again and (found := store.find(fingerprint(block))):
            done[i] = cast(xr.Dataset, store.load(found))
    missing = [i for i in range(len(pieces)) if i not in done]
    for k, part in run_everywhere([pieces[i][1] for i in missing], label, progress):
        done[missing[k]] = part
        if store:
            _keep(store, pieces[missing[k]][1], part, f"{label} {missing[k] + 1}", again)
    return [block for _, block in pieces], [(pieces[i][0], done[i]) for i in range(len(pieces))]
