"""The Theory interface: predicts quantities from task and model; never imports Dynamics.

Time is true gradient-flow time, as in every run's `time` coordinate.

To add one: derive from `LinearTheory` and write `jacobian` (the matrix W at given times),
or derive from `Theory` and write `predict`. The docstring states the assumptions, and
`applies` refuses settings outside them in one line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import xarray as xr

from dynascope.core.attributes import as_values
from dynascope.core.errors import BadInput, bad
from dynascope.core.paths import set_path
from dynascope.core.plain import from_plain
from dynascope.core.quantities import quantities
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.core.spec import Spec
from dynascope.models import Model
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.precision import precision
from dynascope.runtime.quick_compile import quick_compile_options
from dynascope.tasks import IdentityMapping, Task


@dataclass(frozen=True)
class Theory(Spec):
    """What mathematics predicts."""

    def applies(self, task: Task, model: Model) -> None:
        """Raise `BadInput` if the theory says nothing about this setting."""

    def predict(
        self,
        task: Task | Run,
        model: Model | None = None,
        *,
        like: xr.Dataset | None = None,
        seeds: int | Iterable[int] | None = None,
        times: Any = None,
    ) -> xr.Dataset:
        """What a run of this task and model would measure.

        Args:
            task: What is to be learned; or a `Run`, which brings everything else with it.
            model: What learns; its initial parameters are those of the seeds.
            like: A run whose seeds, sweep axes, times and names are taken over.
            seeds: Without `like`: a number of seeds or the seeds themselves.
            times: Without `like`: true gradient-flow times.

        Returns:
            A dataset with the names and axes that `simulate` gives.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class _Setting(Spec):
    """What sweep paths refer to."""

    task: Task
    model: Model


@dataclass(frozen=True)
class LinearTheory(Theory):
    """A theory of the matrix W(t) of a linear model; everything else follows from W."""

    def jacobian(self, task: Any, model: Model, seeds: np.ndarray, times: np.ndarray) -> np.ndarray:
        """W of shape (seed, time, output, input)."""
        raise NotImplementedError

    def applies(self, task: Task, model: Model) -> None:
        """Raise unless the task is the identity mapping and the model is linear, without offset."""
        if not isinstance(task, IdentityMapping):
            raise bad("task", type(task).__name__, "IdentityMapping")
        if task.rotated:
            raise bad("rotated", True, "False", "turning the data changes no prediction")

    def predict(
        self,
        task: Task | Run,
        model: Model | None = None,
        *,
        like: xr.Dataset | None = None,
        seeds: int | Iterable[int] | None = None,
        times: Any = None,
    ) -> xr.Dataset:
        """Loss, test loss, output and Jacobian; see `Theory.predict`."""
        if isinstance(task, Run):
            return self._over(_Grid.over(task), task.experiment.task, task.experiment.model)
        if model is None:
            raise BadInput("predict needs a model beside the task, or a run alone")
        return self._over(_Grid.of(like, seeds, times), task, model)

    def _over(self, grid: _Grid, task: Task, model: Model) -> xr.Dataset:
        columns: list[dict[str, np.ndarray]] = []
        for position, changes in grid.points():
            setting = _Setting(task, model)
            for path, value in changes.items():
                setting = set_path(setting, path, value)
            self.applies(setting.task, setting.model)
            moments = grid.times_at(position)
            w = self.jacobian(setting.task, setting.model, grid.seeds, moments)
            columns.append(_quantities(w, setting.task, grid.wanted))
        return grid.dataset(columns).assign_attrs(theory=type(self).__name__)


