"""Panels that several studies of the identity mapping draw: losses, trajectories, entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Line, Mark, Panel, Path, Points, Role, Scale
from dynascope.core.records import Measured
from dynascope.core.run import Run


def thin(values: np.ndarray, most: int = 400) -> slice:
    """A stride that leaves at most so many points to draw."""
    return slice(None, None, max(1, len(values) // most))


def curve(values: xr.DataArray, label: str, *, group: int = 0, role: Role = "measured") -> Line:
    """A line over gradient-flow time from a one-dimensional array along step."""
    keep = thin(values.values)
    times = values["time"].values[keep]
    return Line(times, values.values[keep], label, role=role, group=group)


def with_theory(
    run: xr.DataArray, theory: xr.DataArray, label: str, group: int = 0, name: str = "theory"
) -> tuple[Line, Line]:
    """A measured line and the theory over it."""
    return curve(run, label, group=group), curve(theory, name, group=group, role="theory")


def entries(
    run: Run | xr.Dataset, theory: xr.Dataset, places: Sequence[tuple[int, int]], named: int = -1
) -> list[Mark]:
    """Jacobian entries of one seed with the theory over them, which is named once."""
    marks: list[Mark] = []
    for group, (i, j) in enumerate(places):
        measured, predicted = (r["input_jacobian"][:, i, j] for r in (run, theory))
        name = "theory" if (i, j) == places[named] else ""
        marks += with_theory(measured, predicted, f"w{i + 1}{j + 1}", group, name)
    return marks


def evenly_spaced(path: np.ndarray, points: int) -> np.ndarray:
    """So many points at equal steps along the path's own length, (time, d) to (points, d).

    Example:
        >>> evenly_spaced(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 2).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    spots = np.linspace(0, length[-1], points)
    return np.stack([np.interp(spots, length, x) for x in path.T], axis=1)


def trajectory(output: xr.DataArray, label: str, group: int = 0, role: Role = "measured") -> Path:
    """The first two output coordinates as a path, evenly spaced along its own length."""
    x, y = evenly_spaced(output.values[:, :2], 200).T
    return Path(x, y, label=label, group=group, role=role)


def map_panel(
    first: float | tuple[float, ...], second: float, paths: Sequence[Mark], title: str
) -> Panel:
    """Output trajectories over the map of training clusters and test points, one or several."""
    firsts, what = (first, "test points") if isinstance(first, tuple) else ((first,), "test point")
    axes = (*firsts, 0.0), (*[0.0] * len(firsts), second)
    places = (Points(*axes, "training clusters", role="reference", group=7),
              Points(firsts, [second] * len(firsts), what, role="theory"))  # fmt: skip
    return Panel((*paths, *places), title, "output 1", "output 2", equal=True)


def loss_panel(
    marks: Sequence[Mark], title: str, y_label: str = "test loss", y_scale: Scale = "linear"
) -> Panel:
    """Losses over time."""
    return Panel(tuple(marks), title, "gradient-flow time", y_label, y_scale=y_scale)


def over_log_time(panel: Panel) -> Panel:
    """The panel over the logarithm of time; lines begin after time 0, which has none."""
    marks = [
        replace(m, x=m.x[1:], y=m.y[1:]) if isinstance(m, Line) and m.x and m.x[0] <= 0 else m
        for m in panel.marks
    ]
    return replace(panel, marks=tuple(marks), x_scale="log")


def shares_as(
    kind: type[Bars] | type[Points], x: Any, shares: Iterable[Measured], label: str = "",
    group: int | None = None, role: Role = "measured",
) -> Bars | Points:  # fmt: skip
    """Bars or points, one per share, with its 95 % interval."""
    y, low, high = np.array([(m.value, m.low, m.high) for m in shares]).T
    return kind(x, y, label, role, group, low, high)
