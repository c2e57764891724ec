"""Gradient descent on any function of one number: its edge, its orbit, its bifurcations."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Drag, Slider, Words
from dynascope.instruments.orbits.bifurcation import bifurcation, visited_values
from dynascope.instruments.orbits.descent import observe
from dynascope.instruments.orbits.drawing import diagram_panel
from dynascope.runtime.progress import Progress
from dynascope.theories.oscillation.doubling import period_doublings
from dynascope.theories.oscillation.one_dimension import Flip, flip

BELOW = 0.1  # the first iterate is this far below the minimum
DIAGRAM: dict[str, int] = {
    "columns": 200,
    "bins": 140,
    "per_column": 8,
    "steps": 800,
    "counted": 100,
}
SHOWN = 60  # steps of the path


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.orbits"):
    """A function, a learning rate over the limit of stability, and the part that is drawn."""

    function: str = "(x**2-1)**2/4"
    near: float = 1.0
    learning_rate: float = 1.1
    rates: tuple[float, ...] = ()
    visited: tuple[float, ...] = ()


@lru_cache(maxsize=32)
def _edge(function: str, near: float) -> tuple[Flip, tuple[float, ...]]:
    """The edge of stability and the predicted doublings of a function."""
    with Progress("edge of stability", 2, enabled=False) as bar:
        edge = flip(function, near)
        bar.update(1)
        return edge, tuple(period_doublings(edge, 4))


@lru_cache(maxsize=8)
def _diagram(function: str, near: float, rates: tuple, visited: tuple) -> tuple:
    """The diagram of a box; it does not move with the learning rate."""
    edge, doublings = _edge(function, near)
    start, limit = edge.minimum - BELOW, edge.stability_limit
    low, high = rates or (0.9 * limit, 1.6 * limit)
    if low <= 0:
        raise bad("rates", rates, "learning rates above 0")
    values = visited or visited_values(edge.f, (low, high), start)
    if values is None:
        raise bad("rates", (low, high), "rates at which not every descent escapes")
    seen = bifurcation(edge.f, (low, high), start, values, progress=False, **DIAGRAM)
    return seen, diagram_panel(seen, edge, doublings)


@explorer(
    "orbits",
    title="Past the edge of stability: orbits and period doublings",
    about="Gradient descent on a function of x. Beyond 2 / f'' its minimum repels, and descent "
    "visits two values in turn, then four, then chaos. Drag a box in the diagram to compute it "
    "anew at that resolution; double-click for the whole. The learning rate is in units of the "
    "limit of stability.",
    phenomenon="oscillation",
    settings=Settings,
    moves=(
        Slider("learning_rate", "learning rate over its limit", 0.5, 2.0),
        Words("function", "f(x)"),
        Slider("near", "look for the minimum near", -10.0, 10.0),
        Drag(0, "rates", "visited"),
    ),
    studies=("period-two", "quartic-orbits"),
    work=lambda s: Work(DIAGRAM["steps"], DIAGRAM["columns"] * DIAGRAM["per_column"]),
)
def orbits(s: Settings) -> Explored:
    """The bifurcation diagram with the learning rate marked, and the path at that rate."""
    edge, doublings = _edge(s.function, s.near)
    seen, panel = _diagram(s.function, s.near, s.rates, s.visited)
    rate, start = s.learning_rate * edge.stability_limit, edge.minimum - BELOW
    found = observe(edge.f, rate, start)
    marks = list(panel.marks)
    if seen.learning_rates[0] <= rate <= seen.learning_rates[-1]:
        marks.append(Reference("x", rate, f"rate {rate:.4g}"))
    x = [start]
    while len(x) <= SHOWN and abs(x[-1]) < 1e3:
        x.append(x[-1] - rate * edge.slope(x[-1]))
    path: list = [Line(np.arange(len(x)), x, "x", group=0)]
    orbit = edge.orbit(rate) if s.learning_rate > 1 else None
    for k, point in enumerate(orbit.points if orbit else ()):
        ends = (0, SHOWN)
        path.append(Line(ends, (point, point), "" if k else "predicted orbit", "theory", 0))
    points = ", ".join(f"{p:.6g}" for p in found.points[:8])
    words = (
        f"The minimum is at {edge.minimum:.6g}, the limit of stability {edge.stability_limit:.6g}"
        f" ({edge.kind}).",
        f"At {rate:.6g} descent {_verdict(found.verdict)}" + (f": {points}." if points else "."),
    )
    caption = "Left: values that descents visit after a long time; dashed: the predicted orbit. "
    chart = Chart("orbits", s.function, caption + words[1], (
        Panel(tuple(marks), panel.title, panel.x_label, panel.y_label),
        Panel(tuple(path), "the path at this rate", "step", "x"),
    ))  # fmt: skip
    data = xr.Dataset(
        {"visits": (("learning_rate", "visited"), seen.counts), "x": ("step", x)},
        {"learning_rate": seen.learning_rates, "visited": seen.values},
        {"minimum": edge.minimum, "stability_limit": edge.stability_limit,
         "verdict": found.verdict, "doublings": list(doublings)},
    )  # fmt: skip
    return Explored(data, chart, words)


def _verdict(word: str) -> str:
    """The verdict behind "descent"."""
    return f"ends on an orbit of {word.replace('-', ' ')}" if word.startswith("period") else (
        {"chaotic": "is chaotic", "undecided": "is undecided"}.get(word, word))  # fmt: skip
