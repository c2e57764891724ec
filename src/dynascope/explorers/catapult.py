"""A small network past its critical learning rate: the loss jumps and comes back."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import Every
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.models import MLP
from dynascope.probes import Loss, TangentKernelNorm
from dynascope.report.headline import largest_rise
from dynascope.runtime.progress import Progress
from dynascope.studies.catapult.panels import DIGITS, critical_rate, two
from dynascope.studies.catapult.panels import Panel as Network

STEPS, RISE = 40, 0.01  # a rise by this share of the highest loss is a catapult


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.catapult"):
    """The learning rate over the critical one, the network's width, and its start."""

    factor: float = 1.6
    width: int = 64
    seed: int = 0


@lru_cache(maxsize=64)
def _network(width: int, seed: int) -> tuple[Network, float]:
    """What is trained, and its critical rate before training."""
    network = Network(two(DIGITS, 32), MLP(3, width, parameterization="ntk"), 1.0)
    return network, critical_rate(network, seed)


@explorer(
    "catapult",
    title="Catapult of a small network",
    about="A network of three layers learns to tell two digits apart by gradient descent. The "
    "critical learning rate is that of its tangent kernel at first. Below it the loss falls; past "
    "it the loss jumps while the kernel falls, and comes back with a flatter kernel; far past it "
    "training diverges.",
    phenomenon="catapult",
    settings=Settings,
    moves=(
        Slider("factor", "learning rate over the critical one", 0.2, 4.0),
        Choice("width", "width", (64, 128)),
        Slider("seed", "start number", 0, 19),
    ),
    studies=("catapult-gd",),
    work=lambda s: Work(STEPS, size=(64 + s.width + 1) * s.width),
)
def catapult(s: Settings) -> Explored:
    """Loss and largest eigenvalue of the kernel by step."""
    with Progress("catapult", 2, enabled=False) as bar:
        network, critical = _network(s.width, s.seed)
        bar.update(1)
    rate = s.factor * critical
    run = simulate(
        network.task, network.model, GradientDescent(rate), steps=STEPS, record=Every(1),
        seeds=[s.seed], probes=[Loss(), TangentKernelNorm()], progress=False,
    ).isel(seed=0)  # fmt: skip
    steps, loss = run["step"].values, run["loss"].values
    kernel = run["tangent_kernel_norm"].values
    if bool(run["diverged"]):
        words = ("It diverges.",)
    elif (found := largest_rise(loss)) and loss[found[1]] - loss[found[0]] > RISE * loss.max():
        low, high = (f"{loss[i]:.3g} at step {steps[i]}" for i in found)
        words = (f"A catapult: the loss rises from {low} to {high} and ends at {loss[-1]:.3g}; the "
                 f"kernel ends at {kernel[-1] / kernel[0]:.2f} of its size.",)  # fmt: skip
    else:
        words = (f"The loss falls from {loss[0]:.3g} to {loss[-1]:.3g}; the kernel ends at "
                 f"{kernel[-1] / kernel[0]:.2f} of its size.",)  # fmt: skip
    limit = kernel[0] / s.factor  # the size at which this rate is the critical one
    chart = Chart(
        "catapult", "Loss and kernel", f"Critical learning rate {critical:.3g}. {words[0]}",
        (Panel((Line(steps, np.where(loss > 0, loss, np.nan), "loss", group=0),), "loss", "step",
               "loss", y_scale="log"),
         Panel((Line(steps, kernel, "largest eigenvalue", group=1),
                Reference("y", float(limit), "stable below")), "tangent kernel", "step",
               "largest eigenvalue")),
    )  # fmt: skip
    return Explored(run.assign_attrs(critical_rate=critical), chart, words)
