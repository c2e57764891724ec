"""What stands around the marks of a panel: window, ticks, grid, title and labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib import ticker

from dynascope.core.charts import Graph, Panel, PictureGrid, Scale
from dynascope.report import style, words
from dynascope.report.checks import in_space
from dynascope.report.frame import Frame, Range, whole_step
from dynascope.report.matplotlib_marks import SMALL, Plain
from dynascope.report.matplotlib_text import text_width, wrapped

LABEL = 10.0
ROW_NAME = 110.0  # points for the name of a row of pictures


def dress(axes: Any, panel: Panel, frame: Frame) -> None:
    """Give a panel its window, ticks, grid, title and labels."""
    axes.set_xlim(*frame.x)
    axes.set_ylim(*frame.y)
    _label(axes, panel)
    axes.tick_params(labelsize=SMALL + 0.5, color=style.FAINT_INK, labelcolor=style.INK)
    if in_space(panel):
        _dress_space(axes, panel, frame)
        return
    _ticks(axes.xaxis, panel.x_scale, frame.x)
    _ticks(axes.yaxis, panel.y_scale, frame.y)
    if panel.matrix:
        axes.invert_yaxis()
        for axis, ends in ((axes.xaxis, frame.x), (axes.yaxis, frame.y)):
            axis.set_major_locator(ticker.MultipleLocator(whole_step(ends), offset=1))
    if frame.names:
        _name_bars(axes, frame)
    if any(isinstance(m, PictureGrid) for m in panel.marks):
        rows = [wrapped(axes.figure, name, ROW_NAME, SMALL) for name in frame.rows]
        axes.set_yticks(-np.arange(len(rows)), rows, fontsize=SMALL)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        return
    axes.grid(True, color=style.GRID, linewidth=0.7, zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(style.FAINT_INK)
    if any(isinstance(m, Graph) for m in panel.marks):
        axes.set_axis_off()
    if frame.empty:
        middle = {"ha": "center", "va": "center", "transform": axes.transAxes}
        axes.text(0.5, 0.5, "no data", color=style.FAINT_INK, fontsize=LABEL, **middle)


def _label(axes: Any, panel: Panel) -> None:
    picture = axes.figure
    box = axes.get_position()
    width = box.width * picture.get_figwidth() * 72 * 1.15  # the layout will widen it
    height = box.height * picture.get_figheight() * 72
    title = wrapped(picture, panel.title, width, 11)
    axes.set_title(title, loc="left", fontsize=11, color=style.INK)
    axes.set_xlabel(wrapped(picture, panel.x_label, width, LABEL), fontsize=LABEL, color=style.INK)
    axes.set_ylabel(wrapped(picture, panel.y_label, height, LABEL), fontsize=LABEL, color=style.INK)


def _dress_space(axes: Any, panel: Panel, frame: Frame) -> None:
    if frame.z is not None:
        axes.set_zlim(*frame.z)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((1, 1, 1, 0))
        axis.set_major_locator(ticker.MaxNLocator(4))
        axis.set_major_formatter(Plain())
        axis._axinfo["grid"].update(color=style.GRID, linewidth=0.7)
    axes.set_aspect("equal" if panel.equal else "auto")
    axes.view_init(elev=24, azim=-58)
    axes.set_box_aspect(None, zoom=1.05)


def _ticks(axis: Any, scale: Scale, ends: Range) -> None:
    """Few ticks with plain numbers; whole powers of ten once an axis spans decades."""
    if scale == "linear":
        axis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(Plain())
        return
    decades = math.log10(ends[1] / ends[0])
    if decades > 3:
        step = math.ceil(decades / 6)
        axis.set_major_locator(ticker.LogLocator(10, numticks=max(2, int(decades / step) + 2)))
        axis.set_major_formatter(_power)
        axis.set_minor_formatter(ticker.NullFormatter())
        return
    if decades > 1:
        axis.set_major_locator(ticker.LogLocator(10, subs=(1, 2, 5)))
    else:
        axis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(Plain())
    axis.set_minor_locator(ticker.NullLocator())


def _power(value: float, place: int | None = None) -> str:
    return words.power_of_ten(round(math.log10(value))) if value > 0 else ""


def _name_bars(axes: Any, frame: Frame) -> None:
    axes.set_xticks(np.arange(len(frame.names)))
    room = axes.get_position().width * axes.figure.get_figwidth() * 72 / len(frame.names)
    words = [w for n in frame.names for w in n.split()]
    tight = max((text_width(axes.figure, w, SMALL) for w in words), default=0) > 0.92 * room
    turn = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if tight else {}
    # Turned names lie side by side: where bars are close, one line each is all there is.
    width = (1000 if 0.57 * room < 2.4 * SMALL else 110) if tight else 0.92 * room
    names = [wrapped(axes.figure, n, width, SMALL) for n in frame.names]
    axes.set_xticklabels(names, fontsize=SMALL, **turn)
    axes.tick_params(axis="x", length=0)
