"""Rows of lanes as a labelled `xarray.Dataset`, with provenance in its attributes."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
import xarray as xr

import dynascope
from dynascope.core.spec import fingerprint, to_plain
from dynascope.dynamics.base import NEVER
from dynascope.engine.experiment import Bare, Experiment


class Labeller:
    """Knows the axes of one experiment; turns rows of lanes into parts of its dataset."""

    def __init__(self, experiment: Experiment, grid: list[Bare], places: np.ndarray) -> None:
        self.experiment, self.places = experiment, places
        self.axes = {**experiment.axes(), "seed": list(experiment.seeds)}
        self.shape = tuple(len(v) for v in self.axes.values())
        self.times = self._times(grid)

    def _times(self, grid: list[Bare]) -> tuple[tuple[str, ...], np.ndarray]:
        """Gradient-flow time of every place; along sweep axes only where it differs."""
        if self.experiment.dynamics.continuous:
            return ("step",), np.asarray(self.places, float)
        each = np.stack([bare.dynamics.elapsed(self.places) for bare in grid])
        dims, times = [*self.experiment.axes(), "step"], each.reshape(*self.shape[:-1], -1)
        for axis in reversed(range(len(dims) - 1)):
            first = times.take([0], axis)
            if (times == first).all():
                dims.pop(axis)
                times = first.squeeze(axis)
        return tuple(dims), times

    def part(
        self, rows: dict[str, np.ndarray], window: np.ndarray, diverged: np.ndarray
    ) -> xr.Dataset:
        """Rows (lanes, n, ...) of the places numbered `window`, as a dataset."""
        flow = self.experiment.dynamics.continuous
        steps = np.arange(len(self.places)) if flow else self.places
        time_dims, times = self.times
        coords: dict[str, Any] = dict(self.axes)
        coords["step"] = ("step", steps[window], {"long_name": "record" if flow else "step"})
        coords["time"] = (time_dims, times[..., window], {"long_name": "gradient-flow time"})
        variables = {}
        for probe in self.experiment.probes:
            q, value = probe.quantity, rows[probe.stored_as]
            dims = (*self.axes, "step", *probe.dims(self.experiment.task))
            coords.update(probe.coords(self.experiment.task))
            attrs = {"units": q.unit, "symbol": q.symbol, "long_name": q.meaning}
            variables[probe.stored_as] = (dims, value.reshape(*self.shape, *value.shape[1:]), attrs)
        for name, values, meaning in (
            ("diverged", diverged != NEVER, "whether the lane left finite numbers"),
            ("diverged_step", diverged, "last step with finite numbers, -1 if all were"),
        ):
            variables[name] = (tuple(self.axes), values.reshape(self.shape), {"long_name": meaning})
        return xr.Dataset(variables, coords)


def provenance(experiment: Experiment, seconds: float, outcome: str, mapped: bool) -> dict:
    """What a record must be able to answer: which settings, code, machine, and how long."""
    import jax

    return {
        "spec": to_plain(experiment),
        "fingerprint": fingerprint(experiment),
        "outcome": outcome,
        "seeds": len(experiment.seeds),
        "dtype": experiment.dtype,
        "lanes": "mapped" if mapped else "vmapped",
        "versions": versions(),
        "device": f"{jax.local_device_count()} x {jax.devices()[0].device_kind}",
        "machine": platform.machine(),
        "seconds": round(seconds, 3),
    }


@cache
def versions() -> dict[str, str]:
    """Versions of everything that decides numbers."""
    names = ("jax", "jaxlib", "numpy", "equinox", "optax", "diffrax")
    found = {name: metadata.version(name) for name in names}
    return {"dynascope": dynascope.__version__, "python": platform.python_version(), **found}
