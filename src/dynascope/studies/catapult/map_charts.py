"""Charts of the study `quadratic-map`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points, Reference
from dynascope.studies.base import chart
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_phases import PhaseDiagram

SHOWN = {
    1.5: "v = 1.5, below 2",
    2.5: "v = 2.5, between",
    3.5: "v = 3.5, between",
    4.2: "v = 4.2, past 4",
}


@chart
def three_regimes(study: Any, found: Any) -> Chart:
    """Loss and kernel over time for sub-, super- and over-critical rates."""
    loss: list[Mark] = []
    kernel: list[Mark] = []
    for k, (v, name) in enumerate(SHOWN.items()):
        path = QuadraticMap(v, 1e4, label=1.0).trajectory(40)
        steps = np.arange(41)
        seen = np.isfinite(path.loss) & (path.loss < 1e9) & (path.loss > 1e-9)
        loss.append(Line(steps[seen], path.loss[seen], name, group=k))
        kernel.append(Line(steps[seen], path.kernel[seen], name, group=k))
        if v in (2.5, 3.5):
            top, when = QuadraticMap(v, 1e4, label=1.0).predicted_peak()
            loss.append(Points([when], [top], "predicted peak" if v == 2.5 else "", "theory", k))
    below = Reference("y", 1.0, "at the start")
    return Chart(
        "three-regimes", "One example, three regimes",
        "Width 10,000. Below 2 the loss falls and the kernel stands; between 2 and 4 the loss is "
        "catapulted and comes back with a smaller kernel; past 4 both grow without end.",
        (
            Panel(tuple(loss), "loss", "step", "loss", y_scale="log"),
            Panel((*_clipped(kernel, 2.0), below), "tangent kernel", "step", "kernel"),
        ),
    )  # fmt: skip


def _clipped(lines: list[Mark], top: float) -> list[Mark]:
    """Lines up to a value: a diverging kernel would hide the others."""
    kept: list[Mark] = []
    for line in lines:
        x, y = np.asarray(line.x), np.asarray(line.y)  # type: ignore[union-attr]
        low = y <= top
        kept.append(Line(x[low], y[low], line.label, group=line.group))  # type: ignore[union-attr]
    return kept


def phase_panel(diagram: PhaseDiagram, y_label: str, log: bool, title: str) -> Panel:
    """Rise of the loss as a field, grey where descent diverges, with the boundaries over it."""
    # At the lowest rate nothing rises: there the peak is the first loss.
    rise = np.log10(diagram.peak_loss / diagram.peak_loss[:, :1])
    shade = np.where(diagram.regime == 2, np.nan, rise)
    marks: tuple[Mark, ...] = (
        Heat(diagram.x, diagram.y, shade, "log10 of peak over first loss"),
        Reference("x", 2.0, "critical: 2"),
        Reference("x", 4.0, "largest: 4"),
    )
    return Panel(
        marks, title, "learning rate x first kernel", y_label, y_scale="log" if log else "linear"
    )


@chart
def phases_by_width(study: Any, found: Any) -> Chart:
    """What happens over learning rate and width."""
    edge = Line(found.edge_rates, found.edge_widths, "edge of divergence", "theory")
    panel = phase_panel(found.by_width, "width", True, "")
    panel = Panel((*panel.marks, edge), "", panel.x_label, panel.y_label, y_scale="log")
    return Chart(
        "phases-by-width", "Phase diagram over learning rate and width, label 1",
        f"{found.by_width.regime.size:,} descents of {study.steps} steps; grey diverges. Between "
        "2 and 4 the peak grows with the width; below 2 nothing rises. The edge of divergence "
        "(dashed) reaches 4 as the width grows.",
        (panel,),
    )  # fmt: skip


@chart
def phases_by_label(study: Any, found: Any) -> Chart:
    """What happens over learning rate and label, for a narrow model."""
    return Chart(
        "phases-by-label", f"Phase diagram over learning rate and label, width {study.narrow:g}",
        "Grey diverges. At label 0 the edge is at 4 exactly, and a label moves it inwards. The "
        "first output is 0.3: near that label the first error is small, so it rises most.",
        (phase_panel(found.by_label, "label", False, ""),),
    )  # fmt: skip


@chart
def peaks(study: Any, found: Any) -> Chart:
    """Peak loss and time to peak over the width, with the closed forms."""
    widths = np.logspace(3, 8, 26)
    loss: list[Mark] = []
    when: list[Mark] = []
    for k, v in enumerate((2.2, 2.5, 3.0)):
        seen = QuadraticMap(v, 1.0, label=1.0).outcome(600, width=widths)
        said = np.array([QuadraticMap(v, m, label=1.0).predicted_peak() for m in widths])
        loss += [
            Points(widths, seen.peak_loss, f"v = {v}", group=k),
            Line(widths, said[:, 0], "closed form" if k == 0 else "", "theory", k),
        ]
        when += [
            Points(widths, seen.peak_step, f"v = {v}", group=k),
            Line(widths, said[:, 1], "closed form" if k == 0 else "", "theory", k),
        ]
    return Chart(
        "peaks", "How high and how late: in proportion to the width, and to its logarithm",
        "Points are exact descents, dashed the closed forms of the slow limit.",
        (
            Panel(tuple(loss), "peak loss", "width", "peak loss", "log", "log"),
            Panel(tuple(when), "step of the peak", "width", "step", "log"),
        ),
    )  # fmt: skip
