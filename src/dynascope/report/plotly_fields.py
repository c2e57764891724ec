"""How plotly draws fields and graphs, which are coloured by value, and small pictures."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from dynascope.core.charts import Graph, Heat, PictureGrid
from dynascope.report import style
from dynascope.report.frame import colour_range, drawable, edges
from dynascope.report.geometry import hatching
from dynascope.report.picture_sheets import png, raster
from dynascope.report.plotly_sheet import SMALL, Sheet, broken, column, text
from dynascope.report.style import MarkStyle

CELL = 96  # pixels of a picture's side in the file of a sample sheet


def heat(mark: Heat, look: MarkStyle, sheet: Sheet) -> None:
    """Cells with a colour bar, grey where there is no value, and contour lines."""
    if not np.size(mark.z):
        return
    x = edges(mark.x, sheet.frame.x_scale)
    y = edges(mark.y, sheet.frame.y_scale)
    z = drawable(mark.z)
    scale, (low, high) = _scale(mark, mark.z, mark.diverging)
    colours = {"zmin": low, "zmax": high, "colorscale": scale}
    cells = {"x": column(x), "y": column(y), "z": [column(row) for row in z]}
    bar = {"colorbar": _colour_bar(mark, sheet), "hoverongaps": False}
    sheet.shapes.append(_behind(sheet))
    sheet.add(mark, look, False, type="heatmap", **cells, **colours, **bar)
    if mark.hatched is not None:
        over_x, over_y = hatching(mark.hatched, x, y, sheet.frame.x_scale, sheet.frame.y_scale)
        stroke = {"color": style.INK, "width": 1}
        lines = {"mode": "lines", "line": stroke, "hoverinfo": "skip", "connectgaps": False}
        sheet.add(mark, look, False, type="scatter", x=column(over_x), y=column(over_y), **lines)
    centres = {"x": column(mark.x), "y": column(mark.y), "z": cells["z"], "hoverinfo": "skip"}
    ink = "black" if mark.diverging else "white"
    for level in mark.contours if min(z.shape) > 1 else ():
        one = {"start": level, "end": level, "size": 1, "coloring": "none", "showlabels": True}
        one["labelfont"] = {"color": ink, "size": SMALL}
        line = {"contours": one, "line": {"color": ink, "width": 1.5}, "showscale": False}
        sheet.add(mark, look, False, type="contour", **centres, **line)


def _behind(sheet: Sheet) -> dict[str, Any]:
    """A grey that is seen where a field has no value."""
    x, y = f"x{sheet.suffix} domain", f"y{sheet.suffix} domain"
    place: dict[str, Any] = {"xref": x, "yref": y, "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    look = {"type": "rect", "layer": "below", "fillcolor": style.MISSING, "line": {"width": 0}}
    return {**look, **place}


def _scale(
    mark: Heat | Graph, values: Any, diverging: bool
) -> tuple[list[list[Any]], tuple[float, float]]:
    """The scale of colours and the values at its ends: steps for categories."""
    if mark.categories:
        count = len(mark.categories)
        return [list(stop) for stop in style.steps(style.colours(count))], (-0.5, count - 0.5)
    stops = style.DIVERGING if diverging else style.SEQUENTIAL
    return _colour_scale(stops), colour_range(values, diverging)


def _colour_scale(stops: tuple[str, ...]) -> list[list[Any]]:
    """Colours at equal steps from 0 to 1, as plotly writes a scale."""
    return [[i / (len(stops) - 1), colour] for i, colour in enumerate(stops)]


def _colour_bar(mark: Heat | Graph, sheet: Sheet) -> dict[str, Any]:
    height = sheet.box.top - sheet.box.bottom
    place: dict[str, Any] = {
        "x": sheet.box.right + 0.008,
        "y": sheet.box.bottom + height / 2,
        "len": height,
    }
    title = {"text": broken(mark.label, 40), "side": "right", "font": {"size": SMALL + 1}}
    size: dict[str, Any] = {"thickness": 12, "outlinewidth": 0, "xpad": 0, "ypad": 0, "nticks": 6}
    size["exponentformat"] = "power"  # 10^-15, not 1f
    if mark.categories:
        size["tickvals"] = list(range(len(mark.categories)))
        size["ticktext"] = [text(name) for name in mark.categories]
    return {**place, **size, "title": title, "tickfont": {"size": SMALL}}


def graph(mark: Graph, look: MarkStyle, sheet: Sheet) -> None:
    """Edges, and nodes over them with their names above."""
    x, y = drawable(mark.x), drawable(mark.y)
    if not x.size:
        return
    ends = [[v for a, b in mark.edges for v in (*column((c[a], c[b])), None)] for c in (x, y)]
    lines: dict[str, Any] = {
        "mode": "lines",
        "line": {"color": style.GREYS[0], "width": 1.5},
        "hoverinfo": "skip",
    }
    sheet.add(mark, look, False, type="scatter", x=ends[0], y=ends[1], **lines)
    scale, (low, high) = _scale(mark, mark.values, False)
    known = np.isfinite(drawable(mark.values))
    fill = [v if k else style.MISSING for v, k in zip(column(mark.values), known)]
    nodes: dict[str, Any] = {
        "size": max(9, 28 - 0.5 * x.size),
        "color": fill,
        "cmin": low,
        "cmax": high,
    }
    nodes |= {
        "colorscale": scale,
        "line": {"color": style.INK, "width": 1},
    }
    nodes |= {"colorbar": _colour_bar(mark, sheet), "showscale": True}
    names: dict[str, Any] = {"text": [text(n) for n in mark.names], "textposition": "top center"}
    hover: dict[str, Any] = {"hovertemplate": "%{text}: %{marker.color}<extra></extra>"}
    place: dict[str, Any] = {
        "x": column(x),
        "y": column(y),
        "mode": "markers+text",
        "marker": nodes,
    }
    sheet.add(mark, look, False, type="scatter", **place, **names, **hover)


def pictures(mark: PictureGrid, look: MarkStyle, sheet: Sheet) -> None:
    """All pictures as one image; a cell of the grid is one unit of the axes."""
    rows, columns = mark.shape[:2]
    if not rows or not columns:
        return
    whole = raster(mark)
    # A browser blurs what it enlarges: a cell of the file is at least as large as on the page.
    times = max(1, CELL * columns // whole.shape[1])
    whole = whole.repeat(times, axis=0).repeat(times, axis=1)
    source = "data:image/png;base64," + base64.b64encode(png(whole)).decode("ascii")
    place: dict[str, Any] = {
        "xref": f"x{sheet.suffix}", "yref": f"y{sheet.suffix}", "x": -0.5, "y": 0.5,
        "sizex": columns, "sizey": rows, "xanchor": "left", "yanchor": "top",
    }  # fmt: skip
    sheet.images.append({**place, "source": source, "sizing": "stretch", "layer": "above"})
    # An image alone leaves plotly without a plot to zoom in.
    sheet.add(mark, look, False, type="scatter", x=[None], y=[None], mode="markers")
