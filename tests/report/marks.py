"""Charts for the tests: one per kind of mark, and the awkward ones."""

from __future__ import annotations

import numpy as np

from dynascope.core import charts
from dynascope.core.charts import Bars, Chart, Graph, Heat, Line, Panel, Path, Points, Reference

from .example import example

KINDS = list(charts._MARKS.values())  # the registry of marks: a new kind is tested at once
HOSTILE = """</script><script>alert("x")</script><img src=x onerror='y'> & $\\frac{$ %{x} | `b`"""
NAN, INF = float("nan"), float("inf")


def with_kind(kind: type) -> Panel:
    """A panel of the example that holds a mark of this kind."""
    panels = [p for chart in example().charts for p in chart.panels]
    return next(p for p in panels if any(isinstance(m, kind) for m in p.marks))


def chart(*marks, **panel) -> Chart:
    """A chart with one panel of these marks."""
    return Chart("chart", "A title", "A caption.", (Panel(marks, **panel),))


def hostile() -> Chart:
    line = Line([0, 1], [0, 1], HOSTILE)
    bars = Bars((HOSTILE,), [1.0], HOSTILE)
    graph = Graph([0, 1], [0, 1], [1, 2], (HOSTILE, "b"), ((0, 1),), HOSTILE)
    names = {"x_label": HOSTILE, "y_label": HOSTILE}
    panels = (
        Panel((line, Reference("x", 0.5, HOSTILE), charts.Span(0, 1, HOSTILE)), HOSTILE, **names),
        Panel((bars,), HOSTILE),
        Panel((graph,), HOSTILE),
        Panel((charts.picture_grid(np.ones((1, 1, 4, 4, 3)), (HOSTILE,), (HOSTILE,)),), HOSTILE),
    )
    return Chart(HOSTILE, HOSTILE, HOSTILE, panels)


AWKWARD = {
    "no panels": Chart("none", "No panels", "Nothing.", ()),
    "no marks": chart(),
    "no points": chart(Line([], []), Points([], []), Path([], []), Bars((), ()), y_scale="log"),
    "empty field": chart(Heat([], [], []), Graph([], [], [], (), ())),
    "no pictures": chart(charts.picture_grid(np.ones((0, 0, 4, 4, 3)), (), ())),
    "one picture": chart(charts.picture_grid(np.full((1, 1, 4, 4, 3), NAN), ("a",), ("b",))),
    "one point": chart(Line([1], [2], "one"), Points([1], [2]), x_scale="log"),
    "one point in space": chart(Path([1], [2], [3], "one")),
    "constant": chart(Line([0, 1, 2], [5, 5, 5], low=[5, 5, 5], high=[5, 5, 5])),
    "constant zero": chart(Line([0, 1, 2], [0, 0, 0])),
    "one cell": chart(Heat([1], [2], [[3]], contours=(3,))),
    "only gaps": chart(Line([0, 1], [NAN, NAN]), Heat([0, 1], [0, 1], np.full((2, 2), NAN))),
    "infinite": chart(Line([0, 1, 2], [1, INF, 3], low=[0, -INF, 2], high=[2, INF, 4])),
    "huge": chart(Line([0, 1], [-1e307, 1e308]), Points([0, 1], [1e-310, 1])),
    "below zero on log": chart(Line([1, 2], [0, -1]), Line([0, 1], [1, 2]), y_scale="log"),
    "bars below zero": chart(Bars(("a", "b"), [-1, 2], low=[-2, 1], high=[0, 3])),
    "log bars": chart(Bars(("a", "b"), [1e-3, 1e2], role="theory"), y_scale="log"),
    "reference only": chart(Reference("x", 3.0, "here"), Reference("y", -2.0)),
    "references off a log axis": chart(
        Line([1, 10], [1, 10]), Reference("x", -1.0, "left"), x_scale="log", y_scale="log"
    ),
    "long words": Chart("long", "word " * 60, "caption " * 90, (Panel((), "title " * 30),) * 4),
    "unknown nodes": chart(Graph([0, 1], [0, 0], [NAN, 1], ("a", "b"), ((0, 1),))),
}
