"""Charts as plotly figures: plain dictionaries, ready for JSON and plotly.js.

The chart's title and caption are left to the page around the figure. Sizes are in pixels
of a page that is about a thousand of them wide, or of a telephone, on which panels stand below
each other; the figure stretches with its page.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from dynascope.core.charts import Chart, Graph, Heat, Panel
from dynascope.report import style
from dynascope.report.checks import check
from dynascope.report.frame import frame
from dynascope.report.plotly_axes import axes, bar_names, legend, notes
from dynascope.report.plotly_marks import DRAW
from dynascope.report.plotly_sheet import CLEAR, Box, Sheet, broken, letters

PANELS_IN_ROW = 3
PLOT, LEGEND_LINE, TITLE_LINE = 290, 20, 19
BELOW = 62  # for ticks and label of the x axis
SIDE = 64  # for ticks and label of the y axis
GAP = 0.09  # between columns, of the width
TOOLS = 28  # for plotly's buttons, above everything
BAR = 84  # for a colour bar with its label
# plotly.js 4 offers to upload a chart to its maker's server unless told not to.
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


class Form(NamedTuple):
    """How wide the page is, in pixels, and how many panels stand side by side."""

    page: int = 1040
    in_row: int = PANELS_IN_ROW


WIDE, NARROW = Form(), Form(300, 1)


def figure(chart: Chart, form: Form = WIDE) -> dict[str, Any]:
    """The chart as a plotly figure.

    Args:
        chart: What to draw; see `dynascope.core.charts`.
        form: The page that it is for.

    Returns:
        A dictionary with `data` and `layout`, without NaN.

    Raises:
        BadInput: If the columns of a mark do not fit each other.
    """  # noqa: DOC502
    check(chart)
    sheets = _sheets(chart, form)
    layout = _layout(chart, form)
    for sheet, panel, looks in zip(sheets, chart.panels, style.mark_styles(chart)):
        marks = sorted(zip(panel.marks, looks), key=lambda pair: pair[1].order)
        for mark, look in marks:
            DRAW[type(mark)](mark, look, sheet)
        layout |= axes(sheet, panel)
        layout["annotations"] += notes(sheet, panel)
        layout["shapes"] += sheet.shapes
        layout["images"] += sheet.images
        layout[f"legend{sheet.suffix}"] = legend(sheet)
    return {"data": [t for sheet in sheets for t in sheet.traces], "layout": layout}


def narrow(chart: Chart) -> dict[str, Any]:
    """What differs on a telephone: the layout, and by number of the trace names and colour bars."""
    found, changes = figure(chart, NARROW), {}
    for i, (trace, wide) in enumerate(zip(found["data"], figure(chart)["data"], strict=True)):
        other = {k: trace[k] for k in ("name", "colorbar", "marker") if trace.get(k) != wide.get(k)}
        if other:
            changes[str(i)] = other
    return {"layout": found["layout"], "traces": changes}


def dark_colours(figure: dict[str, Any]) -> dict[str, str]:
    """For every colour of a figure the one to use on a dark page; scales stay as they are."""
    found: set[str] = set()

    def walk(node: Any, key: str = "") -> None:
        if isinstance(node, dict):
            for name, value in node.items():
                walk(value, name)
        elif isinstance(node, list) and key not in ("colorscale", "x", "y", "z"):  # numbers
            for value in node:
                walk(value, key)
        elif isinstance(node, str) and key.endswith("color") and node.startswith(("#", "rgba")):
            found.add(node)

    walk(figure)
    return {colour: style.for_dark(colour) for colour in sorted(found - {CLEAR})}


def _grid(chart: Chart, form: Form) -> tuple[int, int]:
    columns = max(1, min(form.in_row, len(chart.panels)))
    return max(1, math.ceil(len(chart.panels) / columns)), columns


def _row_heights(chart: Chart, form: Form) -> list[tuple[int, int]]:
    """For each row of panels the pixels above it (titles) and below it (ticks, legends)."""
    rows, columns = _grid(chart, form)
    width = _pixels(columns, form)
    parts = [chart.panels[i * columns : (i + 1) * columns] for i in range(rows)]
    return [
        (
            8 + max((TITLE_LINE * _lines([p.title], width) for p in row), default=0),
            max((_below(p, width) + _legend(p, width) for p in row), default=0),
        )
        for row in parts
    ]


def _pixels(columns: int, form: Form) -> float:
    return form.page * (1 - GAP * (columns - 1)) / columns


def _lines(words: list[str], pixels: float) -> int:
    """How many lines these words fill beside each other."""
    return sum(broken(w, letters(pixels)).count("<br>") + 1 for w in words if w)


def _below(panel: Panel, pixels: float) -> int:
    """Pixels for ticks and label of the x axis; long names of bars need more."""
    names = frame(panel).names
    return BELOW + (bar_names(names, pixels)[2] if names else 0)


def _legend(panel: Panel, pixels: float) -> int:
    return LEGEND_LINE * _lines(style.legend(panel), pixels)


def _sheets(chart: Chart, form: Form) -> list[Sheet]:
    sheets: list[Sheet] = []
    shown: list[str] = []
    for i, panel in enumerate(chart.panels):
        labels = style.legend(panel)
        new = [] if labels == shown else labels  # like the one before it, it says nothing new
        sheets.append(Sheet(i + 1, panel, frame(panel), _box(chart, i, form), new))
        shown = labels
    return sheets


def _box(chart: Chart, number: int, form: Form) -> Box:
    """The place of a panel; the margin leaves room for the first column's y axis."""
    columns = _grid(chart, form)[1]
    heights = _row_heights(chart, form)
    total = sum(a + PLOT + b for a, b in heights)
    row, column = divmod(number, columns)
    top = total - sum(a + PLOT + b for a, b in heights[:row]) - heights[row][0]
    width = _pixels(columns, form) / form.page
    left = column * (width + GAP)
    right = left + width - (BAR / form.page if _has_bar(chart.panels[number]) else 0)
    right = min(right, 1.0)  # plotly forbids the last bit above it
    pixels = (right - left) * form.page
    below = _below(chart.panels[number], _pixels(columns, form))
    return Box(left, right, (top - PLOT) / total, top / total, pixels, 1 / total, below)


def _has_bar(panel: Panel) -> bool:
    return any(isinstance(m, Heat | Graph) for m in panel.marks)


def _layout(chart: Chart, form: Form) -> dict[str, Any]:
    colours = {"paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}
    font = {"family": "system-ui, sans-serif", "size": 13, "color": style.INK}
    height = sum(a + PLOT + b for a, b in _row_heights(chart, form)) + TOOLS
    rest = {"hovermode": "closest", "barmode": "overlay", "annotations": [], "shapes": []}
    rest["images"] = []
    tools = {"bgcolor": CLEAR, "color": style.GREYS[0], "activecolor": style.INK}
    margins = {"l": SIDE, "r": 14, "t": TOOLS, "b": 0, "pad": 0}
    return {**colours, "font": font, "margin": margins, "height": height, "modebar": tools, **rest}
