"""One layer: every concept is learned at its own pace, the strongest first."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Points
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import Evenly
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Slider
from dynascope.explorers.overlays import both_lines, both_paths
from dynascope.models import Linear
from dynascope.probes import InputJacobian, OutputAt
from dynascope.runtime.precision import precision
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.closed_form import flow_decay, one_layer_jacobian

POINTS, DIMENSION = 241, 2


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.one-layer"):
    """A task of two concepts, a linear model of one layer, and the start."""

    task: IdentityMapping = IdentityMapping(
        means=(1.0, 2.0), scales=(0.05, 0.2), dimension=DIMENSION
    )
    model: Linear = Linear(init_scale=0.1)
    dynamics: GradientDescent = GradientDescent(0.02)
    steps: int = 800
    seed: int = 0


@explorer(
    "one-layer",
    title="One layer: the order of learning, and where it slows down",
    about="A linear model of one layer on the same task. Each concept k is learned at the rate "
    "a_k = sigma_k^2 + mu_k^2 / K: the larger signal or spread first. Near the end what is left "
    "belongs to the slowest concept, and the path bends towards its axis. The closed form is "
    "dashed; a large learning rate leaves it.",
    phenomenon="swing-by",
    settings=Settings,
    moves=(
        Slider("task.means[0]", "signal of the first concept", 0.2, 3.0),
        Slider("task.means[1]", "signal of the second concept", 0.2, 3.0),
        Slider("task.scales[0]", "spread of the first concept", 0.0, 1.0),
        Slider("task.scales[1]", "spread of the second concept", 0.0, 1.0),
        Slider("model.init_scale", "size of the start", 0.001, 1.0, "log"),
        Slider("dynamics.learning_rate", "learning rate", 0.005, 1.5, "log"),
        Slider("steps", "steps", 50, 50_000, "log"),
        Slider("seed", "start number", 0, 99),
    ),
    studies=("sim-order", "sim-slowdown"),
    work=lambda s: Work(s.steps, size=DIMENSION**2),
    cut="steps",
)
def one_layer(s: Settings) -> Explored:
    """Output in the plane, and each concept's share over time; the closed form over it."""
    run = simulate(
        s.task, s.model, s.dynamics, steps=s.steps, record=Evenly(POINTS), seeds=[s.seed],
        probes=[OutputAt(s.task.test_point), InputJacobian()], progress=False,
    ).isel(seed=0)  # fmt: skip
    times, seen = run["time"].values, run["output_at"].values
    with precision("float64"):
        signal = np.asarray(s.task.moments()) * s.task.gradient_factor
        goal = np.asarray(s.task.test_input())
    w = one_layer_jacobian(flow_decay(signal, times), run["input_jacobian"].values[0])
    predicted = w @ goal
    shares: list[Line] = []
    for k, name in enumerate(("first concept", "second concept")):
        shares += both_lines(times, seen[:, k] / goal[k], predicted[:, k] / goal[k], name, k)
    diverged = not np.isfinite(seen[-1]).all()
    first = "first" if signal[0] > signal[1] else "second"
    words = (
        f"Rates of learning: {signal[0]:.3g} and {signal[1]:.3g}; the {first} concept leads.",
        "Descent diverges at this learning rate." if diverged
        else f"At the end {abs(seen[-1, 0] / goal[0] - 1):.2g} and "
        f"{abs(seen[-1, 1] / goal[1] - 1):.2g} of them are still to be learned.",
    )  # fmt: skip
    plane = (*both_paths(seen, predicted, "output"),
             Points([goal[0]], [goal[1]], "test point", "reference"))  # fmt: skip
    chart = Chart(
        "one-layer", "Order and slow-down", " ".join(words),
        (Panel(plane, "output at the test point", "first concept", "second concept", equal=True),
         Panel(tuple(shares), "how much of each is learned", "gradient-flow time", "share")),
    )  # fmt: skip
    theory = xr.Dataset({"theory_output": (("step", "output"), predicted)})
    return Explored(run.merge(theory), chart, words)
