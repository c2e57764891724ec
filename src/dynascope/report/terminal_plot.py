"""A headline curve drawn with letters: dots of braille, or plain ASCII where there are none."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynascope.core.charts import Chart, Scale
from dynascope.report.frame import drawable
from dynascope.report.headline import Curve, View, curve_of, view
from dynascope.report.spelling import spelled
from dynascope.report.words import ticks

NARROWEST, LOWEST = 24, 5
# The bit of each dot of a braille letter, by row and column; the letters begin at 0x2800.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_BRAILLE = {"corner": "└", "bar": "─", "side": "│", "y": "┤", "x": "┬", "theory": "○", "key": "⠶"}
_ASCII = {"corner": "+", "bar": "-", "side": "|", "y": "+", "x": "+", "theory": "o", "key": "*"}
THEORY_EVERY = 3  # columns, so that the measured curve is seen between


def text_plot(chart: Chart, width: int, height: int, encoding: str = "utf-8") -> str:
    """Draw the headline curve of a chart as text; see `headline.curve_of`.

    The y axis is plain unless the largest rise of the curve would then be too small to
    see; the line above the picture says what was chosen instead.

    Args:
        chart: Its first panel has the curve; its title and caption stand above and below.
        width: Columns of the whole text; 24 are used at least.
        height: Rows of the picture without its words; 5 are used at least.
        encoding: Of the terminal; without braille letters the picture is plain ASCII.

    Returns:
        Lines without a newline at the end.
    """
    width, height = max(width, NARROWEST), max(height, LOWEST)
    headline = curve_of(chart)
    unicode = spelled("⠶○└", encoding) == "⠶○└"
    signs = _BRAILLE if unicode else _ASCII
    window = _roomy(view(headline))
    y_at, y_labels = _ticks(window.y, max(2, height // 3), window.scale)
    gutter = max(map(len, y_labels)) + 1
    columns = width - gutter - 1
    grid = _grid(headline, window, (columns, height), unicode)
    side = _side(y_at, y_labels, window, height, signs)
    picture = [label.rjust(gutter) + bar + "".join(row) for (label, bar), row in zip(side, grid)]
    words = _above(headline, window), _below(headline, window, gutter, columns, signs)
    lines = [
        *(line for text in words[0] for line in textwrap.wrap(text, width)),
        *picture,
        *words[1],
        *textwrap.wrap(headline.note, width),
    ]
    return "\n".join(spelled(line.rstrip(), encoding) for line in lines)


def _above(headline: Curve, window: View) -> list[str]:
    chosen = f" ({window.words})" if window.words else ""
    return [headline.title, f"{headline.y_label}{chosen}"]


def _below(
    headline: Curve, window: View, gutter: int, columns: int, signs: dict[str, str]
) -> list[str]:
    """The x axis with its ticks and label, and what the signs stand for."""
    axis, numbers = list(signs["bar"] * columns), [" "] * (columns + gutter + 1)
    end = 0  # of the label before
    for at, label in zip(*_ticks(window.x, max(2, columns // 14), window.x_scale)):
        place = int(_cells(np.array([at]), window.x, columns, window.x_scale)[0])
        start = min(max(place + gutter + 1 - len(label) // 2, 0), len(numbers) - len(label))
        axis[place] = signs["x"]
        if start > end or not end:
            numbers[start : start + len(label)] = label
            end = start + len(label)
    label = headline.x_label[: columns + gutter].center(columns)
    over = headline.over and f"   {signs['theory']} {headline.over.label or 'theory'}"
    key = f"{signs['key']} {headline.name}{over}" if over else ""
    lines = [signs["corner"] + "".join(axis), "".join(numbers)[gutter:], " " + label]
    return [" " * gutter + line for line in lines] + ([key] if key else [])


def _side(
    at: np.ndarray, labels: list[str], window: View, height: int, signs: dict[str, str]
) -> list[tuple[str, str]]:
    """Label and bar of every row, the top row first."""
    rows = height - 1 - _cells(at, window.y, height, window.scale)
    side = [("", signs["side"])] * height
    for row, label in zip(rows, labels):
        side[int(row)] = (label, signs["y"])
    return side


def _grid(headline: Curve, window: View, size: tuple[int, int], unicode: bool) -> list[list[str]]:
    """The letters of the picture, the top row first: the curve, then the theory over it."""
    columns, rows = size
    dots = (2 * columns, 4 * rows) if unicode else (columns, rows)
    curve = _dots(headline.x, headline.y, window, dots, headline.joined)
    if unicode:
        codes = np.einsum("rict,it->rc", curve.reshape(rows, 4, columns, 2), _BITS)
        grid = [[chr(0x2800 + int(c)) if c else " " for c in row] for row in codes]
    else:
        grid = [["*" if dot else " " for dot in row] for row in curve]
    sign = (_BRAILLE if unicode else _ASCII)["theory"]
    if headline.over is not None:
        theory = _dots(headline.over.x, headline.over.y, window, (columns, rows))
        for column in range(0, columns, THEORY_EVERY):
            for row in np.flatnonzero(theory[:, column])[:1]:
                grid[row][column] = sign
    return grid


def _dots(
    x: Sequence[float], y: Sequence[float], window: View, size: tuple[int, int], joined: bool = True
) -> np.ndarray:
    """A picture of zeros and ones, the top row first, shape (rows, columns)."""
    columns, rows = size
    picture = np.zeros((rows, columns), dtype=int)
    across = _places(drawable(x), window.x, window.x_scale) * (columns - 1)
    up = _places(drawable(y), window.y, window.scale) * (rows - 1)
    points = [p if np.isfinite(p).all() else None for p in np.stack([across, up], axis=1)]
    for a, b in zip(points, [*points[1:], None] if joined else [None] * len(points)):
        if a is None:
            continue
        steps = 1 if b is None else int(min(np.abs(b - a).max(), 10 * (rows + columns))) + 2
        line = np.linspace(a, a if b is None else b, steps)
        column, row = np.rint(line).T
        seen = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        picture[rows - 1 - row[seen].astype(int), column[seen].astype(int)] = 1
    return picture


def _places(values: np.ndarray, ends: tuple[float, float], scale: Scale) -> np.ndarray:
    """Where values lie between the ends of an axis, from 0 to 1; NaN where they cannot lie."""
    low, high = np.log(ends) if scale == "log" else ends
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        along = np.log(values) if scale == "log" else values
        return (along - low) / (high - low)


def _cells(values: np.ndarray, ends: tuple[float, float], count: int, scale: Scale) -> np.ndarray:
    return np.rint(_places(values, ends, scale) * (count - 1)).astype(int)


def _ticks(ends: tuple[float, float], most: int, scale: Scale) -> tuple[np.ndarray, list[str]]:
    """At most so many round numbers inside a window (at least its ends), with their labels."""
    if scale == "log":
        at = _log_ticks(ends, most)
    else:
        rough = (ends[1] - ends[0]) / most
        power = 10.0 ** np.floor(np.log10(rough))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
        at = np.arange(np.ceil(ends[0] / step - 1e-9), np.floor(ends[1] / step + 1e-9) + 1) * step
    if len(at) < 2:
        at = np.array(ends)
    return at, ticks([float(v) for v in at])


def _log_ticks(ends: tuple[float, float], most: int) -> np.ndarray:
    low, high = np.floor(np.log10(ends[0])), np.ceil(np.log10(ends[1]))
    powers = 10.0 ** np.arange(low, high + 1)
    every = powers[:: int(np.ceil(len(powers) / most))]
    for choice in (np.outer(powers, (1, 2, 5)).ravel(), powers, every):
        at = choice[(choice >= ends[0] * (1 - 1e-9)) & (choice <= ends[1] * (1 + 1e-9))]
        if len(at) <= most:
            break
    return at


def _roomy(window: View) -> View:
    """The window with some room where it has none: constant and one-point curves."""

    def widen(ends: tuple[float, float], scale: Scale) -> tuple[float, float]:
        low, high = ends
        if high - low > 1e-12 * max(abs(low), abs(high)):
            return ends
        if scale == "log":
            return low / 2, high * 2
        half = abs(low) / 10 or 1.0
        return low - half, high + half

    fields: dict[str, Any] = {
        "x": widen(window.x, window.x_scale),
        "y": widen(window.y, window.scale),
    }
    return View(**{**window.__dict__, **fields})
