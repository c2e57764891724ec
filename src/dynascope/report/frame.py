"""The window of a panel: what must be seen of each mark, and where on its axes it lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.charts import (
    Bars,
    Graph,
    Heat,
    Line,
    Mark,
    Panel,
    Path,
    PictureGrid,
    Points,
    Reference,
    Scale,
    Span,
)

Range = tuple[float, float]
Extent = tuple[np.ndarray, np.ndarray, np.ndarray]  # values on x, y and z
_NOTHING: Extent = (np.zeros(0), np.zeros(0), np.zeros(0))
LARGEST = 1e300  # beyond it the sums inside a renderer overflow


@dataclass(frozen=True)
class Frame:
    """A panel's window in data units, its scales, and the names along its axes.

    `names` are the categories of bars or the columns of pictures, at 0, 1, ... on x; `rows` are
    the rows of pictures, at 0, -1, ... on y.
    """

    x: Range
    y: Range
    z: Range | None
    x_scale: Scale
    y_scale: Scale
    names: tuple[str, ...]
    rows: tuple[str, ...]
    slots: dict[Bars, int]  # beside each other in every category
    empty: bool


def frame(panel: Panel) -> Frame:
    """The window that shows every mark of a panel.

    Example:
        >>> frame(Panel((Line([0, 10], [1, 3]),))).x
        (-0.2, 10.2)
    """
    extents = [_EXTENTS[type(m)](m, panel) for m in panel.marks]
    xs, ys, zs = (np.concatenate([np.zeros(0), *column]) for column in zip(_NOTHING, *extents))
    heat = any(isinstance(m, Heat | PictureGrid) for m in panel.marks)
    graph = any(isinstance(m, Graph) for m in panel.marks)
    wide, high = (0.0, 0.0) if heat else (0.14, 0.14) if graph else (0.02, 0.05)
    room = 0.13 if any(isinstance(m, Span) and m.label for m in panel.marks) else 0.0
    return Frame(
        x=_window(xs, panel.x_scale, wide, wide),
        y=_window(ys, panel.y_scale, high, max(high, room)),  # room for the names of spans
        z=_window(zs, "linear", 0.05, 0.05) if zs.size else None,
        x_scale=panel.x_scale,
        y_scale=panel.y_scale,
        names=_names(panel),
        rows=next((m.rows for m in panel.marks if isinstance(m, PictureGrid)), ()),
        slots=_slots(panel),
        empty=not np.isfinite(np.concatenate([xs, ys])).any(),
    )


def drawable(values: Any, scale: Scale = "linear") -> np.ndarray:
    """The values as an array, with NaN (a gap) for what an axis cannot show.

    Example:
        >>> drawable([1.0, float("inf"), -1.0], "log")
        array([ 1., nan, nan])
    """
    array = np.asarray(values, dtype=float)
    shown = np.isfinite(array) & (np.abs(array) < LARGEST)
    return np.where(shown & (array > 0) if scale == "log" else shown, array, np.nan)


def edges(centres: Any, scale: Scale) -> np.ndarray:
    """The n + 1 borders of n cells, half-way between their centres on the axis.

    Example:
        >>> edges([1, 100], "log").round(1).tolist()
        [0.1, 10.0, 1000.0]
    """
    at = along(drawable(centres, scale), scale)
    if at.size == 0:
        return at
    middle = (at[1:] + at[:-1]) / 2
    first = 2 * at[0] - middle[0] if middle.size else at[0] - 0.5
    last = 2 * at[-1] - middle[-1] if middle.size else at[-1] + 0.5
    return back(np.concatenate([[first], middle, [last]]), scale)


def whole_step(ends: Range) -> int:
    """Between the ticks of an axis that counts rows or columns: every one, or every so many.

    Example:
        >>> whole_step((0.5, 5.5)), whole_step((0.5, 64.5))
        (1, 10)
    """
    return max(1, math.ceil((ends[1] - ends[0]) / 7))


def colour_range(values: Any, diverging: bool) -> tuple[float, float]:
    """The values at the two ends of a colour scale; zero in the middle if diverging."""
    fine = drawable(values)
    fine = fine[np.isfinite(fine)]
    if fine.size == 0:
        return (-1.0, 1.0) if diverging else (0.0, 1.0)
    if diverging:
        most = float(np.abs(fine).max()) or 1.0
        return -most, most
    return _window(fine, "linear", 0.0, 0.0)


def along(values: Any, scale: Scale) -> np.ndarray:
    """The place of a value along its axis: itself, or its logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values) if scale == "log" else np.asarray(values, dtype=float)


