"""One layer: every concept is learned at its own pace, the strongest first."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Slider
from dynascope.explorers.pieces.sentences import order, remainder
from dynascope.instruments.concepts.drawing import plane_panel, share_panel
from dynascope.instruments.concepts.following import followed, one_layer_flow, rates, target
from dynascope.models import Linear
from dynascope.tasks import IdentityMapping


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.one-layer"):
    """A task of two concepts, a linear model of one layer, and the start."""

    task: IdentityMapping = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.2), dimension=2)
    model: Linear = Linear(init_scale=0.1)
    dynamics: GradientDescent = GradientDescent(0.02)
    steps: int = 800
    seed: int = 0


@explorer(
    "One layer: the order of learning, and where it slows down",
    about="A linear model of one layer on the same task. Each concept k is learned at the rate "
    "a_k = sigma_k^2 + mu_k^2 / K: the larger signal or spread first. Near the end what is left "
    "belongs to the slowest concept, and the path bends towards its axis. The closed form is "
    "dashed; a large learning rate leaves it.",
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
    work=lambda s: Work(s.steps, size=s.task.dimension**2),
    cut="steps",
)
def one_layer(s: Settings) -> Explored:
    """Output in the plane, and each concept's share over time; the closed form over it."""
    run = followed(s.task, s.model, s.dynamics, s.steps, s.seed, one_layer_flow)
    goal = target(s.task)
    words = order(rates(s.task)), remainder(run["output_at"].values[-1] / goal)
    panels = plane_panel(run, goal), share_panel(run, goal)
    return Explored(run, Chart("one-layer", "Order and slow-down", " ".join(words), panels), words)
