"""Panels that several studies of the identity mapping draw: losses, trajectories, entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Line, Mark, Panel, Path, Points, Role
from dynascope.core.records import Measured


def thin(values: np.ndarray, most: int = 400) -> slice:
    """A stride that leaves at most so many points to draw."""
    return slice(None, None, max(1, len(values) // most))


def curve(values: xr.DataArray, label: str, *, group: int = 0, role: Role = "measured") -> Line:
    """A line over gradient-flow time from a one-dimensional array along step."""
    keep = thin(values.values)
    times = values["time"].values[keep]
    return Line(times, values.values[keep], label, role=role, group=group)


def trajectory(
    output: xr.DataArray, label: str, *, group: int = 0, role: Role = "measured"
) -> Path:
    """The first two output coordinates as a path, evenly spaced along its own length."""
    xy = output.values[:, :2]
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(xy, axis=0), axis=1))])
    spots = np.linspace(0, length[-1], 200)
    x, y = (np.interp(spots, length, xy[:, k]) for k in (0, 1))
    return Path(x, y, label=label, group=group, role=role)


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


def over_log_time(panel: Panel) -> Panel:
    """The panel over the logarithm of time; lines begin after time 0, which has none."""
    marks = [
        replace(m, x=m.x[1:], y=m.y[1:]) if isinstance(m, Line) and m.x and m.x[0] <= 0 else m
        for m in panel.marks
    ]
    return replace(panel, marks=tuple(marks), x_scale="log")


def share_bars(
    names: tuple[str, ...],
    shares: Sequence[Measured],
    label: str = "",
    group: int = 0,
    role: Role = "measured",
) -> Bars:
    """A bar per share, with two standard errors."""
    y = np.array([s.value for s in shares])
    error = np.array([2 * s.error for s in shares])
    low, high = np.maximum(y - error, 0), np.minimum(y + error, 1)
    return Bars(names, y, label, role, group, low=low, high=high)


def theory_map(
    paths: Sequence[tuple[str, xr.DataArray, np.ndarray]],
    first_means: Sequence[float],
    second_mean: float,
    title: str,
) -> Panel:
    """Output trajectories in several settings, each with its theory dashed over it.

    Args:
        paths: Label, measured output (step, output), predicted output (time, output).
        first_means: The settings' first means; each has a cluster and a test point.
        second_mean: The second mean, the same in all of them.
        title: The panel's title.

    Returns:
        The panel.
    """
    marks: list[Mark] = []
    for group, (label, output, theory) in enumerate(paths):
        marks.append(trajectory(output, label, group=group))
        name = "Theorem 4.1" if group + 1 == len(paths) else ""
        x, y = theory.T[:2]
        marks.append(Path(x, y, label=name, role="theory", group=group, arrows=False))
    n = len(first_means)
    places = (*first_means, 0.0), (*[0.0] * n, second_mean)
    marks.append(Points(*places, "training clusters", role="reference", group=7))
    marks.append(Points(first_means, [second_mean] * n, "test points", role="theory"))
    return Panel(tuple(marks), title, "output 1", "output 2", equal=True)
