"""The quadratic model in two numbers: monotone, catapult or divergence."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Panel, Reference
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.theories.catapult.phases import REGIMES, PhaseDiagram, phase_diagram
from dynascope.theories.catapult.quadratic_map import QuadraticMap

RATES, WIDTHS, STEPS = np.linspace(0.5, 5.0, 64), np.geomspace(10, 1e6, 48), 200
SHOWN = 1e6  # losses above it are left out of the drawing


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.quadratic-map"):
    """The map, its learning rate and width among its fields."""

    model: QuadraticMap = QuadraticMap(2.5, 1e4, label=1.0)


@lru_cache(maxsize=64)
def _phases(label: float, output: float) -> PhaseDiagram:
    base = QuadraticMap(1.0, 1.0, label=label, output=output)
    return phase_diagram(base, {"learning_rate": RATES, "width": WIDTHS}, STEPS)


@explorer(
    "quadratic-map",
    title="Monotone, catapult, divergence: the quadratic model's phases",
    about="A wide network's output and tangent kernel under gradient descent, cut after the "
    "second order: two numbers and one map. Below 2 / kernel the loss falls; between 2 and 4 it "
    "rises, the kernel falls, and it comes back; beyond 4 it diverges. Click a point of the "
    "diagram to see its trajectory.",
    phenomenon="catapult",
    settings=Settings,
    moves=(
        Slider("model.learning_rate", "learning rate times kernel", 0.5, 5.0),
        Slider("model.width", "width", 10, 1e6, "log"),
        Slider("model.label", "label", 0.0, 2.0),
        Slider("model.output", "output at first", 0.05, 2.0),
        Click(0, "model.learning_rate", "model.width"),
    ),
    studies=("quadratic-map",),
    work=lambda s: Work(STEPS, len(RATES) * len(WIDTHS), 2),
)
def quadratic_map(s: Settings) -> Explored:
    """The phase diagram, and loss and kernel of the chosen point."""
    model = s.model
    phases = _phases(model.label, model.output)
    path, seen = model.trajectory(STEPS), model.outcome(STEPS)
    steps = np.arange(STEPS + 1)
    until = STEPS + 1 if path.diverged < 0 else max(int(path.diverged), 2)
    loss = np.where((path.loss > 1e-14) & (path.loss < SHOWN), path.loss, np.nan)[:until]
    regime = str(seen.regime)
    words = (
        f"Predicted {model.predicted_regime()}, seen: {regime}. "
        f"The highest loss is {float(seen.peak_loss):.3g} at step {int(seen.peak_step)}, "
        + ("it diverges." if regime == "diverges" else
           f"the kernel goes from {model.kernel:.3g} to {float(seen.kernel):.3g}."),
    )  # fmt: skip
    diagram = (
        Heat(phases.x, phases.y, phases.regime, "phase", categories=tuple(REGIMES)),
        Reference("x", model.critical_rate, "2 / kernel"),
        Reference("x", model.largest_rate, "4 / kernel"),
        Reference("x", model.learning_rate),
        Reference("y", model.width, "here"),
    )
    chart = Chart(
        "quadratic-map", "Phases of the quadratic model", words[0],
        (Panel(diagram, "what descent does", "learning rate", "width", y_scale="log"),
         Panel((Line(steps[:until], loss, "loss", group=0),), "loss", "step", "loss",
               y_scale="log"),
         Panel((Line(steps[:until], path.kernel[:until], "kernel", group=1),),
               "tangent kernel", "step", "kernel")),
    )  # fmt: skip
    data = xr.Dataset(
        {"loss": ("step", path.loss), "kernel": ("step", path.kernel),
         "regime": (("width", "learning_rate"), phases.regime)},
        {"step": steps, "width": phases.y, "learning_rate": phases.x}, {"regimes": list(REGIMES)},
    )  # fmt: skip
    return Explored(data, chart, words)
