"""Factorising a matrix past the edge of stability: the second singular value decides."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.explorers.pieces import escapes

SHOWN = 120  # steps at the chosen point


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.factorisation"):
    """The learning rate times the two singular values of the target, and a start."""

    first: float = 1.2
    second: float = 0.5
    seed: int = 0


@explorer(
    "Which factorisations survive past the edge",
    about="Gradient descent on ||Y Z^T - C||^2 / 2. K and b are the learning rate times the two "
    "singular values of C. Past K = 1 the first direction oscillates; whether it may is decided by "
    "the second: the dashed line is K + b = 2. Click a point of the map to see its descent.",
    moves=(
        Slider("first", "K, strength of the first direction", 0.8, 1.6),
        Slider("second", "b, strength of the second direction", 0.2, 1.0),
        Slider("seed", "start number", 0, 15),
        Click(0, "first", "second"),
    ),
    studies=("matrix-factorization",),
    work=lambda s: Work(escapes.STEPS, lanes=escapes.GRID**2, size=8),
)
def factorisation(s: Settings) -> Explored:
    """The map of escapes with the predicted line, and the largest singular values by step."""
    escaped = escapes.escape_map(s.seed)
    tops = escapes.top_singular_values(s.first, s.second, s.seed, SHOWN)
    word, reason = escapes.predicted(round(s.first, 6), round(s.second, 6))
    seen = "escapes" if len(tops) < SHOWN else f"stays bounded for {SHOWN} steps"
    words = (f"Predicted: {word} ({reason}).", f"From this start descent {seen}.")
    panels = escapes.map_panel(escaped, s.first, s.second), escapes.lengths_panel(tops)
    data = xr.Dataset(
        {"escaped": (("b", "K"), escaped), "top": (("step", "factor"), tops)},
        {"K": escapes.K, "b": escapes.B, "step": np.arange(1, len(tops) + 1), "factor": ["Y", "Z"]},
        {"predicted": word},
    )
    chart = Chart("factorisation", "Map of escapes", " ".join(words), panels)
    return Explored(data, chart, words)
