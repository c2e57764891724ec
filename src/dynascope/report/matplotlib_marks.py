"""How matplotlib draws each kind of mark; `DRAW` names one function per kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import ticker
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, Normalize
from matplotlib.patheffects import withStroke

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
from dynascope.report import geometry, style, words
from dynascope.report.frame import Frame, colour_range, drawable, edges
from dynascope.report.matplotlib_text import wrapped
from dynascope.report.picture_sheets import raster
from dynascope.report.style import MarkStyle

MARKERS = {"circle": "o", "diamond": "D", "square": "s", "cross": "x"}
DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (4.5, 2.5)), "dotted": (0, (1, 2))}
SMALL = 8.5
HALO = [withStroke(linewidth=2.5, foreground=style.PAPER)]


class Plain(ticker.Formatter):
    """Tick labels with as few digits as tell them apart, and no offset at the axis' end."""

    def __call__(self, value: float, place: int | None = None) -> str:  # noqa: D102
        return words.number(value)

    def format_ticks(self, values: Any) -> list[str]:  # noqa: D102
        return words.ticks(list(map(float, values)))


@dataclass(frozen=True)
class Pen:
    """What a drawing function needs beside the mark."""

    axes: Any  # Axes or Axes3D, whose methods differ in their numbers of coordinates
    frame: Frame
    look: MarkStyle
    number: int  # of this mark among those of its kind in the panel


def _colour_map(stops: tuple[str, ...]) -> Colormap:
    """A colour map through the stops, with a grey for missing values."""
    return LinearSegmentedColormap.from_list("dynascope", stops).with_extremes(bad=style.MISSING)


def _stroke(look: MarkStyle) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linewidth": look.width,
        "linestyle": DASHES[look.dash],
        "alpha": look.opacity,
        "zorder": look.order,
    }


def _dots(look: MarkStyle, size: float = 5.5) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": MARKERS[look.marker],
        "markersize": size,
        "color": look.colour,
        "markerfacecolor": look.colour if look.filled else style.PAPER,
        "alpha": look.opacity,
        "zorder": look.order + 0.5,
    }


def _line(mark: Line, pen: Pen) -> None:
    x = drawable(mark.x, pen.frame.x_scale)
    y = drawable(mark.y, pen.frame.y_scale)
    if mark.low is not None and mark.high is not None:
        low, high = (drawable(v) for v in (mark.low, mark.high))
        low = np.maximum(low, pen.frame.y[0])  # a log axis has no place for zero
        fade = {"color": pen.look.colour, "alpha": 0.18, "linewidth": 0}
        pen.axes.fill_between(x, low, high, zorder=pen.look.order - 1, **fade)
    few = mark.role == "measured" and len(x) <= style.FEW
    ends: dict[str, Any] = {"marker": "o", "markersize": 4.5} if few else {}
    pen.axes.plot(x, y, label=mark.label, **_stroke(pen.look), **ends)
    alone = geometry.lonely(x, y)
    if alone.size and not few:
        pen.axes.plot(x[alone], y[alone], **_dots(pen.look, 4.5))


def _points(mark: Points, pen: Pen) -> None:
    x = drawable(mark.x, pen.frame.x_scale)
    y = drawable(mark.y, pen.frame.y_scale)
    pen.axes.errorbar(
        x,
        y,
        _errors(mark, y, pen),
        label=mark.label,
        capsize=2.5,
        elinewidth=1.1,
        **_dots(pen.look, 5.5 if len(x) < style.CLOUD else 3.5),
    )


def _errors(mark: Points | Bars, y: np.ndarray, pen: Pen) -> np.ndarray | None:
    """Lengths of the error bars below and above, or None."""
    if mark.low is None or mark.high is None or not len(y):
        return None
    low, high = (drawable(v) for v in (mark.low, mark.high))
    if pen.frame.y_scale == "log":
        low = np.maximum(low, pen.frame.y[0])
    return np.nan_to_num(np.maximum([y - low, high - y], 0.0))


def _path(mark: Path, pen: Pen) -> None:
    scales: tuple[Scale, ...] = (pen.frame.x_scale, pen.frame.y_scale, "linear")
    columns = [c for c in (mark.x, mark.y, mark.z) if c is not None]
    places = [drawable(c, s) for c, s in zip(columns, scales)]
    starts = [r.start for r in geometry.runs(*places)]
    point = len(mark.x) == 1
    pen.axes.plot(*places, label="" if point else mark.label, **_stroke(pen.look))
    dots = _dots(pen.look, 5.5) if point else _dots(pen.look, 4.5) | {"marker": "o"}
    pen.axes.plot(*(c[starts] for c in places), label=mark.label if point else "", **dots)
    if mark.z is not None:
        for barb in geometry.barbs(mark, pen.frame):
            pen.axes.plot(*barb.T, color=pen.look.colour, linewidth=1.6, zorder=pen.look.order)
        return
    for tail, head in geometry.arrows(mark, pen.frame):
        arrow = {"arrowstyle": "-|>", "color": pen.look.colour, "mutation_scale": 13, "lw": 0}
        arrow |= {"shrinkA": 0, "shrinkB": 0}
        pen.axes.annotate("", head, tail, arrowprops=arrow, zorder=pen.look.order + 0.5)


