"""The quadratic model in two numbers: monotone, catapult or divergence."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.instruments.phases import RATES, WIDTHS, descent_panels, diagram_panel, phases_of
from dynascope.theories.catapult.phases import REGIMES
from dynascope.theories.catapult.quadratic_map import QuadraticMap

STEPS = 200


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.quadratic-map"):
    """The map, its learning rate and width among its fields."""

    model: QuadraticMap = QuadraticMap(2.5, 1e4, label=1.0)


@explorer(
    "Monotone, catapult, divergence: the quadratic model's phases",
    about="A wide network's output and tangent kernel under gradient descent, cut after the "
    "second order: two numbers and one map. Below 2 / kernel the loss falls; between 2 and 4 it "
    "rises, the kernel falls, and it comes back; beyond 4 it diverges. Click a point of the "
    "diagram to see its trajectory.",
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
    model, phases = s.model, phases_of(s.model.label, s.model.output, STEPS)
    path, seen = model.trajectory(STEPS), model.outcome(STEPS)
    end = ("it diverges." if seen.regime == "diverges" else
           f"the kernel goes from {model.kernel:.3g} to {float(seen.kernel):.3g}.")  # fmt: skip
    words = (f"Predicted {model.predicted_regime()}, seen: {seen.regime}. The highest loss is "
             f"{float(seen.peak_loss):.3g} at step {int(seen.peak_step)}, {end}",)  # fmt: skip
    panels = diagram_panel(phases, model), *descent_panels(path)
    data = xr.Dataset(
        {"loss": ("step", path.loss), "kernel": ("step", path.kernel),
         "regime": (("width", "learning_rate"), phases.regime)},
        {"step": np.arange(STEPS + 1), "width": phases.y, "learning_rate": phases.x},
        {"regimes": list(REGIMES)},
    )  # fmt: skip
    chart = Chart("quadratic-map", "Phases of the quadratic model", words[0], panels)
    return Explored(data, chart, words)
