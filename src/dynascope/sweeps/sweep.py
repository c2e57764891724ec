"""`sweep`: the same experiment over a grid of settings, as lanes wherever possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import xarray as xr

from dynascope.core.spec import fingerprint, to_plain
from dynascope.dynamics import Dynamics
from dynascope.engine import Experiment, execute
from dynascope.engine.experiment import make_experiment
from dynascope.engine.record import Record
from dynascope.models import Model
from dynascope.probes import Loss, TestLoss
from dynascope.probes.base import Probe
from dynascope.store import Store
from dynascope.sweeps.split import merge, split
from dynascope.tasks import Task


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
    return run_experiment(experiment, store=store, progress=progress)


def run_experiment(
    experiment: Experiment,
    *,
    store: Store | None = None,
    again: bool = False,
    progress: bool = True,
    label: str = "sweep",
) -> xr.Dataset:
    """Execute an experiment of any shape; answer from the store where it is there already.

    An experiment of several groups is stored group by group while it runs, so that a kill
    loses at most a second of the group it was in; the whole replaces the groups at the end.
    """
    key = fingerprint(experiment)
    if store and not again and (found := store.find(key)):
        return cast(xr.Dataset, store.load(found))
    groups = split(experiment)
    if len(groups) == 1:
        sink = store.sink(to_plain(experiment), key, label=label, again=again) if store else None
        return execute(experiment, sink=sink, progress=progress, label=label)
    parts, seconds = [], 0.0
    for number, (changes, group) in enumerate(groups, 1):
        title = f"{label} {number}/{len(groups)}"
        part = run_experiment(group, store=store, again=again, progress=progress, label=title)
        seconds += part.attrs["seconds"]
        parts.append((changes, part))
    attrs = {**parts[0][1].attrs, "spec": to_plain(experiment), "fingerprint": key}
    whole = merge(experiment, parts).assign_attrs({**attrs, "seconds": round(seconds, 3)})
    if store:
        sink = store.sink(to_plain(experiment), key, label=label, again=again)
        sink.append(whole, b"")
        sink.finish(whole.attrs)
        for _, group in groups:
            if found := store.find(fingerprint(group)):
                store.forget(found)
    return whole
