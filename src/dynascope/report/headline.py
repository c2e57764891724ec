"""The headline: the curve of a chart that the terminal draws, and a view that shows its rise.

A loss that falls from 2.4 to 0.32, rises to 0.39 and falls to 0 looks like a plain fall
on a plain axis. The view is chosen by one rule and named in words beside the picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from dynascope.core.charts import Chart, Line, Points, Scale
from dynascope.core.errors import bad
from dynascope.report.frame import drawable
from dynascope.report.words import number

SEEN = 0.15  # a rise of this share of the picture's height catches the eye
NOTABLE = 0.002  # a rise below this share of the curve's height is noise
TAIL = 0.02  # where the curve stays this close to its end there is nothing to see


@dataclass(frozen=True)
class Curve:
    """What the terminal draws of a headline chart: a measured curve and one over it."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    over: Line | None  # drawn over the curve: a theory, or a second measurement
    note: str
    name: str = "measured"
    joined: bool = True  # a line; else separate points
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"


def curve_of(chart: Chart) -> Curve:
    """The first measured line or points of the first panel that has any, and a line over it.

    Example:
        >>> from dynascope.core.charts import Panel
        >>> marks = (Line((0, 1), (2, 1), "loss"), Line((0, 1), (2, 0), "theory", "theory"))
        >>> found = curve_of(Chart("loss", "Loss", "It falls.", (Panel(marks),)))
        >>> found.y, found.over.label
        ((2.0, 1.0), 'theory')
    """
    measured = [(p, m) for p in chart.panels for m in p.marks if _measured(m)]
    if not measured:
        raise bad("headline", chart.name, "a chart with a measured line")
    panel, first = measured[0]
    drawn = [m for m in panel.marks if isinstance(m, Line | Points)]
    others = [m for m in drawn if m is not first and isinstance(m, Line)]
    over = next((m for m in others if m.role == "theory"), next(iter(others), None))
    labels = panel.x_label, panel.y_label
    name, joined = first.label or "measured", isinstance(first, Line)
    scales = panel.x_scale, panel.y_scale
    return Curve(chart.title, *labels, first.x, first.y, over, chart.caption, name, joined, *scales)


def _measured(mark: object) -> TypeGuard[Line | Points]:
    return isinstance(mark, Line | Points) and mark.role == "measured"


@dataclass(frozen=True)
class View:
    """The window and the scale of a picture, and the words that say what was chosen.

    The words are empty for the plain view of the whole curve.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    scale: Scale
    words: str = ""
    close_up: bool = False
    x_scale: Scale = "linear"


def largest_rise(y: np.ndarray) -> tuple[int, int] | None:
    """Where the largest rise after a fall begins and ends, or None if there is none.

    Example:
        >>> largest_rise(np.array([2.4, 0.3177, 0.35, 0.3949, 0.0]))
        (1, 3)
        >>> largest_rise(np.array([3.0, 2.0, 1.0])) is None
        True
    """
    lowest = np.minimum.accumulate(y)
    end = int(np.argmax(y - lowest)) if len(y) else 0
    start = int(np.argmin(y[: end + 1])) if len(y) else 0
    fell = len(y) > 0 and y[: start + 1].max() > y[start]
    return (start, end) if fell and y[end] > y[start] else None


def view(headline: Curve) -> View:
    """The plain axis if it shows the largest rise, else a logarithmic one, else a close-up."""
    x, y = finite(headline)
    shown = np.concatenate([y, _theory(headline)])
    if headline.x_scale == "log":
        x = x[x > 0]
    if headline.y_scale == "log":
        shown = shown[shown > 0]
    if not len(x) or not len(shown):
        return View((0.0, 1.0), (0.0, 1.0), "linear", "no finite values")
    window = (float(x.min()), float(x.max()))
    whole = (float(shown.min()), float(shown.max()))
    plain = View(window, whole, headline.y_scale, x_scale=headline.x_scale)
    if headline.y_scale == "log" or headline.x_scale == "log" or not headline.joined:
        return replace(plain, words="log scale" if headline.y_scale == "log" else "")
    rise = largest_rise(y)
    if rise is None or not NOTABLE <= _share(y, rise, *whole) < SEEN:
        return plain
    positive = whole[0] > 0
    if positive and _share(np.log(y), rise, *np.log(whole)) >= SEEN:
        return View(window, whole, "log", "log scale")
    return _close_up(x, y, rise)


def finite(headline: Curve) -> tuple[np.ndarray, np.ndarray]:
    """The curve without its gaps."""
    x, y = drawable(headline.x), drawable(headline.y)
    fine = np.isfinite(x) & np.isfinite(y)
    return x[fine], y[fine]


def _theory(headline: Curve) -> np.ndarray:
    """The second curve's finite values; the plain window shows all of them."""
    values = drawable(headline.over.y if headline.over else ())
    return values[np.isfinite(values)]


def _share(y: np.ndarray, rise: tuple[int, int], low: float, high: float) -> float:
    return float((y[rise[1]] - y[rise[0]]) / (high - low))


def _close_up(x: np.ndarray, y: np.ndarray, rise: tuple[int, int]) -> View:
    """The rise with the end of the fall before it and the fall after it."""
    dip, peak = y[rise[0]], y[rise[1]]
    step = peak - dip
    top = peak + step / 2
    bottom = float(y[rise[0] :].min())
    if step / (top - bottom) < SEEN:
        bottom = dip - 2 * step
    before = np.flatnonzero(y[: rise[0] + 1] > top)
    first = x[before[-1]] if len(before) else x[0]
    last = _last_change(x, y, rise[1], bottom, top)
    words = (
        f"close-up: y from {number(bottom, 3)} to {number(top, 3)}, "
        f"x from {number(first, 3)} to {number(last, 3)}; the curve starts at {number(y[0], 3)}"
    )
    return View((float(first), float(last)), (float(bottom), float(top)), "linear", words, True)


def _last_change(x: np.ndarray, y: np.ndarray, peak: int, bottom: float, top: float) -> float:
    """Where the curve comes to rest, or leaves the window for good, with some room after it."""
    end = max(y[-1], bottom)
    moving = np.flatnonzero(np.maximum(y, bottom) - end > TAIL * (top - bottom))
    last = x[min(max(moving[-1] if len(moving) else 0, peak) + 1, len(x) - 1)]
    return float(min(x[-1], last + 0.1 * (last - x[0])))


def with_close_up(chart: Chart) -> Chart:
    """The chart, with a panel more where its first one hides the largest rise of its curve."""
    if not isinstance(chart.panels[0].marks[0], Line) or chart.panels[0].y_scale == "log":
        return chart
    chosen, panel = view(curve_of(chart)), chart.panels[0]
    if chosen.scale == "log":
        closer = replace(panel, title="The same on a log scale", y_scale="log")
    elif chosen.close_up:
        lines = tuple(_inside(m, chosen) for m in panel.marks if isinstance(m, Line))
        closer = replace(panel, title="Close-up of the rise", marks=lines)
    else:
        return chart
    whole = replace(panel, title=panel.title or "The whole curve")
    return replace(chart, panels=(whole, closer, *chart.panels[1:]))


def _inside(line: Line, window: View) -> Line:
    """The part of a curve in a window; the rest is left as a gap."""
    xs, ys = np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float)
    seen = (window.x[0] <= xs) & (xs <= window.x[1])
    shown = np.where((window.y[0] <= ys) & (ys <= window.y[1]), ys, np.nan)
    return Line(xs[seen], shown[seen], line.label, line.role, line.group)
