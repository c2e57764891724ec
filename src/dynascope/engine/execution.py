"""`simulate`: from a task, a model and dynamics to a labelled dataset."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.attributes import as_text
from dynascope.core.errors import Interrupted
from dynascope.core.parts import join_parts
from dynascope.core.plain import Identity, identify
from dynascope.core.records import Sink
from dynascope.dynamics import Dynamics
from dynascope.engine.compilation import await_compilation
from dynascope.engine.dataset import Labeller, provenance
from dynascope.engine.drive import Chunk, drive, row_of
from dynascope.engine.experiment import Experiment, make_experiment
from dynascope.engine.keeping import Keep
from dynascope.engine.loop_inputs import loop_inputs
from dynascope.engine.program import program
from dynascope.engine.record import Record
from dynascope.engine.stopping import Stop
from dynascope.models import Model
from dynascope.probes.base import Probe
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.precision import precision
from dynascope.runtime.progress import Progress
from dynascope.tasks import Task

APPEND_SECONDS = 1.0  # how often rows and checkpoint go to the sink
APPEND_SHARE = 0.1  # of the time at most; large states are handed over less often


def simulate(
    task: Task,
    model: Model,
    dynamics: Dynamics,
    *,
    steps: int | None = None,
    time: float | None = None,
    probes: Iterable[Probe] | None = None,
    record: Record | None = None,
    seeds: int | Iterable[int] = 1,
    dtype: str | None = None,
    stop: Stop | Iterable[Stop] = (),
    keep: Keep | None = None,
    sink: Sink | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Train a model on a task and measure it on the way, on all seeds at once.

    Args:
        task: What is to be learned.
        model: What learns.
        dynamics: How parameters move.
        steps: Number of steps, for discrete dynamics.
        time: Length in gradient-flow time, for `GradientFlow`.
        probes: What to measure; the training loss by default, and the test loss of a task
            that has one.
        record: When to measure; at most 1,000 evenly spaced steps or times by default.
        seeds: A number n for the seeds 0 to n - 1, or the seeds themselves. A seed's
            numbers do not depend on the others.
        dtype: "float32" or "float64"; float32 by default, float64 for flows.
        stop: Rules that end a lane, such as `record.Stop("loss", below=0.01)`.
        keep: Which parameters to keep, such as `record.Keep(at=(0, 100), best="test_loss")`.
        sink: Where to stream rows and checkpoints to, and resume from.
        progress: Whether to show progress on stderr after two seconds.

    Returns:
        A dataset with dims seed, step and each quantity's own; `time` lies along step.
        Lanes that diverged are marked in `diverged`; their rows are NaN from then on. Lanes
        that a rule stopped are marked in `stopped_step` and `stopped_by`.

    Ctrl-C raises `Interrupted` (a KeyboardInterrupt) whose `partial` holds everything
    recorded until then.

    Example:
        >>> from dynascope import dynamics, models, probes, tasks
        >>> task = tasks.IdentityMapping(means=(1.0,), scales=(0.0,))
        >>> model = models.Linear(initial_jacobian=((0.0,),))
        >>> run = simulate(task, model, dynamics.GradientDescent(0.5), steps=2,
        ...                probes=[probes.OutputAt()], dtype="float64")
        >>> run["output_at"].values.ravel().tolist()  # 1 - (1 - 0.5 * 1)^n
        [0.0, 0.5, 0.75]
    """
    experiment = make_experiment(
        task, model, dynamics, steps=steps, time=time, probes=probes, record=record,
        seeds=seeds, dtype=dtype, stop=stop, keep=keep,
    )  # fmt: skip
    return execute(experiment, sink=sink, progress=progress)


