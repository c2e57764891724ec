"""What the marks of one plotly panel are drawn on, and how words and numbers are written."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynascope.core.charts import Panel
from dynascope.report.frame import Frame
from dynascope.report.style import MarkStyle

MARKERS = {"circle": "circle", "diamond": "diamond", "square": "square", "cross": "x-thin"}
DASHES = {"solid": "solid", "dashed": "6px,4px", "dotted": "1px,3px"}
SMALL = 11
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class Box:
    """The place of a panel, in shares of the figure, and its width in pixels, about."""

    left: float
    right: float
    bottom: float
    top: float
    pixels: float
    pixel: float  # the height of one, as a share of the figure
    below: int  # pixels under it for ticks and label; its legend follows


@dataclass(frozen=True)
class Sheet:
    """Where the marks of a panel go: the names of its axes, its place, and what was drawn."""

    number: int
    panel: Panel
    frame: Frame
    box: Box
    labels: list[str]  # of its legend, in order; none if the panel before has the same
    traces: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    images: list[dict[str, Any]] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)  # labels already in the legend

    @property
    def suffix(self) -> str:
        """What plotly appends to the names of this panel's axes."""
        return "" if self.number == 1 else str(self.number)

    def add(self, mark: Any, look: MarkStyle, legend: bool = True, **trace: Any) -> None:
        """Add a trace to this panel; its label enters the legend once, in the marks' order."""
        label = getattr(mark, "label", "")
        shown = legend and label in self.labels and label not in self.shown
        if shown:
            self.shown.add(label)
        place = {"xaxis": f"x{self.suffix}", "yaxis": f"y{self.suffix}"}
        if trace["type"] == "scatter3d":
            place = {"scene": f"scene{self.suffix}"}
        # One click in the legend hides a line with its band, dots and arrows.
        group = {"legend": f"legend{self.suffix}", "legendgroup": f"{self.number}/{text(label)}"}
        words = {
            "name": broken(label, letters(self.box.pixels)),
            "showlegend": shown,
            **(group if label else {}),
        }
        if shown:
            words["legendrank"] = 1 + self.labels.index(label)
        rank = {"zorder": look.order} if trace["type"] == "scatter" else {}
        self.traces.append({**trace, **place, **words, **rank})


def letters(pixels: float) -> int:
    """How many letters of a label fit side by side."""
    return max(5, int(pixels / 7.2))


def text(words: str) -> str:
    """Words that plotly shows as they are: it would read tags and entities."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def broken(words: str, letters: int) -> str:
    """Words for plotly in lines of at most so many letters."""
    return "<br>".join(map(text, textwrap.wrap(words, letters)))


def column(values: Iterable[float]) -> list[float | None]:
    """Numbers for JSON; None where there is a gap.

    Seven digits, and more where numbers lie close together far from zero, so that a small
    wiggle of a large value stays smooth.

    Example:
        >>> column([1 / 3, float("nan"), 1000 + 1 / 3, 1000.334])
        [0.3333333, None, 1000.333, 1000.334]
        >>> column([1000 + 1e-6 / 3, 1000 + 2e-6 / 3])
        [1000.000000333333, 1000.000000666667]
    """
    array = np.asarray(list(values), dtype=float)
    there = np.isfinite(array)
    fine = array[there]
    span = float(np.ptp(fine)) if fine.size else 0.0
    lost = np.log10(np.abs(fine).max() / span) if span > 0 else 0.0
    digits = 7 + max(0, round(lost))
    both = zip(array.tolist(), there.tolist(), strict=True)  # plain numbers: fields have many
    return [float(f"{v:.{digits}g}") if fine else None for v, fine in both]


def stroke(look: MarkStyle) -> dict[str, Any]:
    """The look of a line."""
    return {"color": look.colour, "width": look.width, "dash": DASHES[look.dash]}


def dots(look: MarkStyle, size: float = 8) -> dict[str, Any]:
    """The look of points."""
    symbol = MARKERS[look.marker] + ("" if look.filled else "-open")
    line: dict[str, Any] = {"color": look.colour}
    if look.marker == "cross" or not look.filled:  # nothing but a line: without a width unseen
        line["width"] = 1.6
    return {"symbol": symbol, "size": size, "color": look.colour, "line": line}
