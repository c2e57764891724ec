"""Panels that several studies of the identity mapping draw: losses, trajectories, entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Mark, Panel, Path, Points


def thin(values: np.ndarray, most: int = 400) -> slice:
    """A stride that leaves at most so many points to draw."""
    return slice(None, None, max(1, len(values) // most))


def curve(values: xr.DataArray, label: str, *, group: int = 0, role: str = "measured") -> Line:
    """A line over gradient-flow time from a one-dimensional array along step."""
    keep = thin(values)
    return Line(
        values["time"].values[keep],
        values.values[keep],
        label,
        role=role,
        group=group,  # type: ignore[arg-type]
    )


def trajectory(output: xr.DataArray, label: str, *, group: int = 0, role: str = "measured") -> Path:
    """The first two output coordinates as a path, evenly spaced along its own length."""
    xy = output.values[:, :2]
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(xy, axis=0), axis=1))])
    spots = np.linspace(0, length[-1], 200)
    x, y = (np.interp(spots, length, xy[:, k]) for k in (0, 1))
    return Path(x, y, label=label, group=group, role=role)  # type: ignore[arg-type]


def map_panel(means: Sequence[float], paths: Sequence[Mark], title: str) -> Panel:
    """Output trajectories over the map of training clusters and the test point."""
    first, second = means[:2]
    places: tuple[Mark, ...] = (
        Points((first, 0.0), (0.0, second), "training clusters", role="reference", group=7),
        Points((first,), (second,), "test point", role="theory"),
    )
    return Panel((*paths, *places), title=title, x_label="output 1", y_label="output 2", equal=True)


def loss_panel(marks: Sequence[Mark], title: str, y_label: str = "test loss") -> Panel:
    """Losses over time."""
    return Panel(tuple(marks), title=title, x_label="gradient-flow time", y_label=y_label)
