"""Products that learn as panels: each entry over time, and the loss as a staircase."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from dynascope.core.charts import Line, Mark, Panel, Reference

TIME = "time / log(1 / start)"


def entries_panel(found: xr.Dataset, strengths: Sequence[float]) -> Panel:
    """Every entry, its limit dashed, and where the closed form has it half learned."""
    times, marks = found["time"].values, list[Mark]()
    for i, strength in enumerate(strengths):
        label = f"entry of strength {strength:.3g}"
        marks.append(Line(times, found["product"].values[:, i], label, group=i))
        marks.append(Line(times, found["limit"].values[:, i], "" if i else "limit", "theory", i))
    for i, half in enumerate(found.attrs["half_times"]):
        marks.append(Reference("x", half, "" if i else "half learned"))
    return Panel(tuple(marks), "entries", TIME, "u v")


def loss_panel(found: xr.Dataset) -> Panel:
    """The loss, and its staircase in the limit."""
    times = found["time"].values
    lines = (
        Line(times, found["loss"].values, "loss", group=0),
        Line(times, found["staircase"].values, "limit", "theory", 0),
    )
    return Panel(lines, "loss", TIME, "loss")
