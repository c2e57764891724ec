"""Wide networks are close to linear in their weights: how close, by width."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.instruments.network.measuring import measure_linearity
from dynascope.instruments.network.padded import Wired, inputs, pad
from dynascope.models.wiring_families import fully_connected
from dynascope.runtime.progress import Progress

WIDTHS, INPUTS, POINTS = (8, 16, 32, 64), 4, 2  # the start and the moved network


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.linearity"):
    """How far from the start, in which direction, and how many starts."""

    distance: float = 2.0
    direction: str = "random"
    layers: int = 2
    seeds: int = 3


@lru_cache(maxsize=16)
def _padded(width: int, layers: int) -> Wired:
    hidden = layers - 1
    return pad(fully_connected([INPUTS, *[width] * hidden, 1]),
               [INPUTS, *[max(WIDTHS)] * hidden, 1])  # fmt: skip


def _weights(layers: int) -> int:
    """Of the widest network."""
    return (INPUTS + 1) * WIDTHS[-1] + (layers - 2) * WIDTHS[-1] ** 2


@explorer(
    "linearity",
    title="Linearity against width",
    about="A network with tanh is moved away from its random start by some distance in its "
    "weights. Its Hessian norm falls like 1 / sqrt(width), and so does its departure from the "
    "linear model; along the Hessian's own top direction linearity fails most.",
    phenomenon="linearity",
    settings=Settings,
    moves=(
        Slider("distance", "distance from the start", 0.1, 8.0, "log"),
        Choice("direction", "direction", ("random", "steepest")),
        Choice("layers", "layers", (2, 3)),
        Slider("seeds", "starts", 1, 6),
    ),
    studies=("linearity-width",),
    work=lambda s: Work(POINTS, s.seeds * len(WIDTHS), _weights(s.layers)),
)
def linearity(s: Settings) -> Explored:
    """Hessian norm and departure from the linear model, by width, on log axes."""
    top = [False, s.direction == "steepest"]
    norms, gaps = np.zeros((2, len(WIDTHS), s.seeds))
    places = list(np.ndindex(len(WIDTHS), s.seeds))
    with Progress("linearity", len(places), enabled=False) as bar:
        for done, (i, seed) in enumerate(places):
            bar.update(done)
            x, network = inputs(INPUTS, 1, seed, INPUTS)[0], _padded(WIDTHS[i], s.layers)
            seen = measure_linearity(network, seed, x, [0.0, s.distance], top)
            norms[i, seed] = seen.norms[1]
            gaps[i, seed] = abs(seen.values[1] - seen.linear[1])
    widths = np.array(WIDTHS, float)

    def panel(values: np.ndarray, name: str) -> Panel:
        mean = np.exp(np.log(values).mean(axis=1))
        predicted = mean[0] * (widths / widths[0]) ** -0.5
        marks: list[Mark] = [
            Points(np.repeat(widths, s.seeds), values.ravel(), "starts", "control"),
            Line(widths, mean, "geometric mean", group=0),
            Line(widths, predicted, "1 / sqrt(width)", "theory", 0),
        ]
        return Panel(tuple(marks), name, "width", name, "log", "log")

    slopes = [np.polyfit(np.log(widths), np.log(v).mean(axis=1), 1)[0] for v in (norms, gaps)]
    words = (f"Slopes over the width: Hessian norm {slopes[0]:.2f}, departure {slopes[1]:.2f}; "
             "-0.5 is predicted for the norm.",)  # fmt: skip
    chart = Chart("linearity", "Distance from linear, by width", words[0],
                  (panel(norms, "Hessian norm"),
                   panel(gaps, "distance from the linear model")))  # fmt: skip
    data = xr.Dataset(
        {"hessian_norm": (("width", "seed"), norms), "departure": (("width", "seed"), gaps)},
        {"width": list(WIDTHS)},
    )
    return Explored(data, chart, words)
