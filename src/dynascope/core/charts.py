"""Charts as data: panels of marks with axes and captions; no drawing, no jax.

A study returns these; `report` renders them twice, with matplotlib for files and with
plotly for the report. A mark's `role` fixes its look everywhere: what was measured is a
solid coloured line, what theory predicts is dashed and dark, a control is grey.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

Role = Literal["measured", "theory", "control", "reference"]
Scale = Literal["linear", "log"]
Numbers = Any  # given as any sequence or array of numbers, kept as nested tuples of floats


def _numbers(values: Any) -> tuple:
    """Nested tuples of plain Python floats: what a chart stores."""

    def plain(v: Any) -> Any:
        return tuple(plain(w) for w in v) if isinstance(v, list) else float(v)

    return plain(np.asarray(values, dtype=float).tolist())


@dataclass(frozen=True)
class Line:
    """A curve y(x), with an optional band from `low` to `high` around it."""

    x: Numbers
    y: Numbers
    label: str = ""
    role: Role = "measured"
    group: int | None = None  # marks of one group share a colour (a theory over its measurement)
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Points:
    """Separate points, with optional error bars from `low` to `high`."""

    x: Numbers
    y: Numbers
    label: str = ""
    role: Role = "measured"
    group: int | None = None
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Path:
    """A trajectory in the plane or in space; arrows show the direction of time."""

    x: Numbers
    y: Numbers
    z: Numbers | None = None
    label: str = ""
    role: Role = "measured"
    group: int | None = None
    arrows: bool = True


@dataclass(frozen=True)
class Heat:
    """A field over a grid: `z[i][j]` is the value at `x[j]`, `y[i]`."""

    x: Numbers
    y: Numbers
    z: Numbers
    label: str = ""
    diverging: bool = False  # centre the colours at zero
    contours: tuple = ()


@dataclass(frozen=True)
class Bars:
    """A bar per category, with optional error bars."""

    names: tuple[str, ...]
    y: Numbers
    label: str = ""
    role: Role = "measured"
    group: int | None = None
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Graph:
    """Nodes at given places, coloured by value, joined by edges (pairs of node numbers)."""

    x: Numbers
    y: Numbers
    values: Numbers
    names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    label: str = ""


@dataclass(frozen=True)
class Reference:
    """A straight line at one value of one axis."""

    axis: Literal["x", "y"]
    at: float
    label: str = ""


@dataclass(frozen=True)
class Span:
    """A named stretch of the x axis, such as a stage of learning."""

    start: float
    end: float
    label: str


Mark = Line | Points | Path | Heat | Bars | Graph | Reference | Span
_MARKS = {c.__name__: c for c in (Line, Points, Path, Heat, Bars, Graph, Reference, Span)}
_NUMERIC = ("x", "y", "z", "low", "high", "values", "contours")


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its marks."""

    marks: tuple[Mark, ...]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    equal: bool = False  # one unit is as long on x as on y

    def __post_init__(self) -> None:
        """Turn arrays into plain numbers, so that a panel compares and serialises."""
        object.__setattr__(self, "marks", tuple(_plain_mark(m) for m in self.marks))


@dataclass(frozen=True)
class Chart:
    """A named figure: panels beside each other and a caption that says what to look for.

    Example:
        >>> chart = Chart("parabola", "A parabola", "Look at the minimum at 0.",
        ...               (Panel((Line([-1, 0, 1], [1, 0, 1]),)),))
        >>> chart_from_plain(chart_to_plain(chart)) == chart
        True
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]


def _plain_mark(mark: Mark) -> Mark:
    changes = {
        name: _numbers(value)
        for name in _NUMERIC
        if (value := getattr(mark, name, None)) is not None
    }
    return type(mark)(**{**mark.__dict__, **changes})


def chart_to_plain(chart: Chart) -> dict[str, Any]:
    """The chart as nested dictionaries and lists, ready for JSON."""
    plain = asdict(chart)
    for panel, plain_panel in zip(chart.panels, plain["panels"], strict=True):
        for mark, plain_mark in zip(panel.marks, plain_panel["marks"], strict=True):
            plain_mark["mark"] = type(mark).__name__
    return plain


def chart_from_plain(plain: dict[str, Any]) -> Chart:
    """The chart that `chart_to_plain` wrote."""

    def tuples(v: Any) -> Any:
        return tuple(tuples(w) for w in v) if isinstance(v, list | tuple) else v

    panels = []
    for panel in plain["panels"]:
        marks = []
        for fields in panel["marks"]:
            rest = {k: tuples(v) for k, v in fields.items() if k != "mark"}
            marks.append(_MARKS[fields["mark"]](**rest))
        panels.append(Panel(**{**panel, "marks": tuple(marks)}))
    return Chart(plain["name"], plain["title"], plain["caption"], tuple(panels))
