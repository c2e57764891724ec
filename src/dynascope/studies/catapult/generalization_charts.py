"""Charts of best test loss and accuracy over learning rates, for three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dynascope.core import charts
from dynascope.core.charts import Chart, Line, Mark, Points, Reference, Role
from dynascope.studies.catapult.generalization_runs import Curve, Panel

LABELS: dict[str, tuple[str, Role]] = {
    "network": ("network", "measured"),
    "quadratic": ("quadratic model", "theory"),
    "linear": ("linear model", "control"),
}


def loss_chart(name: str, title: str, found: Mapping[str, Panel]) -> Chart:
    """Best test loss over training against the learning rate."""
    panels = [_panel(p, Curve.settled, "best test loss") for p in found.values()]
    return Chart(
        name,
        f"Best test loss against the learning rate: {title}",
        "Mean over seeds, for the network with their range; rates at which a seed diverges are "
        "left out. Left of the critical rate the three models should agree, right of it the "
        "linear one is gone. Look at whether the other two go on falling there, how far, and "
        "whether they rise again. Every data set is a small subset; the notes say which.",
        tuple(panels),
    )


def accuracy_chart(name: str, title: str, found: Mapping[str, Panel]) -> Chart:
    """Best test accuracy over training against the learning rate."""
    panels = [_panel(p, _accuracy, "best test accuracy") for p in found.values()]
    return Chart(
        name,
        f"Best test accuracy against the learning rate: {title}",
        "Mean over seeds, for the network with their range. Look at whether accuracy follows the "
        "loss past the critical rate; on small test sets it moves in coarse steps.",
        tuple(panels),
    )


def _accuracy(curve: Curve) -> np.ndarray:
    return np.where(curve.trained, curve.accuracy, np.nan)


def _panel(panel: Panel, read: Callable[[Curve], np.ndarray], y_label: str) -> charts.Panel:
    marks: list[Mark] = []
    for group, (kind, (label, role)) in enumerate(LABELS.items()):
        values = read(panel.curves[kind])
        whole = np.isfinite(values).all(axis=1)
        if not whole.any():
            continue
        y, x = values[whole], panel.ratio[whole].mean(axis=1)
        if kind == "linear":  # points, since its line would lie on the others
            marks.append(Points(x, y.mean(axis=1), label, role, group))
        else:
            ends = {"low": y.min(axis=1), "high": y.max(axis=1)} if kind == "network" else {}
            marks.append(Line(x, y.mean(axis=1), label, role, group, **ends))
    marks.append(Reference("x", 1.0, "critical rate"))
    return charts.Panel(tuple(marks), panel.title, "learning rate / critical rate", y_label)
