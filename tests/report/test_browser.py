"""Every kind of mark in a real browser: its pixels are there, on a desk and on a telephone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynascope.core import charts
from dynascope.core.charts import (
    Bars,
    Chart,
    Graph,
    Heat,
    Line,
    Panel,
    Path,
    Points,
    Reference,
    Span,
    picture_grid,
)
from dynascope.report import page, style

from .browser import near, open_browser, pixels, show
from .example import example

X, Y = (0.0, 1.0, 2.0, 3.0), (0.0, 2.0, 1.0, 3.0)
ROLES = ("measured", "theory", "control", "reference")
# A mark by itself, without a label, and a colour that its pixels must have.
MARKS = {
    **{f"Line {r}": Line(X, Y, role=r) for r in ROLES},
    **{f"Points {r}": Points((1.0, 2.0), (1.0, 2.0), role=r) for r in ROLES},
    **{f"Bars {r}": Bars(("a", "b"), (1.0, 2.0), role=r) for r in ROLES},
    **{f"Path {r}": Path(X, Y, role=r) for r in ROLES},
    "Path in space": Path(X, Y, X),
    "Path of one point": Path((1.0,), (1.0,), role="reference"),
    "Line with band": Line(X, Y, low=(-1, 1, 0, 2), high=(1, 3, 2, 4)),
    "Heat": Heat(X, X, [[i + j for i in range(4)] for j in range(4)]),
    "Graph": Graph((0, 1, 0), (0, 0, 1), (0.0, 1.0, 0.5), ("a", "b", "c"), ((0, 1), (1, 2))),
    "Heat of categories": Heat(X[:2], X[:2], [[0, 1], [2, 0]], categories=("a", "b", "c")),
    "Heat with hatching": Heat(X[:2], X[:2], [[0, 1], [2, 3]], hatched=[[0, 0], [0, 1]]),
    "Graph of categories": Graph((0, 1), (0, 0), (0, 1), ("a", "b"), ((0, 1),), "", ("u", "v")),
    "Reference x": Reference("x", 1.0),
    "Reference y": Reference("y", 1.0),
    "Span": Span(1.0, 2.0, ""),
    "Pictures": picture_grid(np.full((1, 2, 4, 4, 3), [0.784, 0.118, 0.157]), ("a",), ("b", "c")),
}
COLOURS = {"Heat": style.SEQUENTIAL[0], "Graph": style.SEQUENTIAL[0], "Span": style.SPAN[0]}
COLOURS |= {"Pictures": "#c81e28"}
COLOURS |= {"Heat of categories": style.colours(3)[1], "Heat with hatching": style.INK}
COLOURS |= {"Graph of categories": style.colours(2)[1]}
COLOURS |= {"Reference x": style.FAINT_INK, "Reference y": style.FAINT_INK}
# Something to make axes from, in a corner and invisible on paper.
AXES = Points((0.0, 3.0), (0.0, 3.0), role="theory")


def chart_of(name: str) -> Chart:
    alone = not isinstance(MARKS[name], Reference | Span)
    marks = (MARKS[name],) if alone else (MARKS[name], AXES)
    return Chart("one", name, "", (Panel(marks),))


def colour(name: str) -> str:
    return COLOURS.get(name) or style.mark_styles(chart_of(name))[0][0].colour


@pytest.fixture(scope="module")
def tab():
    with open_browser() as opener:
        yield opener


@pytest.fixture(scope="module")
def opened(tmp_path_factory, tab):
    """A tab that shows one chart for every mark, in their order."""
    file = tmp_path_factory.mktemp("browser") / "report.html"
    result = replace(example(), charts=tuple(map(chart_of, MARKS)), headline=None)
    file.write_text(page(result, "dynascope run x"), encoding="utf-8")
    opened = tab(1300)
    assert show(opened, file) == []
    return opened


def test_every_kind_of_mark_is_tried():
    assert {type(m) for m in MARKS.values()} >= {
        Line,
        Points,
        Path,
        Heat,
        Bars,
        Graph,
        Reference,
        Span,
    }
    untried = set(charts._MARKS.values()) - {type(m) for m in MARKS.values()}
    assert not untried, f"add {untried} to MARKS"


@pytest.mark.parametrize("name", MARKS)
def test_the_pixels_of_a_mark_are_there(opened, name):
    place = f"#chart-{list(MARKS).index(name) + 1}"
    inner = "canvas" if name == "Path in space" else ".nsewdrag"
    picture = pixels(opened, f"{place} {inner}")
    assert near(picture, colour(name)) >= 12, f"{name}: nothing of colour {colour(name)}"


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_is_out_of_sight(tab, tmp_path, width):
    """The page is as wide as the window, and so is everything on it."""
    file = tmp_path / "report.html"
    file.write_text(page(example(), "dynascope run x"), encoding="utf-8")
    opened = tab(width)
    assert show(opened, file) == []
    wider = opened.evaluate(
        """() => [...document.querySelectorAll("main *")].filter(e =>
            !e.closest("svg, script, pre, .modebar-container") && (
            e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
            getComputedStyle(e).overflowX !== "visible" ||
            e.getBoundingClientRect().right > window.innerWidth + 1))
            .map(e => e.tagName + "." + e.className + "#" + e.id)"""
    )
    assert wider == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
