"""An experiment: everything that decides the numbers of a run, checked before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.core.paths import get_path, set_path
from dynascope.core.randomness import key_for
from dynascope.core.spec import Spec, later_field, static_field
from dynascope.dynamics import Dynamics, Following
from dynascope.engine.fitting import check_kinds
from dynascope.engine.keeping import Keep
from dynascope.engine.record import Evenly, Record
from dynascope.engine.stopping import Stop
from dynascope.engine.trial import try_once
from dynascope.models import Model
from dynascope.probes import Loss, TestLoss
from dynascope.probes.base import Probe, StepProbe
from dynascope.runtime.precision import foreign, precision
from dynascope.tasks import Task

MOST_LAYERS = 10_000  # they are built one by one, before anything can be estimated
MOST_SEEDS = 1_000_000  # a list of them is made before anything runs


@dataclass(frozen=True)
class Experiment(Spec):
    """A task, a model and dynamics, how long, what to measure and when, on which seeds.

    `steps` is for discrete dynamics, `time` for flows. `over` names the sweep axes by path.
    `stop` are the rules that end a lane, `keep` says which parameters stay.
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
    stop: tuple[Stop, ...] = later_field(())
    keep: Keep | None = later_field(None)

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
        self._check_watched(names)
        axes = []
        for path, values in self.over:
            if path.split(".")[0] not in ("task", "model", "dynamics"):
                raise bad("over", path, "a path that starts with task., model. or dynamics.")
            if not values:
                raise bad(f"over[{path!r}]", values, "at least one value")
            # Through the spec and back, so that 1 and 1.0 are the same axis.
            points = [set_path(self._setup(), path, value) for value in values]
            axes.append((path, tuple(get_path(point, path) for point in points)))
        object.__setattr__(self, "over", tuple(axes))
        self._check_pieces()
        self._check_names(names)

    def _check_names(self, names: list[str]) -> None:
        """A probe must not be stored under a name that the run has for something else."""
        taken = {"seed", "step", "time", "diverged", "diverged_step", *(p for p, _ in self.over)}
        if self.stop:
            taken |= {"stopped_step", "stopped_by"}
        if self.keep:
            taken |= {"kept", "kept_parameters", "parameter", "best_step", "best_parameters"}
        for probe in self.probes:
            taken |= {*probe.coords(self.task)}
        for name in names:
            if name in taken:
                raise bad("probes", name, "another name=: the run has this one for something else")

    def _check_watched(self, names: list[str]) -> None:
        """Rules, rates and the best need probes that measure one number."""
        rate = getattr(self.dynamics, "learning_rate", None)
        follows = rate.follows if isinstance(rate, Following) else ()
        best = (self.keep.best,) if self.keep and self.keep.best else ()
        watched = {"stop": [rule.of for rule in self.stop], "keep": best, "learning_rate": follows}
        single = [p.stored_as for p in self.probes if not p.dims(self.task)]
        for field, wanted in watched.items():
            for name in wanted:
                if name not in single:
                    known = ", ".join(single) or "there is none"
                    raise bad(field, name, f"a probe that measures one number: {known}")
        stepwise = [p.stored_as for p in self.probes if isinstance(p, StepProbe)]
        if stepwise and (self.dynamics.continuous or not hasattr(self.dynamics, "learning_rate")):
            raise bad("probes", stepwise[0], "dynamics with steps, which this probe observes")
        if both := set(stepwise) & set(follows):
            raise bad("learning_rate", both.pop(), "a probe that measures a snapshot")
        taken = {"learning_rate", "time"} & set(names) if follows else ()
        if taken:
            raise bad("probes", taken.pop(), "another name: the followed rate is stored under it")
        if self.dynamics.continuous and any(rule.after for rule in self.stop):
            raise bad("after", max(r.after for r in self.stop), "0: a flow has no steps")
        if self.keep and self.keep.at:
            self.kept_at()

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
        check_kinds(self.task, self.model)
        for name in ("depth", "layers"):
            if (count := getattr(self.model, name, 0)) > MOST_LAYERS:
                raise bad(f"model.{name}", count, f"at most {MOST_LAYERS:,}")
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
        self._check_batches()
        self.dynamics.check_model(self.model)
        for probe in self.probes:
            if missing := probe.needs(self.task, network):
                raise BadInput(f"probe {type(probe).__name__} needs {missing}; the task is {task}")

    def _check_batches(self) -> None:
        size, order = self.dynamics.samples_per_step, self.dynamics.batch_order
        if order == "fresh":
            if not self.task.has("draw"):
                name = type(self.task).__name__
                raise bad("order", order, f"'fixed', 'random' or 'shuffled': {name} has no `draw`")
        elif size is not None and order != "random":
            with precision(self.dtype), foreign():
                samples = jax.eval_shape(self.task.samples, key_for(0, "data"))
            if size > (count := jax.tree.leaves(samples)[0].shape[0]):
                raise bad("batch_size", size, f"at most {count}, the number of samples")

    def _setup(self) -> Setup:
        best = replace(self.keep, at=()) if self.keep and self.keep.best else None
        return Setup(self.task, self.model, self.dynamics, self.probes, self.stop, best)

    def recorded_at(self) -> np.ndarray:
        """Steps (discrete) or times (flow) at which the probes measure."""
        discrete = not self.dynamics.continuous
        return self.record.recorded_at(float(self.steps or self.time or 0), discrete)

    def kept_at(self) -> np.ndarray:
        """Steps, for flows numbers of records, at which parameters are kept."""
        at = np.asarray(self.keep.at if self.keep else ())
        if self.dynamics.continuous:
            recorded = self.recorded_at()
            outside = [t for t in at if t not in recorded]
            if outside:
                raise bad("keep", outside[0], "recorded times", "record=record.At((...))")
            return np.searchsorted(recorded, at)
        outside = [s for s in at if not 0 <= s <= self.steps or s != int(s)]
        if outside:
            raise bad("keep", outside[0], f"whole numbers of steps from 0 to {self.steps}")
        return at.astype(np.int64)

    def grid(self) -> list[Setup]:
        """The pieces at every point of the sweep grid, the last axis fastest."""
        points = [self._setup()]
        for path, values in self.over:
            points = [set_path(p, path, v) for p in points for v in values]
        return points

    def axes(self) -> dict[str, list[Any]]:
        """Sweep axes by path, as they stand in the result."""
        return {path: axis_labels(values) for path, values in self.over}


