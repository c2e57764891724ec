"""What stands below a chart: its caption, and what could not be drawn."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Path, Points


def caption(chart: Chart) -> str:
    """The chart's caption, with a sentence on values that could not be drawn."""
    lost = undrawn(chart)
    words = "1 value" if lost == 1 else f"{lost} values"
    rest = f"Not drawn: {words} at or below 0 on a logarithmic axis." if lost else ""
    return f"{chart.caption} {rest}".strip()


def undrawn(chart: Chart) -> int:
    """How many finite values a logarithmic axis cannot show; the caption tells it."""
    kinds = (Line, Points, Path, Bars)
    columns = [
        np.asarray(getattr(mark, axis), dtype=float)
        for panel in chart.panels
        for mark in panel.marks
        for axis, scale in (("x", panel.x_scale), ("y", panel.y_scale))
        if scale == "log" and isinstance(mark, kinds) and hasattr(mark, axis)
    ]
    return sum(int((np.isfinite(c) & (c <= 0)).sum()) for c in columns)
