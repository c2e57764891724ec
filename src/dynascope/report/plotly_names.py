"""How plotly draws reference lines and stretches of the x axis, with their names."""

from __future__ import annotations

import math
from typing import Any

from dynascope.core.charts import Heat, Reference, Scale, Span
from dynascope.report import geometry, style
from dynascope.report.plotly_sheet import SMALL, Sheet, text
from dynascope.report.style import MarkStyle

LETTER = 6.2  # pixels, the mean width of one


def reference(mark: Reference, look: MarkStyle, sheet: Sheet) -> None:
    """A thin line, and its name at the end of it where there is less data."""
    x, y = f"x{sheet.suffix}", f"y{sheet.suffix}"
    end = geometry.quiet_end(mark, sheet.panel, sheet.frame)
    words: dict[str, Any]
    other = geometry.names_nearby(mark, sheet.panel, sheet.frame) % 2 == 1
    if mark.axis == "x":
        refs = {"xref": x, "yref": f"{y} domain"}
        place = {"x0": mark.at, "x1": mark.at, "y0": 0, "y1": 1}
        words = {"x": _at(mark.at, sheet.frame.x_scale), "y": end, "textangle": -90}
        words |= {"xanchor": "left" if other else "right", "yanchor": "top" if end else "bottom"}
    else:
        refs = {"xref": f"{x} domain", "yref": y}
        place = {"x0": 0, "x1": 1, "y0": mark.at, "y1": mark.at}
        words = {"x": end, "y": _at(mark.at, sheet.frame.y_scale)}
        words |= {"xanchor": "right" if end else "left", "yanchor": "top" if other else "bottom"}
    line: dict[str, Any] = {"color": style.FAINT_INK, "width": 1.3, "dash": "1px,3px"}
    if any(isinstance(m, Heat) for m in sheet.panel.marks):  # cells have every colour
        below = {"color": style.faded(style.PAPER, 0.7), "width": 3}
        sheet.shapes.append({"type": "line", "line": below, **refs, **place})
        words["bgcolor"] = style.faded(style.PAPER, 0.8)
    sheet.shapes.append({"type": "line", "line": line, **refs, **place})
    if mark.label:
        sheet.notes.append({**_words(mark.label), **words, **refs})


def span(mark: Span, look: MarkStyle, sheet: Sheet) -> None:
    """A shaded stretch with its name at the top, upright where it is too narrow."""
    refs = {"xref": f"x{sheet.suffix}", "yref": f"y{sheet.suffix} domain"}
    number = sum(s["type"] == "rect" for s in sheet.shapes)
    place = {"x0": mark.start, "x1": mark.end, "y0": 0, "y1": 1}
    shade: dict[str, Any] = {"type": "rect", "layer": "below", "line": {"width": 0}}
    sheet.shapes.append({**shade, "fillcolor": style.SPAN[number % 2], **refs, **place})
    room = sheet.box.pixels * geometry.share(mark.start, mark.end, sheet.frame)
    turn = -90 if LETTER * len(mark.label) > room else 0
    ends = (
        _at(min(max(v, sheet.frame.x[0]), sheet.frame.x[1]), sheet.frame.x_scale)
        for v in (mark.start, mark.end)
    )
    middle = {"x": sum(ends) / 2, "y": 1, "xanchor": "center", "yanchor": "top"}
    if mark.label:
        sheet.notes.append({**_words(mark.label), **middle, **refs, "textangle": turn})


def _words(label: str) -> dict[str, Any]:
    font = {"size": SMALL, "color": style.FAINT_INK}
    return {"text": text(label), "showarrow": False, "font": font, "borderpad": 2}


def _at(value: float, scale: Scale) -> float:
    """Where words stand: shapes take values, words on a log axis their logarithms."""
    return math.log10(value) if scale == "log" and value > 0 else value
