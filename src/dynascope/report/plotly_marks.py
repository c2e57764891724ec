"""How plotly draws each kind of mark: traces and shapes as plain dictionaries.

`DRAW` names one function per kind. All text passes through `text`, because plotly reads
tags in labels; no function here imports plotly, its figures are only data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynascope.core.charts import (
    Bars,
    Graph,
    Heat,
    Line,
    Mark,
    Path,
    PictureGrid,
    Points,
    Reference,
    Scale,
    Span,
)
from dynascope.report import geometry, plotly_fields, plotly_names, style
from dynascope.report.frame import drawable
from dynascope.report.plotly_sheet import Sheet, column, dots, stroke, text
from dynascope.report.style import MarkStyle


def _line(mark: Line, look: MarkStyle, sheet: Sheet) -> None:
    x = drawable(mark.x, sheet.frame.x_scale)
    y = drawable(mark.y, sheet.frame.y_scale)
    if mark.low is not None and mark.high is not None:
        low, high = (drawable(v) for v in (mark.low, mark.high))
        low = np.maximum(low, sheet.frame.y[0])  # a log axis has no place for zero
        _band(mark, look, sheet, (x, low, high))
    look_of: dict[str, Any] = {"mode": "lines", "line": stroke(look), "opacity": look.opacity}
    few = mark.role == "measured" and len(x) <= style.FEW
    if few:
        look_of |= {"mode": "lines+markers", "marker": dots(look, 7)}
    sheet.add(mark, look, type="scatter", x=column(x), y=column(y), **look_of)
    alone = geometry.lonely(x, y)
    if alone.size and not few:
        marker = {"mode": "markers", "marker": dots(look, 6)}
        sheet.add(
            mark, look, False, type="scatter", x=column(x[alone]), y=column(y[alone]), **marker
        )


def _band(mark: Line, look: MarkStyle, sheet: Sheet, columns: tuple[np.ndarray, ...]) -> None:
    """One closed outline per stretch without gaps."""
    x, y = [], []
    for run in geometry.runs(*columns):
        across, low, high = (c[run] for c in columns)
        x += [*column(across), *column(across[::-1]), None]
        y += [*column(low), *column(high[::-1]), None]
    fill: dict[str, Any] = {
        "fill": "toself",
        "fillcolor": style.faded(look.colour, 0.18),
        "line": {"width": 0},
    }
    quiet: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip"}
    sheet.add(mark, look, False, type="scatter", x=x, y=y, **fill, **quiet)


def _points(mark: Points, look: MarkStyle, sheet: Sheet) -> None:
    x = drawable(mark.x, sheet.frame.x_scale)
    y = drawable(mark.y, sheet.frame.y_scale)
    marker = dots(look, 8 if len(x) < style.CLOUD else 5)
    bars = _errors(mark, y, look.colour, sheet)
    look_of: dict[str, Any] = {"mode": "markers", "marker": marker, **bars}
    sheet.add(mark, look, type="scatter", x=column(x), y=column(y), **look_of)


def _errors(mark: Points | Bars, y: np.ndarray, colour: str, sheet: Sheet) -> dict[str, Any]:
    if mark.low is None or mark.high is None:
        return {}
    low = np.maximum(drawable(mark.low), sheet.frame.y[0])  # a log axis has no place for zero
    below, above = y - low, drawable(mark.high) - y
    lengths = {"array": column(above), "arrayminus": column(below)}
    bar = {"type": "data", "symmetric": False, "color": colour, "thickness": 1.3, "width": 4}
    return {"error_y": {**bar, **lengths}}


def _path(mark: Path, look: MarkStyle, sheet: Sheet) -> None:
    scales: tuple[Scale, ...] = (sheet.frame.x_scale, sheet.frame.y_scale, "linear")
    given = [c for c in (mark.x, mark.y, mark.z) if c is not None]
    places = [drawable(c, s) for c, s in zip(given, scales)]
    kind = "scatter" if mark.z is None else "scatter3d"
    point = len(mark.x) == 1
    line: dict[str, Any] = {"mode": "lines", "line": stroke(look), "opacity": look.opacity}
    if kind == "scatter3d":  # in space plotly knows dashes by name only, and thinner lines
        line["line"] = {"color": look.colour, "width": 2 * look.width, "dash": _dash_name(look)}
    sheet.add(mark, look, not point, type=kind, **_named(places), **line)
    starts = [r.start for r in geometry.runs(*places)]
    marker = dots(look, 8 if point else 6)
    if kind == "scatter3d":
        marker = {"size": 5 if point else 3.5, "color": look.colour}
    first = _named([c[starts] for c in places])
    sheet.add(mark, look, point, type=kind, **first, mode="markers", marker=marker)
    (_arrows if kind == "scatter" else _barbs)(mark, look, sheet)


def _dash_name(look: MarkStyle) -> str:
    return {"solid": "solid", "dashed": "dash", "dotted": "dot"}[look.dash]


def _named(places: list[np.ndarray]) -> dict[str, Any]:
    return {axis: column(c) for axis, c in zip("xyz", places)}


def _arrows(mark: Path, look: MarkStyle, sheet: Sheet) -> None:
    """Each arrow is a pair: an invisible tail and a head that points away from it."""
    pairs = geometry.arrows(mark, sheet.frame)
    if not pairs:
        return
    # A gap after each pair; the head's angle is then its own tail's, at every zoom.
    x, y = ([v for a, b in pairs for v in (*column((a[i], b[i])), None)] for i in (0, 1))
    head = {"symbol": "arrow", "angleref": "previous", "size": [0, 11, 0] * len(pairs)}
    marker = {**head, "color": look.colour, "line": {"width": 0}}
    quiet: dict[str, Any] = {"mode": "markers", "hoverinfo": "skip"}
    sheet.add(mark, look, False, type="scatter", x=x, y=y, marker=marker, **quiet)


def _barbs(mark: Path, look: MarkStyle, sheet: Sheet) -> None:
    barbs = geometry.barbs(mark, sheet.frame)
    if not barbs:
        return
    gap = np.full((1, 3), np.nan)
    joined = np.concatenate([p for b in barbs for p in (b, gap)])
    line: dict[str, Any] = {
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": look.colour, "width": 4},
    }
    sheet.add(mark, look, False, type="scatter3d", **_named(list(joined.T)), **line)


def _bars(mark: Bars, look: MarkStyle, sheet: Sheet) -> None:
    at, width = geometry.bar_places(mark, sheet.frame)
    y = drawable(mark.y, sheet.frame.y_scale)
    if look.dash == "dashed":
        _outlines(mark, look, sheet, (at, y, width))
        return
    size: dict[str, Any] = {"width": width * 0.92, "marker": {"color": look.colour}}
    size |= _errors(mark, y, style.INK, sheet)
    hover: dict[str, Any] = {
        "customdata": [text(n) for n in mark.names],
        "hovertemplate": "%{customdata}: %{y}",
    }
    sheet.add(mark, look, type="bar", x=column(at), y=column(y), **size, **hover)


def _outlines(
    mark: Bars, look: MarkStyle, sheet: Sheet, bars: tuple[np.ndarray, np.ndarray, float]
) -> None:
    """Dashed frames for a theory's bars: plotly cannot dash the border of a bar."""
    at, y, width = bars
    base = sheet.frame.y[0] if sheet.frame.y_scale == "log" else 0.0
    half = 0.46 * width
    across = [v for a in at for v in (a - half, a - half, a + half, a + half, np.nan)]
    up = [v for top in y for v in (base, top, top, base, np.nan)]
    line: dict[str, Any] = {"mode": "lines", "line": stroke(look), "hoverinfo": "skip"}
    sheet.add(mark, look, type="scatter", x=column(across), y=column(up), **line)
    if mark.low is not None:
        ends = {"mode": "markers", "marker": {"size": 0.1, "color": look.colour}}
        ends |= _errors(mark, y, look.colour, sheet)
        sheet.add(mark, look, False, type="scatter", x=column(at), y=column(y), **ends)


DRAW: dict[type[Mark], Callable[[Any, MarkStyle, Sheet], None]] = {
    Line: _line,
    Points: _points,
    Path: _path,
    Heat: plotly_fields.heat,
    Bars: _bars,
    Graph: plotly_fields.graph,
    PictureGrid: plotly_fields.pictures,
    Reference: plotly_names.reference,
    Span: plotly_names.span,
}
