"""Axes, scenes, titles and legends of plotly figures."""

from __future__ import annotations

import math
from typing import Any

from dynascope.core.charts import Graph, Panel, PictureGrid, Scale
from dynascope.report import style
from dynascope.report.checks import in_space
from dynascope.report.frame import Range, whole_step
from dynascope.report.plotly_sheet import CLEAR, SMALL, Sheet, broken, letters, text

NAME_LINE = 16
TURNED = 20  # letters in a line of a name that is turned


def axes(sheet: Sheet, panel: Panel) -> dict[str, Any]:
    """The axes of a panel in the plane, or its scene in space."""
    if in_space(panel):
        return {f"scene{sheet.suffix}": _scene(sheet, panel)}
    x = _axis(panel.x_label, panel.x_scale, sheet.frame.x)
    y = _axis(panel.y_label, panel.y_scale, sheet.frame.y)
    x |= {"domain": [sheet.box.left, sheet.box.right], "anchor": f"y{sheet.suffix}"}
    y |= {"domain": [sheet.box.bottom, sheet.box.top], "anchor": f"x{sheet.suffix}"}
    y |= {"automargin": sheet.box.left == 0}
    if sheet.frame.names:
        names, angle, _ = bar_names(sheet.frame.names, sheet.box.pixels)
        x |= {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names}
        x |= {"ticks": "", "showgrid": False, "tickangle": angle}
    if any(isinstance(m, PictureGrid) for m in panel.marks):
        rows = [text(name) for name in sheet.frame.rows]
        y |= {"tickmode": "array", "tickvals": [-i for i in range(len(rows))], "ticktext": rows}
        bare = {"showgrid": False, "showline": False, "ticks": "", "constrain": "domain"}
        x, y = x | bare, y | bare
    if panel.matrix:
        x |= {"tick0": 1, "dtick": whole_step(sheet.frame.x)}
        y |= {"tick0": 1, "dtick": whole_step(sheet.frame.y), "range": y["range"][::-1]}
    graph = any(isinstance(m, Graph) for m in panel.marks)
    if panel.equal or graph:
        y |= {"scaleanchor": f"x{sheet.suffix}"}
    if graph:
        x, y = x | {"visible": False}, y | {"visible": False}
    return {f"xaxis{sheet.suffix}": x, f"yaxis{sheet.suffix}": y}


def _axis(label: str, scale: Scale, ends: Range) -> dict[str, Any]:
    words = broken(label, 44)
    look: dict[str, Any] = {"gridcolor": style.GRID, "linecolor": style.FAINT_INK}
    look |= {"tickcolor": style.FAINT_INK, "ticks": "outside", "ticklen": 4}
    look |= {"showline": True, "zeroline": False, "tickfont": {"size": 12}}
    look |= {"title": {"text": words, "standoff": 6, "font": {"size": 13}}}
    if scale == "linear":
        return {**look, "type": "linear", "range": list(ends), "nticks": 7}
    low, high = (math.log10(v) for v in ends)
    return {**look, "type": "log", "range": [low, high], **_log_ticks(high - low)}


def _log_ticks(decades: float) -> dict[str, Any]:
    """Whole powers of ten once an axis spans decades, else plain numbers."""
    if decades > 3:  # plotly enlarges powers
        step = math.ceil(decades / 6)
        return {"dtick": step, "exponentformat": "power", "tickfont": {"size": 10}}
    return {"dtick": "D2", "tickformat": "~g"} if decades > 1 else {"nticks": 6}


def _scene(sheet: Sheet, panel: Panel) -> dict[str, Any]:
    look = {"gridcolor": style.GRID, "linecolor": style.FAINT_INK, "showbackground": False}
    look |= {"zeroline": False, "tickfont": {"size": SMALL}, "nticks": 5}
    kinds = {
        "xaxis": (panel.x_label, sheet.frame.x),
        "yaxis": (panel.y_label, sheet.frame.y),
        "zaxis": ("", sheet.frame.z or (0, 1)),
    }
    scene: dict[str, Any] = {
        name: {**look, "title": {"text": text(label), "font": {"size": 12}}, "range": list(ends)}
        for name, (label, ends) in kinds.items()
    }
    # A scene holds its own ticks: it may use the room that others leave for theirs.
    low = max(0.0, sheet.box.bottom - 44 * sheet.box.pixel)
    left = max(0.0, sheet.box.left - 0.05)
    scene["domain"] = {"x": [left, sheet.box.right], "y": [low, sheet.box.top]}
    eye, centre = {"x": 1.55, "y": -1.85, "z": 0.95}, {"x": 0, "y": 0, "z": -0.15}
    scene["camera"] = {"eye": eye, "center": centre}
    return {**scene, "aspectmode": "data" if panel.equal else "cube"}


def bar_names(names: tuple[str, ...], pixels: float) -> tuple[list[str], int, int]:
    """The names of categories broken into lines, their angle, and pixels they need below."""
    room = letters(pixels / len(names))
    if any(len(word) > room for name in names for word in name.split()):
        # Turned names lie side by side: where bars are close, one line each is all there is.
        lines = max(1, int(math.sin(math.radians(35)) * pixels / len(names) / NAME_LINE))
        longest = max(TURNED, -(-max(map(len, names)) // lines) + (lines > 1) * 4)
        return [broken(n, longest) for n in names], -35, round(4.5 * longest)
    level = [broken(n, room) for n in names]
    return level, 0, NAME_LINE * max(n.count("<br>") for n in level)


def notes(sheet: Sheet, panel: Panel) -> list[dict[str, Any]]:
    """The title of a panel, the names of its lines, and a word if it is empty."""
    place = {"xref": "paper", "yref": "paper", "showarrow": False, "align": "left"}
    title = {"text": broken(panel.title, letters(sheet.box.pixels)), "font": {"size": 14}}
    at = {"x": sheet.box.left, "y": sheet.box.top, "xanchor": "left", "yanchor": "bottom"}
    found = [{**place, **title, **at}] if panel.title else []
    if sheet.frame.empty:
        box = sheet.box
        middle = {"x": (box.left + box.right) / 2, "y": (box.bottom + box.top) / 2}
        found.append({**place, **middle, "text": "no data", "font": {"color": style.FAINT_INK}})
    return found + sheet.notes


def legend(sheet: Sheet) -> dict[str, Any]:
    """Below its panel, one label in a line, so that it can never lie over data."""
    under = sheet.box.bottom - (sheet.box.below - 8) * sheet.box.pixel
    place = {"x": sheet.box.left, "y": under, "xanchor": "left", "yanchor": "top"}
    return {**place, "bgcolor": CLEAR, "font": {"size": 12}, "tracegroupgap": 0}
