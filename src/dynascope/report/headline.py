"""How to look at a headline curve so that a small rise in it can be seen.

A loss that falls from 2.4 to 0.32, rises to 0.39 and falls to 0 looks like a plain fall
on a plain axis. The view is chosen by one rule and named in words beside the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Scale
from dynascope.core.records import Headline
from dynascope.report.frame import drawable
from dynascope.report.words import number

SEEN = 0.15  # a rise of this share of the picture's height catches the eye
NOTABLE = 0.002  # a rise below this share of the curve's height is noise
TAIL = 0.02  # where the curve stays this close to its end there is nothing to see


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


def view(headline: Headline) -> View:
    """The plain axis if it shows the largest rise, else a logarithmic one, else a close-up."""
    x, y = finite(headline)
    if not len(y):
        return View((0.0, 1.0), (0.0, 1.0), "linear", "no finite values")
    window = (float(x.min()), float(x.max()))
    shown = np.concatenate([y, _theory(headline)])
    whole = (float(shown.min()), float(shown.max()))
    plain = View(window, whole, "linear")
    rise = largest_rise(y)
    if rise is None or not NOTABLE <= _share(y, rise, *whole) < SEEN:
        return plain
    positive = whole[0] > 0
    if positive and _share(np.log(y), rise, *np.log(whole)) >= SEEN:
        return View(window, whole, "log", "log scale")
    return _close_up(x, y, rise)


def finite(headline: Headline) -> tuple[np.ndarray, np.ndarray]:
    """The curve without its gaps."""
    x, y = drawable(headline.x), drawable(headline.y)
    fine = np.isfinite(x) & np.isfinite(y)
    return x[fine], y[fine]


def _theory(headline: Headline) -> np.ndarray:
    """The theory's finite values; the plain window shows all of them."""
    values = drawable(headline.theory or ())
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


def headline_chart(headline: Headline) -> Chart:
    """The headline as a chart: the whole curve, and the view that shows the rise if it differs."""
    chosen = view(headline)
    panels = [_panel(headline, "linear", "The whole curve" if chosen.words else "")]
    if chosen.scale == "log":
        panels.append(_panel(headline, "log", "The same on a log scale"))
    elif chosen.close_up:
        panels.append(_panel(headline, "linear", "Close-up of the rise", chosen))
    return Chart("headline", headline.title, headline.note, tuple(panels))


def _panel(headline: Headline, scale: Scale, title: str, window: View | None = None) -> Panel:
    marks = [Line(*_inside(headline.x, headline.y, window), "measured", "measured", 0)]
    if headline.theory is not None:
        marks.append(Line(*_inside(headline.x, headline.theory, window), "theory", "theory", 0))
    return Panel(tuple(marks), title, headline.x_label, headline.y_label, "linear", scale)


def _inside(x: tuple, y: tuple, window: View | None) -> tuple[np.ndarray, np.ndarray]:
    """The part of a curve in a window; the rest is left as a gap."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if window is None:
        return xs, ys
    seen = (window.x[0] <= xs) & (xs <= window.x[1])
    shown = np.where((window.y[0] <= ys) & (ys <= window.y[1]), ys, np.nan)
    return xs[seen], shown[seen]
