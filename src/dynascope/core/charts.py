"""Charts as data: panels of marks with axes and captions; no drawing, no jax.

A study returns these; `report` renders them twice, with matplotlib for files and with
plotly for the report. A mark's `role` fixes its look everywhere: what was measured is a
solid coloured line, what theory predicts is dashed and dark, a control is grey.
"""

from __future__ import annotations

import base64
import importlib
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dynascope.core.printable import printable
from dynascope.core.typed import WrongType, check_fields, check_type

Role = Literal["measured", "theory", "control", "reference"]
Scale = Literal["linear", "log"]
Numbers = Any  # given as any sequence or array of numbers, kept as nested tuples of floats


def _numbers(values: Any) -> tuple:
    """Nested tuples of plain Python floats: what a chart stores."""

    def plain(v: Any, depth: int) -> Any:
        if depth < 2:
            return tuple(v) if depth else v
        return tuple(plain(w, depth - 1) for w in v)

    array = np.asarray(values, dtype=float)
    return plain(array.tolist(), array.ndim)


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
    """A field over a grid: `z[i][j]` is the value at `x[j]`, `y[i]`.

    With `categories` the values are their numbers, from 0, and each has a colour of its own.
    """

    x: Numbers
    y: Numbers
    z: Numbers
    label: str = ""
    diverging: bool = False  # centre the colours at zero
    contours: tuple = ()
    categories: tuple[str, ...] = ()
    hatched: Numbers | None = None  # like `z`: cells to hatch are 1, the others 0


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
    """Nodes at given places, coloured by value, joined by edges (pairs of node numbers).

    With `categories` the values are their numbers, from 0, and each has a colour of its own.
    """

    x: Numbers
    y: Numbers
    values: Numbers
    names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    label: str = ""
    categories: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class PictureGrid:
    """Small pictures beside each other: a sample sheet.

    The pixels are kept as bytes in base 64: a sheet of numbers would be a hundred times as long.
    `picture_grid` makes one from an array.
    """

    pixels: str
    shape: tuple[int, int, int, int]  # rows, columns, height, width; three colours
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    label: str = ""

    def array(self) -> np.ndarray:
        """The pictures, (rows, columns, height, width, 3), from 0 to 255."""
        flat = np.frombuffer(base64.b64decode(self.pixels), np.uint8)
        return flat.reshape(*self.shape, 3)


def picture_grid(pictures: Any, rows: tuple[str, ...], columns: tuple[str, ...]) -> PictureGrid:
    """A grid from colours between 0 and 1; what is outside is cut off, NaN is grey.

    Args:
        pictures: (rows, columns, height, width, 3).
        rows: A name for each.
        columns: A name for each.

    Returns:
        The mark.

    Example:
        >>> grid = picture_grid(np.ones((1, 2, 4, 4, 3)), ("a",), ("b", "c"))
        >>> grid.array().shape, int(grid.array().min())
        ((1, 2, 4, 4, 3), 255)
    """
    shown = np.nan_to_num(np.clip(np.asarray(pictures, float), 0, 1), nan=0.5)
    if shown.ndim != 5 or shown.shape[-1] != 3 or shown.shape[:2] != (len(rows), len(columns)):
        raise ValueError(f"pictures of shape {shown.shape} for {len(rows)} x {len(columns)} names")
    levels = np.rint(255 * shown).astype(np.uint8)
    count, across, height, width, _ = levels.shape
    pixels = base64.b64encode(levels.tobytes()).decode("ascii")
    return PictureGrid(pixels, (count, across, height, width), rows, columns)


Mark = Line | Points | Path | Heat | Bars | Graph | PictureGrid | Reference | Span
_MARKS = {
    c.__name__: c for c in (Line, Points, Path, Heat, Bars, Graph, PictureGrid, Reference, Span)
}
_NUMERIC = ("x", "y", "z", "low", "high", "values", "contours", "hatched")


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
    matrix: bool = False  # x counts columns, y counts rows: the first one on top, as it is written

    def __post_init__(self) -> None:
        """Turn arrays into plain numbers, so that a panel compares and serialises."""
        object.__setattr__(self, "marks", tuple(_plain_mark(m) for m in self.marks))

    def __repr__(self) -> str:
        kinds = ", ".join(type(m).__name__ for m in self.marks)
        return f"Panel({self.title or self.y_label!r}: {kinds})"


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

    def __repr__(self) -> str:
        return f"Chart({self.name!r}, {self.title!r}, {len(self.panels)} panels)"

    def plot(self) -> Any:
        """The chart as a matplotlib figure; `.savefig("chart.pdf")` writes it to a file."""
        return _report().figure(self)

    def _repr_html_(self) -> str:
        """In a notebook: the picture."""
        return _report().chart_html(self)


def _report() -> Any:
    """What draws charts; loaded when it is asked for, core needs no drawing."""
    return importlib.import_module("dynascope.report")


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
    """The chart that `chart_to_plain` wrote; `WrongType` for a chart that cannot be drawn."""
    check_fields(plain, Chart, "chart", but=("panels",))
    plain = _printable(plain)
    if not re.fullmatch(r"[\w][\w .,()+=-]{0,99}", plain["name"]):
        raise WrongType(f"chart.name is {plain['name'][:80]!r}, which cannot be a file's name")
    check_type(plain["panels"], tuple, "chart.panels")
    return Chart(
        plain["name"], plain["title"], plain["caption"], tuple(map(_panel, plain["panels"]))
    )


def _panel(plain: dict[str, Any]) -> Panel:
    check_fields(plain, Panel, "panel", but=("marks",))
    check_type(plain["marks"], tuple, "panel.marks")
    return Panel(**{**plain, "marks": tuple(map(_mark, plain["marks"]))})


def _mark(plain: dict[str, Any]) -> Mark:
    check_type(plain, dict, "mark")
    cls = _MARKS.get(str(plain.get("mark")))
    if cls is None:
        raise WrongType(f"mark is {str(plain.get('mark'))[:40]!r}, not one of {', '.join(_MARKS)}")
    fields = {k: v for k, v in plain.items() if k != "mark"}
    check_fields(fields, cls, cls.__name__)
    mark = cls(**{k: _tuples(v) for k, v in fields.items()})
    _check_lengths(mark)
    return mark


def _printable(value: Any) -> Any:
    """The same with every text as it may be printed and drawn."""
    if isinstance(value, dict):
        return {k: _printable(v) for k, v in value.items()}
    if isinstance(value, list | tuple) and not all(isinstance(v, float) for v in value):
        return [_printable(v) for v in value]
    return printable(value) if isinstance(value, str) else value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _check_lengths(mark: Mark) -> None:
    """Raise `WrongType` unless what belongs together is equally long."""
    wanted: dict[str, tuple[int, ...]] = {}
    if isinstance(mark, Heat):
        wanted = {"x": (len(mark.x),), "y": (len(mark.y),)}
        wanted |= dict.fromkeys(("z", "hatched"), (len(mark.y), len(mark.x)))
    elif not isinstance(mark, Reference | Span | PictureGrid):
        along = (len(mark.names if isinstance(mark, Bars | Graph) else mark.x),)
        wanted = dict.fromkeys(("x", "y", "z", "low", "high", "values"), along)
    for name, shape in wanted.items():
        value = getattr(mark, name, None)
        if value is not None and np.shape(np.asarray(value, dtype=float)) != shape:
            raise WrongType(f"{type(mark).__name__}.{name} is not of shape {shape}")
    if isinstance(mark, Graph) and any(not 0 <= n < len(mark.names) for e in mark.edges for n in e):
        raise WrongType("Graph.edges name a node that is not there")