@dataclass(frozen=True)
class _Grid:
    """The seeds, sweep axes, times and names that a prediction has to follow."""

    axes: dict[str, list]
    seeds: np.ndarray
    time_dims: tuple[str, ...]
    times: np.ndarray
    steps: np.ndarray
    wanted: list[tuple[str, str, tuple | None]]  # (quantity, stored name, point)

    @staticmethod
    def over(run: Run) -> _Grid:
        """What a run measured, read from its experiment."""
        axes = {path: list(run[path].values) for path, _ in run.experiment.over}
        wanted = [w for p in run.experiment.probes if (w := _wanted(p))]
        dims = tuple(map(str, run["time"].dims))
        seeds, steps = run["seed"].values, run["step"].values
        return _Grid(axes, seeds, dims, run["time"].values, steps, wanted)

    @staticmethod
    def of(like: xr.Dataset | None, seeds: Any, times: Any) -> _Grid:
        if like is not None:
            if seeds is not None or times is not None:
                raise BadInput("predict takes like=, or seeds= and times=, not both")
            spec = as_values(like.attrs)["spec"]
            axes = {path: list(like[path].values) for path, _ in spec["over"]}
            time = like["time"]
            probes = [probe for plain in spec["probes"] for probe in _rebuilt(plain)]
            wanted = [w for p in probes if (w := _wanted(p))]
            return _Grid(
                axes,
                like["seed"].values,
                tuple(map(str, time.dims)),
                time.values,
                like["step"].values,
                wanted,
            )
        if seeds is None or times is None:
            raise BadInput("predict needs like=run, or seeds= and times=")
        seeds = np.arange(seeds) if isinstance(seeds, int) else np.asarray(list(seeds))
        times = np.asarray(times, float)
        wanted = [(name, name, None) for name in _KNOWN]
        return _Grid({}, seeds, ("step",), times, np.arange(len(times)), wanted)

    def points(self) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
        """Every grid position with the changes of task and model there."""
        shape = tuple(len(v) for v in self.axes.values())
        found = []
        for position in np.ndindex(shape):
            values = {p: v[i] for (p, v), i in zip(self.axes.items(), position, strict=True)}
            changes = {p: _plain(v) for p, v in values.items() if not p.startswith("dynamics.")}
            found.append((position, changes))
        return found

    def times_at(self, position: tuple[int, ...]) -> np.ndarray:
        along = dict(zip(self.axes, position, strict=True))
        return self.times[tuple(along[dim] for dim in self.time_dims if dim != "step")]

    def dataset(self, columns: list[dict[str, np.ndarray]]) -> xr.Dataset:
        shape = tuple(len(v) for v in self.axes.values())
        dims = (*self.axes, "seed", "step")
        variables = {}
        for quantity, name, _ in self.wanted:
            q = quantities.get(quantity)
            stacked = np.stack([c[name] for c in columns])
            values = stacked.reshape(*shape, *stacked.shape[1:])
            variables[name] = ((*dims, *q.dims), values, q.about(name))
        coords: dict[str, Any] = {**self.axes, "seed": self.seeds, "step": self.steps}
        coords["time"] = (self.time_dims, self.times)
        return xr.Dataset(variables, coords)


_KNOWN = ("loss", "test_loss", "output_at", "input_jacobian")


def _wanted(probe: Any) -> tuple[str, str, tuple | None] | None:
    """What a run's probe asks of a linear theory; None if it says nothing about it."""
    quantity = probe.quantity.name if probe.quantity else None
    if quantity not in _KNOWN:
        return None
    return quantity, probe.stored_as, getattr(probe, "point", None)


def _rebuilt(plain: dict[str, Any]) -> Iterator[Any]:
    """The probe of a plain form; none where its class is not there."""
    with contextlib.suppress(BadInput):
        yield from_plain(plain)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _quantities(w: np.ndarray, task: Any, wanted: list) -> dict[str, np.ndarray]:
    """Everything that follows from W of shape (seed, time, d, d)."""
    with precision("float64"):
        a, x_hat = np.asarray(task.moments()), np.asarray(task.test_input())
    error = w - np.eye(w.shape[-1])
    found = {}
    for quantity, name, point in wanted:
        x = x_hat if point is None else np.asarray(point)
        if quantity == "loss":
            found[name] = task.gradient_factor * 0.5 * np.einsum("...ij,j->...", error**2, a)
        elif quantity == "test_loss":
            found[name] = 0.5 * np.sum((error @ x_hat) ** 2, axis=-1)
        else:
            found[name] = w if quantity == "input_jacobian" else w @ x
    return found


def initial_params(task: Task, model: Model, seeds: np.ndarray) -> Any:
    """Untrained parameters of every seed, with a leading seed axis, in float64."""
    network = model.build(task.input_size, task.output_size)
    with precision("float64"), compilation_cache():
        draw = lambda seed: network.init(key_for(seed, "init"))  # noqa: E731
        options = quick_compile_options(jax.make_jaxpr(draw)(np.uint32(0)).jaxpr)
        init = jax.jit(jax.vmap(draw), compiler_options=options)
        return jax.tree.map(np.asarray, init(np.asarray(seeds, np.uint32)))


def initial_jacobian(task: Task, model: Model, seeds: np.ndarray) -> np.ndarray:
    """W(0) of every seed, (seed, output, input), in float64."""
    network = model.build(task.input_size, task.output_size)
    if network.matrix is None:
        raise bad("model", type(model).__name__, "a linear model")
    with precision("float64"):
        matrix, offset = jax.vmap(network.matrix)(initial_params(task, model, seeds))
        if offset is not None:
            raise bad("bias", True, "False: the theory has no offset")
        return np.asarray(matrix)
