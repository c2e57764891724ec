"""A memory that learns as panels: its spectrum and its losses, with one moment marked."""

from __future__ import annotations

import xarray as xr

from dynascope.core.charts import Line, Panel, Reference


def spectrum_panel(found: xr.Dataset, time: float) -> Panel:
    """Both singular values over time."""
    times, here = found["time"].values, Reference("x", time, "time")
    lines = [
        Line(times, found[name].values, name, "theory", group)
        for group, name in enumerate(("signal", "noise"))
    ]
    return Panel((*lines, here), "singular values", "time", "singular value", "log")


def loss_panel(found: xr.Dataset, time: float) -> Panel:
    """The loss on clean labels of the whole memory and of the truncated one."""
    steps, times = found["step"].values, found["time"].values
    marks = (
        Line(steps, found["trained_loss"], "whole, trained", group=0),
        Line(times, found["loss"], "whole", "theory", 0),
        Line(
            steps, found["trained_truncated_loss"], "smallest direction cut off, trained", group=1
        ),
        Line(times, found["truncated_loss"], "without the noise", "theory", 1),
        Reference("x", time, "time"),
    )
    return Panel(marks, "loss on clean labels", "time", "loss", "log", "log")
