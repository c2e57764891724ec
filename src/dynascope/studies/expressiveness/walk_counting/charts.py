"""Errors beside Table 2.2, and over training."""

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel
from dynascope.studies.expressiveness.walk_counting import runs
from dynascope.studies.expressiveness.walk_counting.runs import (
    SHORT,
    TABLE_2_2,
    Both,
    Settings,
    study,
)
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

TITLES = {"cora": "Cora, two steps", "regular": "Regular graph"}
by_graph = together(**runs.errors_on)


def _curve(error: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Steps after the start, and the mean over seeds."""
    return error["step"].values[1:], error.mean("seed").values[1:]


@study.chart(runs.errors_on["regular"], headline=True)
def headline(s: Settings, both: Both) -> Chart:
    """GIN's held-out error on the regular graph, with that of powers of A."""
    errors = both["test"]
    (steps, gin), (_, mlp) = _curve(errors["GIN"]), _curve(errors["GA-MLP-A"])
    return headline_chart(
        "Held-out error of counting walks on the regular graph", ("step", steps),
        ("MSE / variance", gin), ("MLP on powers of A", mlp), name="GIN", y_scale="log",
        note=f"mean of {s.seeds} seeds; powers of A stop where GIN goes on",
    )  # fmt: skip


@study.chart(by_graph)
def table(s: Settings, by_graph: dict[str, Both]) -> Chart:
    """Held-out errors beside the printed ones."""
    panels = []
    for graph, both in by_graph.items():
        errors = both["test"]
        names = tuple(name for name in errors if name in TABLE_2_2[graph])
        ends = [errors[name].values[:, -1] for name in names]
        low, high = [v.min() for v in ends], [v.max() for v in ends]
        means = [10 ** np.log10(v).mean() for v in ends]  # the middle on a logarithmic axis
        marks: list[Mark] = [Bars(names, means, "measured", low=low, high=high)]
        if getattr(s, graph) == runs.PRINTED[graph]:
            y = [TABLE_2_2[graph][name][1] for name in names]
            marks.append(Bars(names, y, "as printed", role="theory"))
        panel = Panel(tuple(marks), TITLES[graph], y_label="held-out error", y_scale="log")
        panels.append(panel)
    return Chart(
        "table", "Table 2.2: held-out error of counting walks",
        "Mean squared error over the variance of the counts: geometric mean over seeds with the "
        "range, beside the printed numbers where the graph is the printed one. A longer bar is a "
        "larger error: look at how far GIN is below the others.",
        tuple(panels),
    )  # fmt: skip


@study.chart(by_graph)
def curves(s: Settings, by_graph: dict[str, Both]) -> Chart:
    """Held-out error over training."""
    panels = []
    for graph, both in by_graph.items():
        marks = tuple(
            Line(*_curve(run), name, "control" if name == SHORT else "measured", group)
            for group, (name, run) in enumerate(both["test"].items())
        )
        panels.append(Panel(marks, graph, "step", "held-out error", "log", "log"))
    return Chart(
        "curves", "How long it takes to learn counting",
        "Mean over seeds. Look at where GIN crosses the graph-augmented MLPs, which settle at "
        "once; with one layer (grey) it cannot see far enough.",
        tuple(panels),
    )  # fmt: skip