def back(places: Any, scale: Scale) -> np.ndarray:
    """The value at a place along its axis."""
    return np.power(10.0, places) if scale == "log" else np.asarray(places)


def _window(values: np.ndarray, scale: Scale, below: float, above: float) -> Range:
    fine = drawable(values, scale)
    fine = fine[np.isfinite(fine)]
    if fine.size == 0:
        return (1.0, 10.0) if scale == "log" else (0.0, 1.0)
    low, high = along(np.array([fine.min(), fine.max()]), scale)
    if high - low <= 1e-12 * max(abs(low), abs(high)):  # a constant: show it in the middle
        half = 0.5 if scale == "log" else 0.1 * abs(low) or 1.0
        low, high = low - half, high + half
    span = high - low
    ends = back(np.array([low - below * span, high + above * span]), scale)
    return float(ends[0]), float(ends[1])


def _names(panel: Panel) -> tuple[str, ...]:
    grid = next((m for m in panel.marks if isinstance(m, PictureGrid)), None)
    if grid is not None:
        return grid.columns
    return tuple(dict.fromkeys(n for m in panel.marks if isinstance(m, Bars) for n in m.names))


def _slots(panel: Panel) -> dict[Bars, int]:
    """Bars of one group share a slot, so that a theory stands over its measurement."""
    bars = [m for m in panel.marks if isinstance(m, Bars)]
    keys = [("alone", i) if m.group is None else ("group", m.group) for i, m in enumerate(bars)]
    order = list(dict.fromkeys(keys))
    return {mark: order.index(key) for mark, key in zip(bars, keys)}


# --- what each kind of mark needs to be seen ------------------------------------------------


def _extent(x: Any = (), y: Any = (), z: Any = ()) -> Extent:
    return np.ravel(drawable(x)), np.ravel(drawable(y)), np.ravel(drawable(z))


def _of_curve(mark: Any, panel: Panel) -> Extent:
    return _extent(mark.x, (*mark.y, *(mark.low or ()), *(mark.high or ())))


def _of_bars(mark: Bars, panel: Panel) -> Extent:
    ends = (-0.6, len(_names(panel)) - 0.4) if mark.names else ()
    return _extent(ends, (0.0, *mark.y, *(mark.low or ()), *(mark.high or ())))


def _of_heat(mark: Heat, panel: Panel) -> Extent:
    return _extent(edges(mark.x, panel.x_scale), edges(mark.y, panel.y_scale))


def _of_pictures(mark: PictureGrid, panel: Panel) -> Extent:
    rows, columns = mark.shape[:2]
    return _extent((-0.5, columns - 0.5), (0.5 - rows, 0.5)) if rows and columns else _NOTHING


def _of_reference(mark: Reference, panel: Panel) -> Extent:
    return _extent(x=[mark.at]) if mark.axis == "x" else _extent(y=[mark.at])


_EXTENTS: dict[type[Mark], Callable[[Any, Panel], Extent]] = {
    Line: _of_curve,
    Points: _of_curve,
    Path: lambda mark, panel: _extent(mark.x, mark.y, mark.z or ()),
    Heat: _of_heat,
    Bars: _of_bars,
    Graph: lambda mark, panel: _extent(mark.x, mark.y),
    PictureGrid: _of_pictures,
    Reference: _of_reference,
    Span: lambda mark, panel: _extent(x=[mark.start, mark.end]),
}
