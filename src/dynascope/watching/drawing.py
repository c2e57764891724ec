"""A watched run as one picture: all quantities over the steps, with the findings marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference, Span
from dynascope.watching.diagnosis import Finding
from dynascope.watching.diagnosis.base import measured

if TYPE_CHECKING:
    import xarray as xr

# Panels: what is drawn together, and whether in logarithms.
TOGETHER = (
    (("loss",), "loss", "log"),
    (("rate_over_critical",), "rate over critical rate", "linear"),
    (("sharpness", "scaled_sharpness"), "sharpness", "log"),
    (("gradient_norm",), "gradient norm", "log"),
    (("tangent_kernel_norm",), "norm of the tangent kernel", "log"),
    (("top_space_share", "kernel_drift", "agop_alignment"), "shares", "linear"),
)
FEW = 60  # measured points that are worth a marker each


def charts(record: xr.Dataset, found: list[Finding]) -> tuple[Chart, ...]:
    """Every quantity on one axis of steps; findings are stretches of it."""
    known = {str(name) for name in record.data_vars}
    drawn = {name for names, _, _ in TOGETHER for name in names}
    own = sorted(
        name for name in known - drawn
        if record[name].dims == ("step",)
        and not name.endswith(("_residual", "_products", "_converged"))
        and name not in ("learning_rate", "critical_learning_rate")
    )  # fmt: skip
    rows = [*TOGETHER, *(((name,), name.replace("_", " "), "linear") for name in own)]
    told = [f for f in found if f.kind != "nothing unusual"]
    spans = tuple(Span(float(f.steps[0]), float(f.steps[1]), "") for f in told)
    panels = [_panel(record, *row, spans) for row in rows]
    if "update_stable_rank" in known:
        panels.append(_ranks(record, spans))
    panels.append(_findings(told))
    shown = tuple(panel for panel in panels if panel is not None)
    words = " ".join(f"{f.kind.capitalize()}: {f.sentence}" for f in found)
    return (Chart("watched", "What the run did", words, shown),)


def _panel(
    record: xr.Dataset, names: tuple[str, ...], label: str, scale: str, spans: tuple[Span, ...]
) -> Panel | None:
    marks: list[Mark] = []
    for group, name in enumerate(names):
        steps, values = measured(record, name)
        if scale == "log":
            steps, values = steps[values > 0], values[values > 0]
        if not len(values):
            continue
        said = name.replace("_", " ")
        marks.append(Line(steps, values, said, group=group))
        if len(values) <= FEW:
            marks.append(Points(steps, values, group=group))
    if not marks:
        return None
    if "rate_over_critical" in names:
        marks.append(Reference("y", 1.0, "the rate is critical"))
    return Panel((*marks, *spans), "", "step", label, y_scale=scale)  # type: ignore[arg-type]


def _findings(told: list[Finding]) -> Panel | None:
    """When each finding holds: a bar over the steps for each, under the others."""
    if not told:
        return None
    bars = [
        Line(f.steps, (-i, -i), f.kind, group=i) for i, f in enumerate(told, 1)
    ]  # names of several that overlap would not be readable on the stretches themselves
    return Panel(tuple(bars), "", "step", "findings")


def _ranks(record: xr.Dataset, spans: tuple[Span, ...]) -> Panel | None:
    ranks = record["update_stable_rank"].dropna("step", how="all")
    if not ranks.size:
        return None
    values = ranks.values
    marks = (
        Line(
            ranks["step"].values, np.nanmedian(values, axis=1), "median of the weights",
            low=np.nanmin(values, axis=1), high=np.nanmax(values, axis=1), group=0,
        ),
    )  # fmt: skip
    return Panel((*marks, *spans), "", "step", "stable rank of the change")
