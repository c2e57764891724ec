"""An experiment: everything that decides the numbers of a run, checked before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.core.spec import Spec, get_path, set_path, static_field
from dynascope.dynamics import Dynamics
from dynascope.engine.record import Evenly, Record
from dynascope.models import Model
from dynascope.probes.base import Probe
from dynascope.tasks import Task


@dataclass(frozen=True)
class Experiment(Spec):
    """A task, a model and dynamics, how long, what to measure and when, on which seeds.

    `steps` is for discrete dynamics, `time` for flows. `over` names the sweep axes by path.
    """

    task: Task
    model: Model
    dynamics: Dynamics
    probes: tuple[Probe, ...]
    steps: int | None = None
    time: float | None = static_field(None)
    record: Record = Evenly()
    seeds: tuple[int, ...] = (0,)
    dtype: Literal["float32", "float64"] = "float32"
    over: tuple[tuple[str, tuple[Any, ...]], ...] = static_field(())

    def check(self) -> None:
        """Raise for anything that would only fail later, inside the compiled loop."""
        self._check_length()
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise bad("seeds", self.seeds, "at least one seed, none negative, none twice")
        names = [p.stored_as for p in self.probes]
        watched = self.record.watches
        if watched is not None and watched not in names:
            raise bad("record", watched, f"the name of a probe: {', '.join(names)}")
        clash = next((n for n in names if names.count(n) > 1), None)
        if clash:
            raise bad("probes", clash, "one probe per name", 'give one of them a name="..."')
        axes = []
        for path, values in self.over:
            if path.split(".")[0] not in ("task", "model", "dynamics"):
                raise bad("over", path, "a path that starts with task., model. or dynamics.")
            if not values:
                raise bad(f"over[{path!r}]", values, "at least one value")
            # Through the spec and back, so that 1 and 1.0 are the same axis.
            points = [set_path(self._bare(), path, value) for value in values]
            axes.append((path, tuple(get_path(point, path) for point in points)))
        object.__setattr__(self, "over", tuple(axes))
        self._check_pieces()

    def _check_length(self) -> None:
        kind = type(self.dynamics).__name__
        if self.dynamics.continuous:
            if self.steps is not None or self.time is None:
                raise bad("steps", self.steps, f"time= for {kind}, which has no steps")
            if not 0 < self.time < float("inf"):
                raise bad("time", self.time, "a finite number above 0")
        else:
            if self.time is not None or self.steps is None:
                raise bad("time", self.time, f"steps= for {kind}, which has no time of its own")
            if not 1 <= self.steps < 2**31:
                raise bad("steps", self.steps, "a whole number of at least 1")

    def _check_pieces(self) -> None:
        network = self.model.build(self.task.input_size, self.task.output_size)
        model, task = type(self.model).__name__, type(self.task).__name__
        if self.task.exact and network.matrix is None:
            raise BadInput(
                f"{task} uses its exact population, which only linear models can learn from; "
                f"{model} is not linear: set samples_per_cluster (5000 is usual)"
            )
        if self.task.exact and self.dynamics.samples_per_step is not None:
            raise BadInput(
                f"{type(self.dynamics).__name__} draws batches, but {task} uses its exact "
                "population: set samples_per_cluster, or use GradientDescent"
            )
        for probe in self.probes:
            if missing := probe.needs(self.task, network):
                raise BadInput(f"probe {type(probe).__name__} needs {missing}; the task is {task}")

    def _bare(self) -> Bare:
        return Bare(self.task, self.model, self.dynamics, self.probes)

    def places(self) -> np.ndarray:
        """Steps (discrete) or times (flow) at which the probes look."""
        discrete = not self.dynamics.continuous
        return self.record.places(float(self.steps or self.time or 0), discrete)

    def grid(self) -> list[Bare]:
        """The pieces at every point of the sweep grid, the last axis fastest."""
        points = [self._bare()]
        for path, values in self.over:
            points = [set_path(p, path, v) for p in points for v in values]
        return points

    def axes(self) -> dict[str, list[Any]]:
        """Sweep axes by path, as they stand in the result."""
        return {path: [axis_label(v) for v in values] for path, values in self.over}


@dataclass(frozen=True)
class Bare(Spec):
    """The pieces that are compiled: an experiment without its length, seeds and axes."""

    task: Task
    model: Model
    dynamics: Dynamics
    probes: tuple[Probe, ...]


def axis_label(value: Any) -> Any:
    """A coordinate must be a number or a text."""
    return value if isinstance(value, int | float | str | bool) else repr(value)


def make_experiment(
    task: Task,
    model: Model,
    dynamics: Dynamics,
    *,
    steps: int | None,
    time: float | None,
    probes: Iterable[Probe],
    record: Record | None,
    seeds: int | Iterable[int],
    dtype: str | None,
    over: Mapping[str, Iterable[Any]] | None = None,
) -> Experiment:
    """The experiment that a call of `simulate` or `sweep` describes, defaults filled in."""
    for name, value, kind in (
        ("task", task, Task),
        ("model", model, Model),
        ("dynamics", dynamics, Dynamics),
    ):
        if not isinstance(value, kind):
            raise bad(
                name, value, f"a {kind.__name__}", f"see dynascope.{kind.__module__.split('.')[1]}"
            )
    if isinstance(seeds, int):
        if seeds < 1:
            raise bad("seeds", seeds, "at least 1")
        seeds = range(seeds)
    axes = []
    for path, values in (over or {}).items():
        get_path(Bare(task, model, dynamics, tuple(probes)), path)
        axes.append((
            path,
            tuple(np.asarray(values).tolist() if hasattr(values, "tolist") else values),
        ))
    return Experiment(
        task,
        model,
        dynamics,
        tuple(probes),
        steps=steps,
        time=time,
        record=record or Evenly(),
        seeds=tuple(seeds),
        dtype=dtype or dynamics.default_dtype,  # type: ignore[arg-type]
        over=tuple(axes),
    )