def _heat(mark: Heat, pen: Pen) -> None:
    if not np.size(mark.z):
        return
    x, y = edges(mark.x, pen.frame.x_scale), edges(mark.y, pen.frame.y_scale)
    z = np.ma.masked_invalid(drawable(mark.z))
    colours, (low, high) = _scale(mark, mark.z, mark.diverging)
    mesh = pen.axes.pcolormesh(x, y, z, cmap=colours, vmin=low, vmax=high, rasterized=True)
    if mark.hatched is not None:
        scales = pen.frame.x_scale, pen.frame.y_scale
        strokes = geometry.hatching(mark.hatched, x, y, *scales)
        pen.axes.plot(*strokes, color=style.INK, linewidth=0.7)
    levels = sorted({c for c in mark.contours if z.count() and z.min() < c < z.max()})
    if levels and min(z.shape) > 1:
        ink, rim = ("k", "w") if mark.diverging else ("w", "k")
        lines = pen.axes.contour(mark.x, mark.y, z, levels, colors=ink, linewidths=1.1)
        lines.set_path_effects([withStroke(linewidth=2, foreground=rim, alpha=0.5)])
        pen.axes.clabel(lines, fontsize=SMALL - 1, fmt=lambda v: f"{v:.4g}")
    _colour_bar(pen.axes, mesh, mark)


def _scale(mark: Heat | Graph, values: Any, diverging: bool) -> tuple[Any, tuple[float, float]]:
    """The colours and the values at their ends: one step for each category."""
    if mark.categories:
        count = len(mark.categories)
        return ListedColormap(style.colours(count)), (-0.5, count - 0.5)
    colours = _colour_map(style.DIVERGING if diverging else style.SEQUENTIAL)
    return colours, colour_range(values, diverging)


def _colour_bar(axes: Any, artist: Any, mark: Heat | Graph) -> None:
    label = mark.label
    few: Any = range(len(mark.categories)) if mark.categories else ticker.MaxNLocator(5)
    form = None if mark.categories else Plain()
    bar = axes.figure.colorbar(artist, ax=axes, pad=0.02, aspect=28, ticks=few, format=form)
    if mark.categories:
        bar.ax.set_yticklabels(mark.categories)
    room = axes.get_position().height * axes.figure.get_figheight() * 72
    bar.set_label(wrapped(axes.figure, label, room, 9.5), fontsize=9.5)
    bar.ax.tick_params(labelsize=SMALL, color=style.FAINT_INK)
    bar.outline.set_visible(False)


def _bars(mark: Bars, pen: Pen) -> None:
    at, width = geometry.bar_places(mark, pen.frame)
    y = drawable(mark.y, pen.frame.y_scale)
    base = pen.frame.y[0] if pen.frame.y_scale == "log" else 0.0
    theory = pen.look.dash == "dashed"
    face = {"color": "none", "edgecolor": pen.look.colour} if theory else {"color": pen.look.colour}
    edge = {"linewidth": pen.look.width, "linestyle": DASHES["dashed"]} if theory else {}
    pen.axes.bar(
        at, y - base, width * 0.92, base, label=mark.label, zorder=pen.look.order, **face, **edge
    )
    errors = _errors(mark, y, pen)
    if errors is not None:
        ink = {"ecolor": style.INK, "elinewidth": 1.1, "capsize": 2.5}
        pen.axes.errorbar(at, y, errors, fmt="none", zorder=pen.look.order + 1, **ink)


def _graph(mark: Graph, pen: Pen) -> None:
    x, y = drawable(mark.x), drawable(mark.y)
    if not x.size:
        return
    lines = [[(x[a], y[a]), (x[b], y[b])] for a, b in mark.edges]
    pen.axes.add_collection(LineCollection(lines, colors=style.GREYS[0], linewidths=1.2, zorder=1))
    big = float(np.clip(26 - 0.45 * x.size, 8, 22))  # points across
    colours, ends = _scale(mark, mark.values, False)
    norm = Normalize(*ends)
    values = drawable(mark.values)
    nodes = pen.axes.scatter(
        x, y, big**2, values, norm=norm, cmap=colours,
        edgecolors=style.INK, linewidths=0.8, zorder=3, plotnonfinite=True,
    )  # fmt: skip
    for name, a, b in zip(mark.names, x, y):
        lift = big / 2 + 2
        pen.axes.annotate(
            name, (a, b), (0, lift), textcoords="offset points", ha="center", va="bottom",
            fontsize=SMALL, color=style.INK, path_effects=HALO, zorder=4,
        )  # fmt: skip
    _colour_bar(pen.axes, nodes, mark)


def _pictures(mark: PictureGrid, pen: Pen) -> None:
    rows, columns = mark.shape[:2]
    if not rows or not columns:
        return
    ends = (-0.5, columns - 0.5, 0.5 - rows, 0.5)
    pen.axes.imshow(raster(mark), extent=ends, interpolation="nearest", aspect="auto", zorder=2)


def _reference(mark: Reference, pen: Pen) -> None:
    """The line only: its name is written once the layout is known."""
    draw = pen.axes.axvline if mark.axis == "x" else pen.axes.axhline
    look = {"color": style.FAINT_INK, "linestyle": DASHES["dotted"], "linewidth": 1.2}
    draw(mark.at, zorder=2.5, **look)


def _span(mark: Span, pen: Pen) -> None:
    """The shading only: its name is written once the layout is known."""
    shade = style.SPAN[pen.number % 2]
    pen.axes.axvspan(mark.start, mark.end, color=shade, linewidth=0, zorder=0)


DRAW: dict[type[Mark], Callable[[Any, Pen], None]] = {
    Line: _line,
    Points: _points,
    Path: _path,
    Heat: _heat,
    Bars: _bars,
    Graph: _graph,
    PictureGrid: _pictures,
    Reference: _reference,
    Span: _span,
}
