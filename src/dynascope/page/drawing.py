"""A chart as JSON for the page's own script."""

from __future__ import annotations

from typing import Any

from dynascope.core.charts import Chart
from dynascope.report import plotly_charts
from dynascope.report.captions import caption
from dynascope.report.library import bundle


def drawn(chart: Chart, narrow: bool) -> dict[str, Any]:
    """The figure in the form that fits the screen, its colours by night, its words.

    Args:
        chart: What to draw.
        narrow: Whether panels stand below each other.

    Returns:
        Plain data without NaN.
    """
    figure = plotly_charts.figure(chart, plotly_charts.NARROW if narrow else plotly_charts.WIDE)
    return {
        "name": chart.name,
        "title": chart.title,
        "caption": caption(chart),
        "figure": figure,
        "dark": plotly_charts.dark_colours(figure),
        "config": plotly_charts.CONFIG,
        "library": bundle((chart,)),
    }
