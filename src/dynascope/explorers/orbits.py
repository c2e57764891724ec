"""Gradient descent on any function of one number: its edge, its orbit, its bifurcations."""

from dataclasses import dataclass

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Drag, Slider, Words
from dynascope.explorers.pieces.sentences import descent, edge_of_stability
from dynascope.instruments.orbits import zooming
from dynascope.instruments.orbits.descent import observe
from dynascope.instruments.orbits.paths import first_steps, path_panel

SHOWN = 60  # steps of the path
CAPTION = "In the diagram: what descents visit after a long time; dashed: the predicted orbit. "


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.orbits"):
    """A function, a learning rate over the limit of stability, and the part that is drawn."""

    function: str = "(x**2-1)**2/4"
    near: float = 1.0
    learning_rate: float = 1.1
    rates: tuple[float, ...] = ()
    visited: tuple[float, ...] = ()


@explorer(
    "Past the edge of stability: orbits and period doublings",
    about="Gradient descent on a function of x. Beyond 2 / f'' its minimum repels, and descent "
    "visits two values in turn, then four, then chaos. Drag a box in the diagram, or write "
    "its ends, to compute it anew at that resolution; double-click for the whole. The learning "
    "rate is in units of the limit of stability.",
    moves=(
        Slider("learning_rate", "learning rate over its limit", 0.5, 2.0),
        Words("function", "f(x)"),
        Slider("near", "look for the minimum near", -10.0, 10.0),
        Drag(0, "rates", "visited", ("learning rate", "visited x"), above=0.0),
    ),
    studies=("period-two", "quartic-orbits"),
    work=lambda s: Work(zooming.STEPS, zooming.COLUMNS * zooming.PER_COLUMN),
)
def orbits(s: Settings) -> Explored:
    """The bifurcation diagram with the learning rate marked, and the path at that rate."""
    edge, doublings = zooming.edge_of(s.function, s.near)
    seen, diagram = zooming.diagram_in(edge, doublings, s.rates, s.visited)
    rate, start = s.learning_rate * edge.stability_limit, edge.minimum - zooming.BELOW
    found, path = observe(edge.f, rate, start), first_steps(edge, rate, start, SHOWN)
    words = edge_of_stability(edge), descent(rate, found.verdict, found.points)
    panels = zooming.marked(diagram, seen, rate), path_panel(edge, rate, path, SHOWN)
    data = xr.Dataset(
        {"visits": (("learning_rate", "visited"), seen.counts), "x": ("step", path)},
        {"learning_rate": seen.learning_rates, "visited": seen.values},
        {"minimum": edge.minimum, "stability_limit": edge.stability_limit,
         "verdict": found.verdict, "doublings": list(doublings)},
    )  # fmt: skip
    return Explored(data, Chart("orbits", s.function, CAPTION + words[1], panels), words)
