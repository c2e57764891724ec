"""Two factors of one number: past the edge of stability they become equal."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Path, Points
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.theories.oscillation.balance import factor_step
from dynascope.theories.oscillation.quartic import orbit_points

STEPS, LARGE = 300, 50.0  # beyond it a path has escaped


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.balance"):
    """Descent on (x y - 1)^2 / 2 from a start."""

    learning_rate: float = 1.05
    x: float = 1.6
    y: float = 0.8


@explorer(
    "balance",
    title="Two factors that become equal",
    about="Gradient descent on (x y - 1)^2 / 2. Below a learning rate of 1 it stops where it "
    "first meets the curve x y = 1. Past 1 no flat minimum is flat enough: the factors oscillate, "
    "and |x - y| shrinks by the factor 3 - 2K over two steps. Click a start in the plane.",
    phenomenon="oscillation",
    settings=Settings,
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
    states = [(s.x, s.y)]
    while len(states) <= STEPS and max(map(abs, states[-1])) < LARGE:
        after = factor_step(*states[-1], 1.0, s.learning_rate)
        states.append((float(after[0]), float(after[1])))
    x, y = np.array(states).T
    steps, gap, k = np.arange(len(x)), np.abs(x - y), s.learning_rate
    escaped = len(x) <= STEPS
    along = np.exp(np.linspace(-1.1, 1.1, 81))
    plane: list = [Path(x[:120], y[:120], None, "descent", arrows=False, group=0),
                   Points([s.x], [s.y], "start", group=1),
                   Line(along, 1 / along, "x y = 1", "reference")]  # fmt: skip
    low, high = orbit_points(1.0, k)
    if k > 1:
        plane.append(Points([low, high], [low, high], "predicted orbit", "theory", 0))
    gaps: list = [Line(steps, np.where(gap > 1e-15, gap, np.nan), "|x - y|", group=0)]
    if 1 < k < 1.2 and not escaped:
        fitted = min(60, len(gap) - 1)
        predicted = gap[fitted] * abs(3 - 2 * k) ** ((steps - fitted) / 2)
        shown = np.where((predicted > 1e-15) & (predicted < 10), predicted, np.nan)
        gaps.append(Line(steps, shown, "factor 3 - 2K over two steps", "theory", 0))
    end = (
        f"It escapes after {len(x) - 1} steps." if escaped
        else f"After {STEPS} steps |x - y| is {gap[-1]:.3g}, x y is {x[-1] * y[-1]:.4g}."
    )  # fmt: skip
    edge = "1" if k <= 1 else f"1: orbit of period 2 at {low:.4f} and {high:.4f}"
    chart = Chart(
        "balance", "Two factors", f"K = {k:.4g}, the edge is {edge}. {end}",
        (Panel(tuple(plane), "the plane", "x", "y", equal=True),
         Panel(tuple(gaps), "how far apart", "step", "|x - y|", y_scale="log")),
    )  # fmt: skip
    data = xr.Dataset({"x": ("step", x), "y": ("step", y)}, {"step": steps})
    return Explored(data, chart, (end,))
