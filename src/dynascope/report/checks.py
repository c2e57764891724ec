"""Charts that cannot be drawn say so in one line, before either renderer starts."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Bars, Chart, Graph, Heat, Line, Mark, Panel, Path, Points
from dynascope.core.errors import bad


def check(chart: Chart) -> None:
    """Raise `BadInput` if a mark's columns do not fit each other.

    Args:
        chart: The chart that is about to be drawn.

    Raises:
        BadInput: If lengths differ, an edge names no node, or space and plane mix.
    """  # noqa: DOC502
    for panel in chart.panels:
        where = f"chart {chart.name!r}"
        for mark in panel.marks:
            _check_mark(mark, where)
        _check_space(panel, where)


def in_space(panel: Panel) -> bool:
    """Whether the panel is drawn in three dimensions."""
    return any(isinstance(m, Path) and m.z is not None for m in panel.marks)


def _check_mark(mark: Mark, where: str) -> None:
    columns: dict[str, int] = {}
    if isinstance(mark, Line | Points | Path | Bars | Graph):
        names = ("x", "y", "z", "low", "high", "values", "names")
        columns = {n: len(v) for n in names if (v := getattr(mark, n, None)) is not None}
    if len(set(columns.values())) > 1:
        lengths = ", ".join(f"{n} has {k}" for n, k in columns.items())
        raise bad(f"{where}, {type(mark).__name__}", lengths, "columns of one length")
    if isinstance(mark, Graph) and any(i not in range(len(mark.x)) for e in mark.edges for i in e):
        raise bad(f"{where}, Graph edges", mark.edges, f"node numbers below {len(mark.x)}")
    if isinstance(mark, Heat) and np.size(mark.z):
        wanted = (len(mark.y), len(mark.x))
        if np.shape(mark.z) != wanted:
            raise bad(f"{where}, Heat z", np.shape(mark.z), f"the shape {wanted} of y and x")


def _check_space(panel: Panel, where: str) -> None:
    if in_space(panel):
        if "log" in (panel.x_scale, panel.y_scale):
            raise bad(f"{where}, a panel with paths in space", "a log axis", "linear axes")
        flat = [type(m).__name__ for m in panel.marks if not isinstance(m, Path) or m.z is None]
        if flat:
            raise bad(f"{where}, a panel with paths in space", flat, "paths with a z, nothing else")
