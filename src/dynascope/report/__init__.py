"""Records become charts, tables, pages and terminal text; pure, without jax.

The names below load on first use, so that importing this package costs nothing: matplotlib,
plotly and rich come only with the function that needs them. Nothing is read from disk,
and only the file that the caller names is written.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynascope.report.headline import with_close_up
    from dynascope.report.html.document import document_page
    from dynascope.report.html.gallery import gallery, thumbnail
    from dynascope.report.html.report import page
    from dynascope.report.html.shell import assets, whole_page
    from dynascope.report.html.study import study_page
    from dynascope.report.markdown import claim_table
    from dynascope.report.matplotlib_charts import figure, save
    from dynascope.report.notebook import chart_html, result_html
    from dynascope.report.plotly_charts import figure as plotly_figure
    from dynascope.report.terminal import verdict_table
    from dynascope.report.terminal_plot import text_plot

_HOMES = {
    "assets": ("html.shell", "assets"),
    "chart_html": ("notebook", "chart_html"),
    "claim_table": ("markdown", "claim_table"),
    "document_page": ("html.document", "document_page"),
    "figure": ("matplotlib_charts", "figure"),
    "gallery": ("html.gallery", "gallery"),
    "page": ("html.report", "page"),
    "plotly_figure": ("plotly_charts", "figure"),
    "result_html": ("notebook", "result_html"),
    "save": ("matplotlib_charts", "save"),
    "study_page": ("html.study", "study_page"),
    "text_plot": ("terminal_plot", "text_plot"),
    "thumbnail": ("html.gallery", "thumbnail"),
    "verdict_table": ("terminal", "verdict_table"),
    "whole_page": ("html.shell", "whole_page"),
    "with_close_up": ("headline", "with_close_up"),
}
__all__ = [
    "assets",
    "chart_html",
    "claim_table",
    "document_page",
    "figure",
    "gallery",
    "page",
    "plotly_figure",
    "result_html",
    "save",
    "study_page",
    "text_plot",
    "thumbnail",
    "verdict_table",
    "whole_page",
    "with_close_up",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