def execute(
    experiment: Experiment,
    *,
    sink: Sink | None = None,
    progress: bool = True,
    label: str = "simulate",
    identity: Identity | None = None,
) -> xr.Dataset:
    """Run an experiment whose grid shares one compiled program; see `simulate`.

    `identity` is that of the experiment, where the caller has worked it out.
    """
    begun = clock.perf_counter()
    identity = identity or identify(experiment)  # before its code has run
    inputs = loop_inputs(experiment)
    labels = Labeller(experiment, experiment.grid(), experiment.recorded_at())
    journal = _Journal(labels, sink)
    ended = "finished"
    with precision(experiment.dtype), compilation_cache():
        compiled = program(inputs)
        try:
            with Progress(label, float(inputs.record_steps[-1]), progress) as bar:
                bar.update(0, "compiling")
                await_compilation(inputs)
                drive(compiled, inputs, bar, journal.take, journal.checkpoint)
        except KeyboardInterrupt:
            ended = "interrupted"
    if ended == "interrupted" and not journal.anything():
        raise Interrupted(None)
    run = journal.close({
        **provenance(experiment, identity),
        "outcome": ended,
        "lanes": "mapped" if compiled.mapped else "vmapped",
        "seconds": round(clock.perf_counter() - begun, 3),
    })
    if ended == "interrupted":
        raise Interrupted(run)
    return run


class _Waiting(NamedTuple):
    """What has not been labelled yet, and how the lanes stand after it.

    It is replaced as a whole: Ctrl-C comes between any two statements, and rows must not be
    written with the checkpoint before them, from which they would be computed once more.
    """

    rows: tuple[tuple[dict[str, np.ndarray], np.ndarray], ...] = ()  # rows, their numbers
    kept: tuple[tuple[int, np.ndarray], ...] = ()  # parameters
    latest: Chunk | None = None

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the rows."""
        return np.concatenate([n for _, n in self.rows]) if self.rows else np.empty(0, int)


class _Journal:
    """Collects rows, labels them, and passes them on to the sink about once a second."""

    def __init__(self, labels: Labeller, sink: Sink | None) -> None:
        self.labels, self.sink = labels, sink
        self.record = labels.experiment.record
        self.parts: list[xr.Dataset] = []
        self.waiting = _Waiting()
        self.seen, self.checkpoint = 0, None
        self.last: np.ndarray | None = None  # last kept row of what the record policy watches
        self.appended, self.took = clock.monotonic(), 0.0
        saved = sink.resume() if sink else None
        if saved is not None:
            self.parts, self.checkpoint = [saved.part], saved.checkpoint
            self.seen = row_of(saved.checkpoint)
            if self.record.watches:
                value = saved.part[self.record.watches].isel(step=-1).values
                self.last = value.reshape(-1, *value.shape[len(labels.shape) :])

    def take(self, chunk: Chunk) -> None:
        """Take the next rows; keep those that the record policy wants."""
        rows = chunk.rows
        count = next(iter(rows.values())).shape[1] if rows else 0
        window = np.arange(self.seen, self.seen + count)
        self.seen += count
        if self.record.watches and count:
            kept = self.record.keep(rows[self.record.watches], self.last)
            kept[-1] |= chunk.last
            rows, window = {k: v[:, kept] for k, v in rows.items()}, window[kept]
            if kept.any():
                self.last = rows[self.record.watches][:, -1]
        waiting = self.waiting
        new = ((rows, window),) if window.size or not waiting.rows else ()
        self.waiting = _Waiting(waiting.rows + new, (*waiting.kept, *chunk.kept), chunk)
        pause = APPEND_SECONDS * max(1.0, self.took / APPEND_SHARE)
        if self.sink and clock.monotonic() - self.appended > pause:
            self.flush()

    def flush(self) -> None:
        """Label what is waiting and hand it to the sink, with the state after it."""
        (rows, kept, latest), window = self.waiting, self.waiting.numbers
        if latest is None or not (window.size or kept):
            return
        begun = clock.monotonic()
        joined = {k: np.concatenate([r[k] for r, _ in rows], axis=1) for k in rows[0][0]}
        part = self.labels.part(joined, window, list(kept), latest)
        # First out of the waiting list, then into the sink: Ctrl-C in between must not
        # write rows twice.
        self.waiting, self.appended = _Waiting(), clock.monotonic()
        self.parts.append(part)
        if self.sink:
            self.sink.append(part, latest.checkpoint())
            self.appended = clock.monotonic()
            self.took = self.appended - begun

    def anything(self) -> bool:
        """Whether there is a row to close with."""
        return bool(self.parts) or bool(self.waiting.numbers.size)

    def close(self, attrs: dict[str, Any]) -> xr.Dataset:
        """Everything recorded, as one dataset."""
        self.flush()
        if self.sink:
            self.sink.finish(attrs)
        return join_parts(self.parts).assign_attrs(as_text(attrs))
