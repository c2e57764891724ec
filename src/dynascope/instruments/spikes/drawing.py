"""A log with its spikes marked: loss, rate against critical rate, kernel norm, on one axis."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference, Scale
from dynascope.instruments.spikes.explaining import Explained
from dynascope.instruments.spikes.reading import Log

LABELS = {"kernel_norm": "norm of the tangent kernel", "sharpness": "sharpness"}


def spikes_chart(log: Log, found: list[Explained]) -> Chart:
    """The log over its steps; a vertical line in every panel for each spike."""
    panels = [_losses(log, found)]
    rate, critical = log.get("learning_rate"), log.get("critical_rate")
    if critical is None and log.get("sharpness") is not None:
        critical = 2 / np.where(log["sharpness"] > 0, log["sharpness"], np.nan)
    if rate is not None and critical is not None:
        marks = (_line(log, critical, "critical rate", 0), _line(log, rate, "learning rate", 1))
        panels.append(_panel(log, marks, found, "learning rate", "log"))
    for name, label in LABELS.items():
        values = log.get(name)
        if values is not None:
            panels.append(_panel(log, (_line(log, values, label, 2),), found, label, "linear"))
    counts = {e.verdict: sum(o.verdict == e.verdict for o in found) for e in found}
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "none"
    return Chart(
        "spikes", f"Spikes of {log.source}: {told}",
        "A vertical line for each spike. In a catapult the critical rate dips below the learning "
        "rate where the loss rises, and the norm is lower afterwards.",
        tuple(panels),
    )  # fmt: skip


def _line(log: Log, values: np.ndarray, label: str, group: int) -> Line:
    fine = np.isfinite(values)
    return Line(log["step"][fine], values[fine], label, group=group)


def _losses(log: Log, found: list[Explained]) -> Panel:
    marks: list[Mark] = [_line(log, log["loss"], "loss", 0)]
    if log.get("top_loss") is not None:
        marks.append(_line(log, log["top_loss"], "in the top eigenspace", 1))
    for group, verdict in enumerate(("catapult", "consistent", "no evidence", "contradicts"), 3):
        own = [e for e in found if e.verdict == verdict and np.isfinite(e.spike.top)]
        if own:
            steps = [float(log["step"][e.spike.peak]) for e in own]
            marks.append(Points(steps, [e.spike.top for e in own], verdict, group=group))
    return _panel(log, tuple(marks), found, "loss", "log")


def _panel(
    log: Log, marks: tuple[Mark, ...], found: list[Explained], label: str, scale: Scale
) -> Panel:
    lines = tuple(Reference("x", e.step) for e in found) if len(found) <= 40 else ()
    return Panel((*marks, *lines), "", "step", label, y_scale=scale)
