"""`sweep`: the same experiment over a grid of settings, as lanes wherever possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import xarray as xr

from dynascope.core.attributes import as_text, as_values
from dynascope.core.errors import unknown
from dynascope.core.plain import Identity, identify
from dynascope.core.run import Run
from dynascope.dynamics import Dynamics
from dynascope.engine import Experiment, compiling_ahead, execute, refuse_too_large
from dynascope.engine.experiment import make_experiment
from dynascope.engine.record import Keep, Record, Stop
from dynascope.models import Model
from dynascope.probes.base import Probe
from dynascope.runner.cluster import blocks, run_everywhere, workers
from dynascope.runner.split import Changes, merge, split
from dynascope.store import Store
from dynascope.store.files import damaged
from dynascope.store.sink import RecordSink
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
    stop: Stop | Iterable[Stop] = (),
    keep: Keep | None = None,
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
        probes: What to measure; the training loss by default, and the test loss of a task
            that has one.
        record: When to look.
        seeds: Number of seeds, or the seeds.
        dtype: "float32" or "float64".
        stop: Rules that end a lane, as in `simulate`.
        keep: Which parameters to keep, as in `simulate`.
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
        over=over, stop=stop, keep=keep, probes=probes,
    )  # fmt: skip
    return run_experiment(experiment, store=store, executor=executor, progress=progress)


def run_experiment(experiment: Experiment, **options: Any) -> xr.Dataset:
    """Execute an experiment of any shape; the dataset of `recorded_run`, which has the options."""
    return recorded_run(experiment, **options).dataset


def recorded_run(
    experiment: Experiment,
    *,
    store: Store | None = None,
    again: bool = False,
    executor: Executor = "here",
    progress: bool = True,
    label: str = "sweep",
    study: str = "",
    part_of: str = "",
) -> Run:
    """Execute an experiment of any shape; answer from the store where it is there already.

    An experiment of several groups is stored group by group while it runs, so that a kill
    loses at most a second of the group it was in; the whole replaces the groups at the end, but
    not those that were stored on their own before.
    On a cluster the pieces are blocks of seeds, each stored when it is finished. Where code is
    unknown, nothing is answered or resumed: every run is a record of its own.

    Args:
        experiment: What to run.
        store: Where it is kept; nowhere by default.
        again: Run although it is stored.
        executor: "here", or "ray" for a Ray cluster.
        progress: Whether to show progress.
        label: What progress and the listing show.
        study: The name of the study that it belongs to, if there is one.
        part_of: The fingerprint of the experiment that it is a group of, if it is one.

    Returns:
        The run, with the id of the record that was read or written.
    """
    identity, title = identify(experiment), _Title(label, study, part_of)
    if store and not again and (found := answer(store, identity)):
        return Run(stored_run(store, found, experiment), experiment, found)
    groups = split(experiment)
    if executor == "here" and len(groups) == 1:
        sink = _sink(store, identity, title, again) if store else None
        run = execute(experiment, sink=sink, progress=progress, label=label, identity=identity)
        return Run(run, experiment, sink.id if sink else None)
    run_pieces = {"here": _run_here, "ray": _run_on_ray}.get(executor)
    if run_pieces is None:
        raise unknown("executor", executor, ("here", "ray"))
    kept, inside = None if identity.unknown else store, replace(title, part_of=identity.key)
    made, parts = run_pieces(groups, kept, again, progress, inside)
    attrs = {**parts[0][1].attrs, "spec": identity.plain, "fingerprint": identity.key}
    attrs["seconds"] = round(sum(part.attrs["seconds"] for _, part in parts), 3)
    attrs["seeds"] = len(experiment.seeds)
    # A group has one label of an axis, which alone cannot tell whether the others are numbers.
    whole = merge(experiment, parts).assign_coords(experiment.axes())
    whole = whole.assign_attrs(as_text(attrs))
    if store is None:
        return Run(whole, experiment)
    record = _keep(store, identity, whole, title, again)
    for piece in map(identify, made):
        if piece.key != identity.key and (found := answer(store, piece)):
            store.forget(found)
    return Run(whole, experiment, record)


def answer(store: Store, identity: Identity) -> str | None:
    """The stored record that answers for these settings; none where code is unknown."""
    return None if identity.unknown else store.find(identity.key)


def stored_run(store: Store, record: str, experiment: Experiment) -> xr.Dataset:
    """A stored run, after a look at whether it holds what the experiment measures.

    The fingerprint of a record from elsewhere says nothing about what is in it.
    """
    run = store.load(record)
    wanted = {p.stored_as for p in experiment.probes} | {"diverged"}
    dims = {path for path, _ in experiment.over} | {"seed", "step"}
    if (
        not isinstance(run, xr.Dataset)
        or not (wanted <= set(run.variables) and dims <= set(run.dims))
        or not isinstance(run.attrs.get("seconds"), int | float)
    ):
        what = "it does not hold what its settings measure"
        raise damaged(store.records / record, what)
    assert isinstance(run, xr.Dataset)
    return run


@dataclass(frozen=True)
class _Title:
    """What a stored run is called, and what it belongs to."""

    label: str
    study: str
    part_of: str

    def numbered(self, number: str) -> _Title:
        """Of one of the pieces."""
        return replace(self, label=f"{self.label} {number}")


def _sink(store: Store, identity: Identity, title: _Title, again: bool) -> RecordSink:
    return store.sink(identity.plain, identity.key, again=again, **asdict(title))


def _keep(
    store: Store, identity: Identity, run: xr.Dataset, title: _Title, again: bool
) -> str | None:
    """Store a finished run in one go; the id of its record."""
    sink = _sink(store, identity, title, again)
    sink.append(run, b"")
    sink.finish(as_values(run.attrs))
    return sink.id


# The pieces that the whole replaces, and the results of all of them.
Parts = tuple[list[Experiment], list[tuple[Changes, xr.Dataset]]]


def _run_here(
    groups: list, store: Store | None, again: bool, progress: bool, whole: _Title
) -> Parts:
    """Group after group in this process, each streamed to the store."""
    parts, pieces = [], [group for _, group in groups]
    titles = [whole.numbered(f"{number}/{len(groups)}") for number in range(1, len(groups) + 1)]
    made = _own_pieces(pieces, titles, store)
    open_ = open_parts(pieces, None if again else store)
    with compiling_ahead(open_):
        for title, (changes, group) in zip(titles, groups, strict=True):
            part = run_experiment(
                group, store=store, again=again, progress=progress, **asdict(title)
            )  # fmt: skip
            parts.append((changes, part))
    return made, parts


def _own_pieces(
    pieces: list[Experiment], titles: list[_Title], store: Store | None
) -> list[Experiment]:
    """The pieces that are stored for the sake of the whole, now or by a call that was killed."""
    found = []
    for piece, title in zip(pieces, titles, strict=True):
        before = answer(store, identify(piece)) if store else None
        if store and (before is None or _belongs(store.manifest(before), title)):
            found.append(piece)
    return found


def _belongs(manifest: dict[str, Any], title: _Title) -> bool:
    """Whether a stored run is a piece of this whole; records of before have only the label."""
    if manifest["part_of"] is None:
        return manifest["label"] == title.label
    return manifest["part_of"] == title.part_of


def open_parts(pieces: Iterable[Experiment], store: Store | None) -> list[Experiment]:
    """What has to be computed; `BadInput` if any part does not fit into memory."""
    found = list(missing(pieces, store))
    for piece in found:
        refuse_too_large(piece)
    return found


def missing(experiments: Iterable[Experiment], store: Store | None) -> Iterator[Experiment]:
    """Those of the experiments that the store, if there is one, cannot answer."""
    for experiment in experiments:
        if store is None or answer(store, identify(experiment)) is None:
            yield experiment


def _run_on_ray(
    groups: list, store: Store | None, again: bool, progress: bool, whole: _Title
) -> Parts:
    """Blocks of seeds on the cluster; what the store has already is not run again."""
    count = workers()
    pieces = [(changes, block) for changes, group in groups for block in blocks(group, count)]
    titles = [whole.numbered(str(number)) for number in range(1, len(pieces) + 1)]
    made = _own_pieces([block for _, block in pieces], titles, store)
    done: dict[int, xr.Dataset] = {}
    for i, (_, block) in enumerate(pieces):
        if store and not again and (found := answer(store, identify(block))):
            done[i] = stored_run(store, found, block)
    missing = [i for i in range(len(pieces)) if i not in done]
    sent = [pieces[i][1] for i in missing]
    for k, part in run_everywhere(sent, whole.label, progress, before=len(done)):
        # Code may look different to a worker: classes of a script travel by value.
        own = identify(pieces[missing[k]][1])
        done[missing[k]] = part.assign_attrs(as_text({"spec": own.plain, "fingerprint": own.key}))
        if store:
            _keep(store, own, done[missing[k]], titles[missing[k]], again)
    return made, [(pieces[i][0], done[i]) for i in range(len(pieces))]
