"""What can only be placed once the layout is known: equal units, names, legends.

Words look for a place where nothing is drawn; a legend that finds none goes below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from matplotlib.transforms import Bbox, ScaledTranslation

from dynascope.core.charts import Graph, Panel, PictureGrid, Reference, Span
from dynascope.report import style
from dynascope.report.checks import in_space
from dynascope.report.frame import Frame
from dynascope.report.matplotlib_marks import HALO, SMALL
from dynascope.report.matplotlib_text import text_width, wrapped

MOST_INSIDE = 6  # a longer legend stands outside
LEGEND = 9.0
# Where along a line its name may stand, the preferred places first.
_UPRIGHT = [(0.03, "bottom"), (0.97, "top")] + [(k / 10, "center") for k in (7, 3, 6, 4, 8, 5)]
_LEVEL = [(0.985, "right"), (0.015, "left")] + [(k / 10, "center") for k in (8, 2, 7, 3, 5)]


def equalise(axes: Any, panel: Panel) -> None:
    """Widen the window until one unit is as long on x as on y; pictures get a smaller panel."""
    graph = any(isinstance(m, Graph) for m in panel.marks)
    if in_space(panel) or not (panel.equal or graph):
        return
    pictures = any(isinstance(m, PictureGrid) for m in panel.marks)
    if pictures or "log" in (panel.x_scale, panel.y_scale):
        axes.set_aspect("equal", adjustable="box", anchor="NW" if pictures else "C")
        return
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    unit = max((right - left) / axes.bbox.width, abs(high - low) / axes.bbox.height)
    more_x = (unit * axes.bbox.width - (right - left)) / 2
    more_y = (unit * axes.bbox.height - abs(high - low)) / 2
    more_y = -more_y if panel.matrix else more_y  # its y axis points down
    axes.set_xlim(left - more_x, right + more_x)
    axes.set_ylim(low - more_y, high + more_y)


def name_spans(axes: Any, panel: Panel, frame: Frame) -> None:
    """Write the names of spans at their tops."""
    for mark in panel.marks:
        if isinstance(mark, Span) and mark.label:
            _name_span(axes, mark, frame)


def name_references(axes: Any, panel: Panel) -> None:
    """Write the names of reference lines beside them, where nothing else stands."""
    for mark in panel.marks:
        if isinstance(mark, Reference) and mark.label:
            _name_reference(axes, mark)


def _name_span(axes: Any, span: Span, frame: Frame) -> None:
    """At the middle of the stretch, upright where it is too narrow."""
    start, end = (min(max(v, frame.x[0]), frame.x[1]) for v in (span.start, span.end))
    left, right = (axes.transData.transform((v, frame.y[1]))[0] for v in (start, end))
    room = (right - left) * 72 / axes.figure.dpi - 4
    upright = text_width(axes.figure, span.label, SMALL) > room
    label = wrapped(axes.figure, span.label, _height(axes), SMALL) if upright else span.label
    place = axes.transAxes.inverted().transform(((left + right) / 2, 0))[0]
    look = {"fontsize": SMALL, "color": style.FAINT_INK, "path_effects": HALO, "zorder": 6}
    look |= {"rotation": 90 if upright else 0, "ha": "center", "va": "top"}
    words = axes.text(place, 0.985, label, transform=axes.transAxes, parse_math=False, **look)
    words.set_in_layout(False)


def _height(axes: Any) -> float:
    """The height of a panel in points, a little less."""
    return axes.bbox.height * 72 / axes.figure.dpi - 8


def _name_reference(axes: Any, mark: Reference) -> None:
    """At the first of the places beside the line where least is in the way."""
    places = list(_reference_places(axes, mark))
    room = _height(axes) if mark.axis == "x" else axes.bbox.width * 72 / axes.figure.dpi - 8
    label = wrapped(axes.figure, mark.label, room, SMALL)
    costs = []
    for where in places:
        words = _write(axes, label, where)
        costs.append(hidden(axes, words.get_window_extent(), words))
        words.remove()
    _write(axes, label, places[costs.index(min(costs))])


def _write(axes: Any, label: str, where: dict[str, Any]) -> Any:
    words = axes.annotate(label, textcoords="offset points", parse_math=False, **where)
    words.set(fontsize=SMALL, color=style.FAINT_INK, path_effects=HALO, zorder=6)
    words.set_in_layout(False)
    return words


def _reference_places(axes: Any, mark: Reference) -> Iterator[dict[str, Any]]:
    if mark.axis == "x":
        system = axes.get_xaxis_transform()
        for (along, align), side in product(_UPRIGHT, ("right", "left")):
            aligned = {"ha": side, "va": align, "rotation": 90}
            offset = (-2 if side == "right" else 2, 0)
            yield {"xy": (mark.at, along), "xytext": offset, "xycoords": system, **aligned}
        return
    system = axes.get_yaxis_transform()
    for (along, align), side in product(_LEVEL, ("bottom", "top")):
        offset = (0, 2 if side == "bottom" else -2)
        aligned = {"ha": align, "va": side}
        yield {"xy": (along, mark.at), "xytext": offset, "xycoords": system, **aligned}


def place_legends(panels: list[tuple[Any, Panel]]) -> None:
    """Put each legend where nothing is drawn; below its panel if there is no such place."""
    shown: list[str] = []
    inside: list[tuple[Any, list[str]]] = []
    below: list[tuple[Any, list[str]]] = []
    for axes, panel in panels:
        labels = style.legend(panel)
        if labels and labels != shown:  # a legend like the one before it says nothing new
            outside = len(labels) > MOST_INSIDE or in_space(panel)
            (below if outside else inside).append((axes, labels))
        shown = labels
    for axes, labels in inside:
        _legend(axes, labels, loc="best", framealpha=0.85, edgecolor="none")
    below += [(a, t) for a, t in inside if hidden(a, a.get_legend().get_window_extent())]
    heights = [_legend_below(axes, labels) for axes, labels in below]
    if heights:  # the panels keep their size
        picture = below[0][0].figure
        picture.set_figheight(picture.get_figheight() + max(heights))


def _legend(axes: Any, labels: list[str], **place: Any) -> None:
    handles, names = axes.get_legend_handles_labels()
    handle = dict(zip(reversed(names), reversed(handles)))  # the first of a label counts
    shown = [wrapped(axes.figure, t, 190, LEGEND) for t in labels]
    look = {"fontsize": LEGEND, "labelcolor": style.INK, "handlelength": 2.4, "borderaxespad": 0.4}
    made = axes.legend([handle[t] for t in labels], shown, **look, **place)
    for text in made.get_texts():
        text.set_parse_math(False)


def _legend_below(axes: Any, labels: list[str]) -> float:
    """Put a legend below a panel and return its height in inches."""
    widest = max(text_width(axes.figure, t, LEGEND) for t in labels)
    room = axes.bbox.width * 72 / axes.figure.dpi
    columns = max(1, min(len(labels), int(room / (min(widest, 190) + 42))))
    down = ScaledTranslation(0, -_depth(axes) / 72, axes.figure.dpi_scale_trans)
    anchor = {"bbox_to_anchor": (0, 0), "bbox_transform": axes.transAxes + down}
    _legend(axes, labels, loc="upper left", frameon=False, ncols=columns, **anchor)
    return math.ceil(len(labels) / columns) * LEGEND * 1.5 / 72


def hidden(axes: Any, box: Bbox, words: Any = None) -> int:
    """How much a legend, or the words given, would hide here; words weigh more than lines."""
    paths = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    lines = sum(len(p) > 0 and p.intersects_bbox(box, filled=False) for p in paths)
    others = [t for t in axes.texts if t is not words and t.get_text()]
    if words is not None and axes.get_legend() is not None:
        others.append(axes.get_legend())
    others += [p for p in axes.patches if p.get_zorder() > 0]  # spans lie at 0
    fields = sum(type(c).__name__ == "QuadMesh" for c in axes.collections)
    return lines + fields + 100 * sum(a.get_window_extent().overlaps(box) for a in others)


def _depth(axes: Any) -> float:
    """How far ticks and labels reach below a panel, in points."""
    renderer = axes.figure.canvas.get_renderer()
    kinds = [axes.xaxis, *([axes.yaxis] if hasattr(axes, "zaxis") else [])]
    lows = [box.y0 for axis in kinds if (box := axis.get_tightbbox(renderer)) is not None]
    return max(0.0, (axes.bbox.y0 - min(lows, default=axes.bbox.y0)) * 72 / axes.figure.dpi) + 3
