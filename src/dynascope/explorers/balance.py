"""Two factors of one number: past the edge of stability they become equal."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.instruments.factors.descending import descend_factors
from dynascope.instruments.factors.drawing import gap_panel, plane_panel
from dynascope.theories.oscillation.quartic import orbit_points

STEPS = 300


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.balance"):
    """Descent on (x y - 1)^2 / 2 from a start."""

    learning_rate: float = 1.05
    x: float = 1.6
    y: float = 0.8


@explorer(
    "Two factors that become equal",
    about="Gradient descent on (x y - 1)^2 / 2. Below a learning rate of 1 it stops where it "
    "first meets the curve x y = 1. Past 1 no flat minimum is flat enough: the factors oscillate, "
    "and |x - y| shrinks by the factor 3 - 2K over two steps. Click a start in the plane.",
    moves=(
        Slider("learning_rate", "learning rate K", 0.2, 1.6),
        Slider("x", "start of x", 0.2, 3.0),
        Slider("y", "start of y", 0.2, 3.0),
        Click(0, "x", "y"),
    ),
    studies=("balance",),
    work=lambda s: Work(STEPS, size=2),
)
def balance(s: Settings) -> Explored:
    """The path in the plane, and |x - y| beside the predicted factor."""
    k, path = s.learning_rate, descend_factors(s.x, s.y, s.learning_rate, STEPS)
    last, took = path.isel(step=-1), int(path["step"][-1])
    end = (
        f"It escapes after {took} steps." if took < STEPS
        else f"After {STEPS} steps |x - y| is {abs(last.x - last.y):.3g}, "
        f"x y is {last.x * last.y:.4g}."
    )  # fmt: skip
    low, high = orbit_points(1.0, k)
    edge = "1" if k <= 1 else f"1: orbit of period 2 at {low:.4f} and {high:.4f}"
    panels = plane_panel(path, k), gap_panel(path, k, escaped=took < STEPS)
    chart = Chart("balance", "Two factors", f"K = {k:.4g}, the edge is {edge}. {end}", panels)
    return Explored(path, chart, (end,))
