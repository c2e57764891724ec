"""Rows of lanes as a labelled `xarray.Dataset`, with provenance in its attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.parts import KEPT
from dynascope.core.plain import Identity
from dynascope.dynamics.base import NEVER
from dynascope.engine.drive import Chunk
from dynascope.engine.experiment import Experiment, Setup
from dynascope.engine.following import followed
from dynascope.engine.keeping import as_rows
from dynascope.runtime.processor import processor
from dynascope.runtime.versions import versions


class _Axis(NamedTuple):
    """What two probes must agree on to share an axis."""

    size: int | None
    labels: tuple[str, ...] | None


def _apart(
    name: str, sizes: dict[str, int], labels: dict[str, Any], taken: dict[str, _Axis]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of a probe's axes and their labels.

    An axis that an earlier probe has with another size or with other labels gets the probe's
    name in front: it would be that probe's labels that both carry.

    Args:
        name: What the probe is stored as.
        sizes: Of its axes.
        labels: Along them, where it has any.
        taken: The axes of the run and of earlier probes; this one's are added.
    """
    names = {}
    for dim, size in sizes.items():
        axis = _Axis(size, tuple(map(str, labels[dim])) if dim in labels else None)
        names[dim] = dim if taken.setdefault(dim, axis) == axis else f"{name}_{dim}"
    return tuple(names.values()), {names.get(dim, dim): value for dim, value in labels.items()}


class Labeller:
    """Knows the axes of one experiment; turns rows of lanes into parts of its dataset."""

    def __init__(self, experiment: Experiment, grid: list[Setup], recorded_at: np.ndarray) -> None:
        self.experiment, self.recorded_at = experiment, recorded_at
        self.axes = {**experiment.axes(), "seed": list(experiment.seeds)}
        self.shape = tuple(len(v) for v in self.axes.values())
        self.follows = followed(experiment.dynamics) is not None
        self.times = None if self.follows else self._times(grid)

    def _times(self, grid: list[Setup]) -> tuple[tuple[str, ...], np.ndarray]:
        """Gradient-flow time of every record; along sweep axes only where it differs."""
        if self.experiment.dynamics.continuous:
            return ("step",), np.asarray(self.recorded_at, float)
        each = np.stack([setup.dynamics.elapsed(self.recorded_at) for setup in grid])
        dims, times = [*self.experiment.axes(), "step"], each.reshape(*self.shape[:-1], -1)
        for axis in reversed(range(len(dims) - 1)):
            first = times.take([0], axis)
            if (times == first).all():
                dims.pop(axis)
                times = first.squeeze(axis)
        return tuple(dims), times

    def part(
        self, rows: dict[str, np.ndarray], window: np.ndarray, kept: list, now: Chunk
    ) -> xr.Dataset:
        """Rows (lanes, n, ...) of the records numbered `window`, as a dataset.

        `kept` are the steps and parameters that come with them, `now` is where the lanes are.
        """
        flow = self.experiment.dynamics.continuous
        steps = np.arange(len(self.recorded_at)) if flow else self.recorded_at
        coords: dict[str, Any] = dict(self.axes)
        coords["step"] = ("step", steps[window], {"long_name": "record" if flow else "step"})
        variables: dict[str, Any] = {}
        taken = self._own_axes()
        if self.times is None:
            dims, times = (*self.axes, "step"), self._along_axes(rows["time"])
            rate = self._along_axes(rows["learning_rate"])
            variables["learning_rate"] = (dims, rate, {"long_name": "rate of the next step"})
        else:
            dims, times = self.times[0], self.times[1][..., window]
        coords["time"] = (dims, times, {"long_name": "gradient-flow time"})
        for probe in self.experiment.probes:
            name, value = probe.stored_as, rows[probe.stored_as]
            own = probe.dims(self.experiment.task)
            if probe.quantity is None and not own:  # an own probe need not name its axes
                own = tuple(f"{name}_{i}" for i in range(value.ndim - 2))
            own, labels = _apart(name, dict(zip(own, value.shape[2:], strict=True)),
                                 probe.coords(self.experiment.task), taken)  # fmt: skip
            coords.update(labels)
            about = probe.about
            if probe.undefined:
                about = {**about, "undefined": probe.undefined}
            dims = (*self.axes, "step", *own)
            variables[name] = (dims, self._along_axes(value), about)
        for name, values, meaning in (
            ("diverged", now.diverged != NEVER, "whether the lane left finite numbers"),
            ("diverged_step", now.diverged, "last step with finite numbers, -1 if all were"),
            *self._stopped(now),
            *self._best(now),
        ):
            dims = (*self.axes, *("parameter",) * (values.ndim - 1))
            variables[name] = (dims, self._along_axes(values), {"long_name": meaning})
        if self.experiment.keep and self.experiment.keep.at:
            numbers = np.array([step for step, _ in kept], np.int64)
            coords[KEPT] = (KEPT, self.recorded_at[numbers] if flow else numbers)
            values = np.stack([p for _, p in kept], 1) if kept else self._no_parameters(now)
            told = {"long_name": "parameters, see kept_parameters"}
            dims = (*self.axes, KEPT, "parameter")
            variables["kept_parameters"] = (dims, self._along_axes(values), told)
        return xr.Dataset(variables, coords)

    def _own_axes(self) -> dict[str, _Axis]:
        """The axes that are the run's own: no probe may share one."""
        kept = (KEPT, "parameter") if self.experiment.keep else ()
        return {name: _Axis(None, None) for name in (*self.axes, "step", "time", *kept)}

    def _along_axes(self, values: np.ndarray) -> np.ndarray:
        """The lanes of (lanes, ...) along the sweep axes and the seeds."""
        return values.reshape(*self.shape, *values.shape[1:])

    def _no_parameters(self, now: Chunk) -> np.ndarray:
        none = as_rows(now.lane.state.params, len(now.diverged))
        return none[:, None][:, :0]

    def _stopped(self, now: Chunk) -> Iterator[tuple[str, np.ndarray, str]]:
        """At which step each lane stopped, and by which rule."""
        if now.lane.stopping is None:
            return
        at, rule = (np.asarray(v)[: len(now.diverged)] for v in now.lane.stopping[:2])
        stopped = (at <= now.step) & ((now.diverged == NEVER) | (now.diverged >= at))
        words = np.array([*(rule.words for rule in self.experiment.stop), ""])
        yield "stopped_step", np.where(stopped, at, NEVER), "step at which the lane stopped, or -1"
        yield "stopped_by", words[np.where(stopped, rule, -1)], "the rule that stopped it"

    def _best(self, now: Chunk) -> Iterator[tuple[str, np.ndarray, str]]:
        """The best parameters of each lane, and their step."""
        if now.lane.best is not None:
            lanes = len(now.diverged)
            yield "best_step", np.asarray(now.lane.best.step)[:lanes], "recorded step of the best"
            yield "best_parameters", as_rows(now.lane.best.params, lanes), "see kept_parameters"


def provenance(experiment: Experiment, identity: Identity) -> dict[str, Any]:
    """What a record must be able to answer: which settings, code and machine.

    `code_unknown` names what of the user's code cannot be known, where there is any.
    """
    import jax

    return {
        "spec": identity.plain,
        "fingerprint": identity.key,
        **({"code_unknown": identity.unknown} if identity.unknown else {}),
        "seeds": len(experiment.seeds),
        "dtype": experiment.dtype,
        "versions": versions(),
        "device": f"{jax.local_device_count()} x {jax.devices()[0].device_kind}",
        "processor": processor(),
    }
