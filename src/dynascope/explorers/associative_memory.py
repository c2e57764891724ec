"""A memory that learns noisy labels: where in its spectrum the noise sits."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import LogSpaced
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Choice, Slider
from dynascope.models import AssociativeMemory
from dynascope.probes import TruncatedLoss
from dynascope.tasks import NoisyLabels
from dynascope.theories.recall.associative_memory import associative_memory, pure_loss

STEPS = 4000  # of the simulation
LATEST = 1e7
TOLERANCE = 1e-4  # of the solver: a drawing shows no more


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.associative-memory"):
    """Items, how often the label is the noise, and the moment that is looked at."""

    items: int = 3
    noise: float = 0.03
    time: float = 1000.0


@explorer(
    "associative-memory",
    title="Where a memory keeps its noise",
    about="A matrix learns to map items to labels, of which a share is one and the same noise "
    "label. Its spectrum has two values: that of the signal, shared by all but one direction, and "
    "that of the noise. As long as the noise is the smallest, cutting off the last direction "
    "makes the memory forget it.",
    phenomenon="recall",
    settings=Settings,
    moves=(
        Slider("noise", "share of noisy labels", 0.005, 0.6, "log"),
        Choice("items", "items", (2, 3, 5, 10)),
        Slider("time", "time", 1.0, LATEST, "log", "steps"),
    ),
    studies=("associative-memory",),
    work=lambda s: Work(STEPS, size=s.items * (s.items + 1)),
)
def memory(s: Settings) -> Explored:
    """Both singular values over time, and the loss of the whole and of the truncated memory."""
    times = np.unique([*np.geomspace(1.0, LATEST, 120), s.time])
    found = associative_memory(s.items, s.noise, times, "mean", TOLERANCE)
    place = np.searchsorted(times, s.time)
    signal, noise = float(found.signal[place]), float(found.noise[place])
    run = simulate(
        NoisyLabels(s.items, s.noise), AssociativeMemory(s.items + 1, "orthonormal", 0.0),
        GradientDescent(1.0), steps=STEPS, record=LogSpaced(50, 1.0), dtype="float64",
        probes=[TruncatedLoss((s.items - 1, s.items))], seeds=1, progress=False,
    ).isel(seed=0)  # fmt: skip
    cut, whole = run["truncated_loss"].values[1:].T
    steps = run["step"].values[1:]
    losses = [float(pure_loss(found, keep)[place]) for keep in ("all", "signal")]
    words = (
        f"At time {s.time:.4g} the signal's singular value is {signal:.3g}, that of the noise "
        f"{noise:.3g}: it is the {'smaller' if noise < signal else 'larger'} one.",
        f"Loss on clean labels: {losses[0]:.3g}, without the noise direction {losses[1]:.3g}.",
    )
    spectrum = (Line(times, found.signal, "signal", "theory", 0),
                Line(times, found.noise, "noise", "theory", 1),
                Reference("x", s.time, "time"))  # fmt: skip
    parts = (
        Line(steps, whole, "whole, trained", group=0),
        Line(times, pure_loss(found, "all"), "whole", "theory", 0),
        Line(steps, cut, "smallest direction cut off, trained", group=1),
        Line(times, pure_loss(found, "signal"), "without the noise", "theory", 1),
        Reference("x", s.time, "time"),
    )
    chart = Chart(
        "associative-memory", "Spectrum and loss", " ".join(words),
        (Panel(spectrum, "singular values", "time", "singular value", "log"),
         Panel(parts, "loss on clean labels", "time", "loss", "log", "log")),
    )  # fmt: skip
    data = xr.Dataset(
        {"signal": ("time", found.signal), "noise": ("time", found.noise),
         "trained_loss": ("step", whole), "trained_truncated_loss": ("step", cut)},
        {"time": times, "step": steps},
    )  # fmt: skip
    return Explored(data, chart, words)
