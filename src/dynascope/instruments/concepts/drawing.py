"""A run and its theory as panels: the output among the concepts, and curves over time."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Mark, Panel, Path, Points

NAMES = ("first concept", "second concept")


def plane_panel(run: xr.Dataset, goal: np.ndarray, *others: Points) -> Panel:
    """The output in the plane of the first two concepts, its prediction, and the test point."""
    seen, predicted = run["output_at"].values, run["theory_output"].values
    marks: tuple[Mark, ...] = (
        Path(seen[:, 0], seen[:, 1], None, "output", group=0),
        Path(predicted[:, 0], predicted[:, 1], None, "theory", "theory", 0, arrows=False),
        Points([goal[0]], [goal[1]], "test point", "reference"),
        *others,
    )
    return Panel(marks, "output at the test point", *NAMES, equal=True)


def loss_panel(run: xr.Dataset) -> Panel:
    """The test loss over time, and its prediction."""
    lines = _both(run, run["test_loss"].values, run["theory_test_loss"].values, "test loss", 0)
    return Panel(lines, "test loss", "gradient-flow time", "test loss")


def share_panel(run: xr.Dataset, goal: np.ndarray) -> Panel:
    """How much of each concept is learned over time, and its prediction."""
    seen, predicted = run["output_at"].values, run["theory_output"].values
    lines = [
        line
        for k, name in enumerate(NAMES)
        for line in _both(run, seen[:, k] / goal[k], predicted[:, k] / goal[k], name, k)
    ]
    return Panel(tuple(lines), "how much of each is learned", "gradient-flow time", "share")


def _both(
    run: xr.Dataset, seen: np.ndarray, predicted: np.ndarray, name: str, group: int
) -> tuple[Line, Line]:
    """A measured curve and its prediction, dashed, in one colour."""
    times = run["time"].values
    return (
        Line(times, seen, name, group=group),
        Line(times, predicted, "" if group else "theory", "theory", group),
    )
