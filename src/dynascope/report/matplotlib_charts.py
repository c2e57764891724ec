"""Charts as matplotlib figures and as PNG, SVG and PDF files.

The object interface only: no pyplot state, no display. The same chart gives the same
bytes, so a stored picture can be compared with a new one.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path as FilePath
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from dynascope.core.charts import Chart, Mark, Panel
from dynascope.core.errors import unknown
from dynascope.report import style
from dynascope.report.captions import caption
from dynascope.report.checks import check, in_space
from dynascope.report.frame import Frame, frame
from dynascope.report.matplotlib_axes import dress
from dynascope.report.matplotlib_marks import DRAW, Pen
from dynascope.report.matplotlib_places import (
    equalise,
    name_references,
    name_spans,
    place_legends,
)
from dynascope.report.matplotlib_text import wrapped
from dynascope.report.style import MarkStyle

PANEL_WIDTHS = {1: 6.8, 2: 4.7, 3: 4.1}  # inches, by panels in a row
PANEL_HEIGHT = 3.7
TITLE, CAPTION = 13.0, 9.5
PANELS_IN_ROW = 3
# No dates in files: they would differ from run to run.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def figure(chart: Chart) -> Figure:
    """Draw a chart.

    Args:
        chart: What to draw; see `dynascope.core.charts`.

    Returns:
        A figure that belongs to nobody else; save it or show it in a notebook.

    Raises:
        BadInput: If the columns of a mark do not fit each other.
    """  # noqa: DOC502
    check(chart)
    columns = max(1, min(PANELS_IN_ROW, len(chart.panels)))
    rows = max(1, -(-len(chart.panels) // columns))
    width = columns * PANEL_WIDTHS[columns]
    engine = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    picture = Figure(figsize=(width, rows * PANEL_HEIGHT), layout=engine)
    FigureCanvasAgg(picture)
    frames = [frame(p) for p in chart.panels]
    for i, (panel, window, looks) in enumerate(zip(chart.panels, frames, style.mark_styles(chart))):
        axes = picture.add_subplot(rows, columns, i + 1, projection=_projection(panel))
        _draw(axes, panel, window, looks)
        dress(axes, panel, window)
    _write_words(picture, chart)
    for text in picture.findobj(Text):
        text.set_parse_math(False)  # labels are plain words; a dollar sign is a dollar sign
    if chart.panels:
        _settle(picture, chart, frames)
    else:
        picture.text(0.5, 0.5, "This chart has no panels.", ha="center", color=style.FAINT_INK)
    picture.set_layout_engine("none")  # all is in its place; drawing need not lay it out again
    return picture


def without_words(panel: Panel, width: float, height: float) -> Figure:
    """One panel of so many inches without any words."""
    chart = Chart("without-words", "", "", (panel,))
    check(chart)
    picture = Figure(figsize=(width, height))
    FigureCanvasAgg(picture)
    window, looks = frame(panel), style.mark_styles(chart)[0]
    axes: Any = picture.add_axes((0.03, 0.04, 0.94, 0.92), projection=_projection(panel))
    _draw(axes, panel, window, looks)
    dress(axes, panel, window)
    for extra in [a for a in picture.axes if a is not axes]:
        extra.remove()  # a scale of colours
    for text in picture.findobj(Text):
        text.set_visible(False)
    axes.tick_params(which="both", length=0, labelleft=False, labelbottom=False)
    return picture


def _projection(panel: Panel) -> str | None:
    return "3d" if in_space(panel) else None


def save(chart: Chart, path: str | FilePath) -> FilePath:
    """Draw a chart into a file; the suffix decides the format.

    Args:
        chart: What to draw.
        path: A file that ends in .png, .svg or .pdf; its folder must exist.

    Returns:
        The path.

    Raises:
        UnknownName: If the suffix is none of these.
    """  # noqa: DOC502
    path = FilePath(path)
    if path.suffix not in _METADATA:
        raise unknown("picture format", path.suffix, _METADATA)
    # Type 42: fonts that journals accept and editors can edit.
    with rc_context({"svg.hashsalt": "dynascope", "pdf.fonttype": 42}):
        figure(chart).savefig(path, dpi=200, metadata=_METADATA[path.suffix])
    return path


def _draw(axes: Any, panel: Panel, window: Frame, looks: list[MarkStyle]) -> None:
    seen: Counter[type[Mark]] = Counter()
    if not in_space(panel):
        axes.set_xscale(panel.x_scale)
        axes.set_yscale(panel.y_scale)
    for mark, look in zip(panel.marks, looks):
        DRAW[type(mark)](mark, Pen(axes, window, look, seen[type(mark)]))
        seen[type(mark)] += 1


def _write_words(picture: Figure, chart: Chart) -> None:
    width = picture.get_figwidth() * 72 - 20
    title = wrapped(picture, chart.title, width, TITLE, "bold")
    words = wrapped(picture, caption(chart), width, CAPTION)
    left = {"x": 0.1 / picture.get_figwidth(), "ha": "left"}
    picture.suptitle(title, fontsize=TITLE, fontweight="bold", color=style.INK, **left)
    picture.supxlabel(words, fontsize=CAPTION, color=style.FAINT_INK, **left)
    lines = (title.count("\n") + 1) * TITLE + (words.count("\n") + 1) * CAPTION
    picture.set_figheight(picture.get_figheight() + 1.4 * lines / 72)


def _settle(picture: Figure, chart: Chart, frames: list[Frame]) -> None:
    """Place what depends on the layout: equal units, names of spans and lines, legends.

    The layout runs twice: a legend below a panel changes it.
    """
    engine = picture.get_layout_engine()
    assert engine is not None  # `figure` has set one
    axes = [a for a in picture.axes if a.get_label() != "<colorbar>"]
    panels = list(zip(axes, chart.panels, frames))
    engine.execute(picture)
    for ax, panel, window in panels:
        equalise(ax, panel)
        name_spans(ax, panel, window)
    place_legends([(ax, panel) for ax, panel, _ in panels])
    engine.execute(picture)
    for ax, panel, _ in panels:
        equalise(ax, panel)
        name_references(ax, panel)
