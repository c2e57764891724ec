"""A small network past its critical learning rate: the loss jumps and comes back."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.explorers.pieces.digits import kernel_panel, loss_panel, train_at
from dynascope.explorers.pieces.sentences import jump

STEPS, RISE = 40, 0.01  # a rise by this share of the highest loss is a catapult


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.catapult"):
    """The learning rate over the critical one, the network's width, and its start."""

    factor: float = 1.6
    width: int = 64
    seed: int = 0


@explorer(
    "Catapult of a small network",
    about="A network of three layers learns to tell two digits apart by gradient descent. The "
    "critical learning rate is that of its tangent kernel at first. Below it the loss falls; past "
    "it the loss jumps while the kernel falls, and comes back with a flatter kernel; far past it "
    "training diverges.",
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
    run = train_at(s.factor, s.width, s.seed, STEPS)
    words = jump(run["loss"].values, run["tangent_kernel_norm"].values, RISE)
    caption = f"Critical learning rate {run.attrs['critical_rate']:.3g}. {words}"
    panels = loss_panel(run), kernel_panel(run, s.factor)
    return Explored(run, Chart("catapult", "Loss and kernel", caption, panels), (words,))
