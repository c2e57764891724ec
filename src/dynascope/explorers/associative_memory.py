"""A memory that learns noisy labels: where in its spectrum the noise sits."""

from dataclasses import dataclass

from dynascope.core.charts import Chart
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.instruments.memory.drawing import loss_panel, spectrum_panel
from dynascope.instruments.memory.learning import LATEST, learn_noisy

STEPS = 4000  # of the simulation


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.associative-memory"):
    """Items, how often the label is the noise, and the moment that is looked at."""

    items: int = 3
    noise: float = 0.03
    time: float = 1000.0


@explorer(
    "Where a memory keeps its noise",
    about="A matrix learns to map items to labels, of which a share is one and the same noise "
    "label. Its spectrum has two values: that of the signal, shared by all but one direction, and "
    "that of the noise. As long as the noise is the smallest, cutting off the last direction "
    "makes the memory forget it.",
    moves=(
        Slider("noise", "share of noisy labels", 0.005, 0.6, "log"),
        Choice("items", "items", (2, 3, 5, 10)),
        Slider("time", "time", 1.0, LATEST, "log", "steps"),
    ),
    studies=("associative-memory",),
    work=lambda s: Work(STEPS, size=s.items * (s.items + 1)),
)
def associative_memory(s: Settings) -> Explored:
    """Both singular values over time, and the loss of the whole and of the truncated memory."""
    found = learn_noisy(s.items, s.noise, s.time, STEPS)
    now = {name: float(value) for name, value in found.sel(time=s.time).isel(step=-1).items()}
    side = "smaller" if now["noise"] < now["signal"] else "larger"
    words = (
        f"At time {s.time:.4g} the signal's singular value is {now['signal']:.3g}, that of the "
        f"noise {now['noise']:.3g}: it is the {side} one.",
        f"Loss on clean labels: {now['loss']:.3g}, without the noise direction "
        f"{now['truncated_loss']:.3g}.",
    )
    panels = spectrum_panel(found, s.time), loss_panel(found, s.time)
    chart = Chart("associative-memory", "Spectrum and loss", " ".join(words), panels)
    return Explored(found, chart, words)
