"""Swing-by: a network heads for the right answer, turns to the strongest cluster, comes back."""

from dataclasses import dataclass

from dynascope.core.charts import Chart, Points
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.explorers.pieces.sentences import rise
from dynascope.instruments.concepts.drawing import loss_panel, plane_panel
from dynascope.instruments.concepts.following import followed, target, two_layer_flow
from dynascope.models import TiedLinear
from dynascope.probes import TestLoss
from dynascope.tasks import IdentityMapping


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.swing-by"):
    """A task of two concepts, a symmetric two-layer model, and the start."""

    task: IdentityMapping = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
    model: TiedLinear = TiedLinear(width=3, init_scale=0.02)
    dynamics: GradientDescent = GradientDescent(0.01)
    steps: int = 1200
    seed: int = 13


@explorer(
    "A network swings by the wrong answer",
    about="A linear network f(x) = U U^T x is trained on two concepts that it sees only alone, "
    "and tested on both together. Its output heads for the test point, turns to the stronger "
    "concept, and comes back: the test loss falls, rises and falls again. Move the signals apart, "
    "start smaller, or try other starts. Dashed is the theory, solved by another program.",
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
    work=lambda s: Work(s.steps, size=s.task.dimension * s.model.width),
    cut="steps",
)
def swing_by(s: Settings) -> Explored:
    """Output in the plane of the two concepts, and the test loss; theory over simulation."""
    run = followed(s.task, s.model, s.dynamics, s.steps, s.seed, two_layer_flow, (TestLoss(),))
    loss, times, goal = run["test_loss"].values, run["time"].values, target(s.task)
    words = (f"The test loss goes from {loss[0]:.3g} to {loss[-1]:.3g}. {rise(loss, times)}",)
    alone = Points([goal[0], 0], [0, goal[1]], "concepts alone", "control")
    panels = plane_panel(run, goal, alone), loss_panel(run)
    return Explored(run, Chart("swing-by", "Output and test loss", words[0], panels), words)
