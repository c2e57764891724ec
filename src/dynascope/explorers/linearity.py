"""Wide networks are close to linear in their weights: how close, by width."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.instruments.network.drawing import width_panel
from dynascope.instruments.network.widths import INPUTS, linearity_by_width
from dynascope.probes.slopes import fit_slope

WIDTHS, POINTS = (8, 16, 32, 64), 2  # the start and the moved network


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.linearity"):
    """How far from the start, in which direction, and how many starts."""

    distance: float = 2.0
    direction: str = "random"
    layers: int = 2
    seeds: int = 3


def weights(layers: int) -> int:
    """Of the widest network."""
    return (INPUTS + 1) * WIDTHS[-1] + (layers - 2) * WIDTHS[-1] ** 2


@explorer(
    "Linearity against width",
    about="A network with tanh is moved away from its random start by some distance in its "
    "weights. Its Hessian norm falls like 1 / sqrt(width), and so does its departure from the "
    "linear model; along the Hessian's own top direction linearity fails most.",
    moves=(
        Slider("distance", "distance from the start", 0.1, 8.0, "log"),
        Choice("direction", "direction", ("random", "steepest")),
        Choice("layers", "layers", (2, 3)),
        Slider("seeds", "starts", 1, 6),
    ),
    studies=("linearity-width",),
    work=lambda s: Work(POINTS, s.seeds * len(WIDTHS), weights(s.layers)),
)
def linearity(s: Settings) -> Explored:
    """Hessian norm and departure from the linear model, by width, on log axes."""
    seen = linearity_by_width(WIDTHS, s.layers, s.seeds, s.distance, s.direction == "steepest")
    norms, gaps = seen["hessian_norm"], seen["departure"]
    slopes = [fit_slope(seen["width"].values, v.values).value for v in (norms, gaps)]
    words = (f"Slopes over the width: Hessian norm {slopes[0]:.2f}, departure {slopes[1]:.2f}; "
             "-0.5 is predicted for the norm.",)  # fmt: skip
    panels = width_panel(norms, "Hessian norm"), width_panel(gaps, "distance from the linear model")
    chart = Chart("linearity", "Distance from linear, by width", words[0], panels)
    return Explored(seen, chart, words)