@dataclass(frozen=True)
class Setup(Spec):
    """What is compiled, without length, seeds and axes."""

    task: Task
    model: Model
    dynamics: Dynamics
    probes: tuple[Probe, ...]
    stop: tuple[Stop, ...] = ()
    best: Keep | None = None


def check_seed_count(seeds: int) -> int:
    """The number of seeds, if there can be so many."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise bad("seeds", seeds, f"at least 1 and at most {MOST_SEEDS:,}")
    return seeds


def axis_label(value: Any) -> Any:
    """A coordinate must be a number or a text."""
    return value if isinstance(value, int | float | str | bool) else repr(value)


def axis_labels(values: Iterable[Any]) -> list[Any]:
    """The labels of one axis: all numbers, all switches, or all text, which can be stored.

    Example:
        >>> axis_labels([0.5, 1]), axis_labels([None, 4, "all"])
        ([0.5, 1], ['None', '4', 'all'])
    """
    labels = [axis_label(value) for value in values]
    switches = [isinstance(label, bool) for label in labels]
    texts = [isinstance(label, str) for label in labels]
    if any(texts) or len(set(switches)) > 1:
        return [str(label) for label in labels]
    return labels


def usual_probes(task: Task) -> list[Probe]:
    """The training loss, and the test loss of a task that has one."""
    return [Loss(), TestLoss()] if task.has("test_loss") else [Loss()]


def make_experiment(
    task: Task,
    model: Model,
    dynamics: Dynamics,
    *,
    steps: int | None,
    time: float | None,
    probes: Iterable[Probe] | None,
    record: Record | None,
    seeds: int | Iterable[int],
    dtype: str | None,
    over: Mapping[str, Iterable[Any]] | None = None,
    stop: Stop | Iterable[Stop] = (),
    keep: Keep | None = None,
) -> Experiment:
    """The experiment that a call of `simulate` or `sweep` describes, defaults filled in."""
    for name, value, kind in (
        ("task", task, Task),
        ("model", model, Model),
        ("dynamics", dynamics, Dynamics),
    ):
        if isinstance(value, type) and issubclass(value, kind):
            raise bad(name, value, f"an instance of the class: {value.__name__}(...)")
        if not isinstance(value, kind):
            raise bad(
                name, value, f"a {kind.__name__}", f"see dynascope.{kind.__module__.split('.')[1]}"
            )
    probes = _probes(usual_probes(task) if probes is None else probes)
    if isinstance(seeds, int):
        seeds = range(check_seed_count(seeds))
    axes = []
    for path, values in (over or {}).items():
        get_path(Setup(task, model, dynamics, probes), path)
        axes.append((
            path,
            tuple(np.asarray(values).tolist() if hasattr(values, "tolist") else values),
        ))
    try_once(task, model, dynamics, probes, dtype or dynamics.default_dtype)
    return Experiment(
        task,
        model,
        dynamics,
        probes,
        steps=steps,
        time=time,
        record=record or Evenly(),
        seeds=tuple(seeds),
        dtype=dtype or dynamics.default_dtype,  # type: ignore[arg-type]
        over=tuple(axes),
        stop=(stop,) if isinstance(stop, Stop) else tuple(stop),
        keep=keep,
    )


def _probes(given: Iterable[Probe]) -> tuple[Probe, ...]:
    """The probes as a tuple; what is no list of probes is said in one line."""
    example = "a list of probes, such as [probes.Loss()]"
    if isinstance(given, Probe):
        raise bad("probes", given, f"a list: [{type(given).__name__}(...)]")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise bad("probes", given, example)
    found = tuple(given)
    if not found:
        raise bad("probes", [], "something to measure, such as [probes.Loss()]")
    for probe in found:
        if isinstance(probe, type) and issubclass(probe, Probe):
            raise bad("probes", probe, f"an instance of the class: {probe.__name__}()")
        if not isinstance(probe, Probe):
            raise bad("probes", probe, example)
    return found
