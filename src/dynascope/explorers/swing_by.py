"""Swing-by: a network heads for the right answer, turns to the strongest cluster, comes back."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Panel, Points
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import Evenly
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.explorers.overlays import both_lines, both_paths, rise
from dynascope.models import TiedLinear
from dynascope.probes import InputJacobian, OutputAt, TestLoss
from dynascope.runtime.precision import precision
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow

POINTS, DIMENSION = 241, 3


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.swing-by"):
    """A task of two concepts, a symmetric two-layer model, and the start."""

    task: IdentityMapping = IdentityMapping(
        means=(1.0, 2.0), scales=(0.05, 0.05), dimension=DIMENSION
    )
    model: TiedLinear = TiedLinear(width=3, init_scale=0.02)
    dynamics: GradientDescent = GradientDescent(0.01)
    steps: int = 1200
    seed: int = 13


@explorer(
    "swing-by",
    title="A network swings by the wrong answer",
    about="A linear network f(x) = U U^T x is trained on two concepts that it sees only alone, "
    "and tested on both together. Its output heads for the test point, turns to the stronger "
    "concept, and comes back: the test loss falls, rises and falls again. Move the signals apart, "
    "start smaller, or try other starts. Dashed is the theory, solved by another program.",
    phenomenon="swing-by",
    settings=Settings,
    moves=(
        Slider("task.means[0]", "signal of the first concept", 0.5, 3.0),
        Slider("task.means[1]", "signal of the second concept", 0.5, 3.0),
        Slider("model.init_scale", "size of the start", 0.001, 0.5, "log"),
        Choice("model.width", "width", (2, 3, 8)),
        Slider("seed", "start number", 0, 99),
        Slider("dynamics.learning_rate", "learning rate", 0.002, 0.05, "log"),
        Slider("steps", "steps", 200, 500_000, "log"),
    ),
    studies=("swing-by", "swing-by-width"),
    work=lambda s: Work(s.steps, size=DIMENSION * s.model.width),
    cut="steps",
)
def swing_by(s: Settings) -> Explored:
    """Output in the plane of the two concepts, and the test loss; theory over simulation."""
    run = simulate(
        s.task, s.model, s.dynamics, steps=s.steps, record=Evenly(POINTS), seeds=[s.seed],
        probes=[TestLoss(), OutputAt(s.task.test_point), InputJacobian()], progress=False,
    ).isel(seed=0)  # fmt: skip
    times = run["time"].values
    with precision("float64"):
        signal = np.asarray(s.task.moments()) * s.task.gradient_factor
        goal = np.asarray(s.task.test_input())
    # The flow of W = U U^T depends on U(0) through W(0) alone: any root of it will do.
    values, vectors = np.linalg.eigh(run["input_jacobian"].values[0].astype(float))
    start = vectors * np.sqrt(np.clip(values, 0, None))
    w = read_jacobian(tied_flow(start, signal, 2 * times, rtol=1e-8))
    predicted, lost = w @ goal, 0.5 * np.sum(((w - np.eye(len(goal))) @ goal) ** 2, axis=-1)
    loss = run["test_loss"].values
    plane = (
        *both_paths(run["output_at"].values, predicted, "output"),
        Points([goal[0]], [goal[1]], "test point", "reference"),
        Points([goal[0], 0], [0, goal[1]], "concepts alone", "control"),
    )
    words = (f"The test loss goes from {loss[0]:.3g} to {loss[-1]:.3g}. {rise(loss, times)}",)
    chart = Chart(
        "swing-by", "Output and test loss", words[0],
        (Panel(plane, "output at the test point", "first concept", "second concept", equal=True),
         Panel(both_lines(times, loss, lost, "test loss"), "test loss", "gradient-flow time",
               "test loss")),
    )  # fmt: skip
    theory = xr.Dataset({"theory_output": (("step", "output"), predicted),
                         "theory_test_loss": ("step", lost)})  # fmt: skip
    return Explored(run.merge(theory), chart, words)
