"""Records become charts, tables, pages and terminal text; pure, without jax.

The names below load on first use, so that importing this room costs nothing: matplotlib,
plotly and rich come only with the function that needs them. Nothing is read from disk,
and only the file that the caller names is written.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynascope.report.headline import headline_chart
    from dynascope.report.html import page
    from dynascope.report.markdown import claim_table
    from dynascope.report.matplotlib_charts import figure, save
    from dynascope.report.plotly_charts import figure as plotly_figure
    from dynascope.report.terminal import verdict_table
    from dynascope.report.terminal_plot import text_plot

_HOMES = {
    "claim_table": ("markdown", "claim_table"),
    "figure": ("matplotlib_charts", "figure"),
    "headline_chart": ("headline", "headline_chart"),
    "page": ("html", "page"),
    "plotly_figure": ("plotly_charts", "figure"),
    "save": ("matplotlib_charts", "save"),
    "text_plot": ("terminal_plot", "text_plot"),
    "verdict_table": ("terminal", "verdict_table"),
}
__all__ = [
    "claim_table",
    "figure",
    "headline_chart",
    "page",
    "plotly_figure",
    "save",
    "text_plot",
    "verdict_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
