"""Every depth at its rate, three layers at a small one and at a lowered one, on several data.

chen2025 section 3.7.2, Figs. 3.6 to 3.8, Observation 4. On zeros and ones of MNIST where that
is there, else on the built-in digits for looking only; on blobs of the same size always.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.data import there
from dynascope.dynamics import GradientDescent, Piecewise
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import MLP
from dynascope.probes import EdgeOfStability, Loss
from dynascope.probes.edge import Edge
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study
from dynascope.tasks import Blobs, Task, TwoClasses

RATES = {3: 0.5, 4: 0.4, 5: 0.35}  # of Figs. 3.6, 3.7, 3.8
SMALL = 0.1  # the other rate of Fig. 3.6
STEPS, LOWERED = 60, 360  # epochs of the figures; and of the run whose rate drops after them
SETTLED = 40  # first step of the settled oscillation
NAMES = {
    "blobs": "two blobs in 79 dimensions",
    "mnist": "zeros and ones of MNIST",
    "digits": "zeros and ones of the built-in 8 x 8 digits, for looking only",
}


@dataclass(frozen=True)
class Settings(Spec, tag="studies.mnist-edge"):
    """Which networks are trained, on how many images, and how often they are looked at."""

    depths: tuple[int, ...] = (3, 4, 5)
    count: int = 2000
    seeds: int = 16
    records: int = 61  # all steps: every second one would show one phase of an oscillation
    pictures: bool = True  # MNIST, or the built-in digits for looking where it is not there

    def check(self) -> None:
        """Raise for depths without a learning rate."""
        if 3 not in self.depths or not set(self.depths) <= set(RATES):
            raise bad("depths", self.depths, "3, and 4 or 5 beside it")


study = Study(
    "mnist-edge",
    title="Deep networks at the edge: the gradient aligns, the valley need not hold",
    sources=(chen2025("Figs. 3.6, 3.7, 3.8, Obs. 4"),),
    settings=Settings,
    scales={
        "smoke": {"depths": (3,), "seeds": 12, "records": 13, "count": 400, "pictures": False},
        "laptop": {},
        "paper": {"seeds": 64},
    },
    notes=(
        "Not given: the scale of the inputs, how labels are written, the start, and which "
        "images. Ours: pixels from 0 to 1, labels 0 and 1, PyTorch's default start, the first "
        "2,000 zeros and ones, the 79 pixels that vary most. Labels -1 and 1 make three "
        "layers diverge or die at rate 0.5.",
        "Past the edge means a sharpness above 2 / rate; settled means from step 40 on. Some "
        "seeds jump to a flat place early and never come back to the edge; those that "
        "die (their output is constant) are left out of what is said of the sharpness.",
        "The condition is a measurement: derivatives hold at fixed signs of the ReLU inputs.",
        "More seeds do not decide everything, since some averages lie on their bounds. With 64 "
        "(--seeds 64), and standard errors: sharpness over 2 / rate 1.144 +- .020 on blobs and "
        "1.156 +- .018 on MNIST against 1.15; alignment of three layers .878 +- .012 "
        "(undecided) and .837 +- .018 (fails), of deeper ones .921 +- .018 on MNIST against .9 "
        "(.981 +- .006 on blobs); the condition in deeper ones .909 +- .030 and .966 +- .014 "
        "against .95.",
    ),
)


def _task(data: str, count: int) -> Task:
    """Two classes with targets 0 and 1 from 79 inputs, or from all 64 of the digits."""
    if data == "blobs":
        return Blobs(count)
    if data == "digits":
        return TwoClasses("digits", (0, 1), train=None, targets=(0.0, 1.0))
    return TwoClasses(
        "mnist", (0, 1), train=count, test=1, most_varying=79, subset_seed=None, targets=(0.0, 1.0)
    )


def _networks(data: str) -> Node:
    """The networks on one data set."""

    def networks(s: Settings) -> dict[str, Experiment]:
        """Networks of every depth, and three layers at two other schedules."""

        def experiment(depth: int, rate: float, later: float | None = None) -> Experiment:
            rates = (rate, rate if later is None else later)
            return Experiment(
                _task(data, s.count), MLP(depth, 16, "relu"),
                GradientDescent(Piecewise(rates, (0, STEPS))), (Loss(), EdgeOfStability(rates[1])),
                steps=STEPS if later is None else LOWERED, record=Evenly(s.records),
                seeds=tuple(range(s.seeds)),
            )  # fmt: skip

        depths = s.depths if data != "digits" else (3,)
        return {f"{d} layers": experiment(d, RATES[d]) for d in depths} | {
            "small rate": experiment(3, SMALL), "lowered rate": experiment(3, RATES[3], SMALL),
        }  # fmt: skip

    def left_out(s: Settings) -> str | None:
        if data != "blobs" and not s.pictures:
            return "pictures=False leaves it out"
        return "MNIST is there" if data == "digits" and there("mnist") else None

    needs = "mnist" if data == "mnist" else None
    return study.run(name=data, data=needs, only_if=left_out)(networks)


class Trace(NamedTuple):
    """One case, all seeds."""

    rate: float  # the learning rate in the end, whose edge is 2 over it
    steps: np.ndarray  # (places,)
    losses: np.ndarray  # (seeds, places)
    edge: Edge  # of arrays (seeds, places)

    @property
    def alive(self) -> np.ndarray:
        """Seeds that learned something: a constant output has a loss of 0.25, (seeds,)."""
        return self.losses[:, -1] < 0.2

    @property
    def ratio(self) -> np.ndarray:
        """Sharpness over 2 / rate, (seeds, places)."""
        return self.edge.sharpness * self.rate / 2

    def settled(self, values: np.ndarray) -> np.ndarray:
        """Mean over the settled steps of every seed, (seeds,)."""
        return values[:, self.steps >= SETTLED].mean(axis=1)

    def past(self, values: np.ndarray) -> np.ndarray:
        """Mean over settled steps past the edge, of the seeds that have such, (<= seeds,)."""
        chosen = (self.steps >= SETTLED) & (self.ratio > 1)
        return np.array([v[own].mean() for v, own in zip(values, chosen, strict=True) if own.any()])


def trace(run: Run) -> Trace:
    """The case of a run."""
    parts = np.moveaxis(run["edge_of_stability"].values.astype(float), -1, 0)
    rate = run.experiment.dynamics.learning_rate.rates[-1]
    return Trace(rate, run["step"].values, run["loss"].values, Edge(*parts))


def _traces(data: str) -> Node:
    """The traces of the networks on one data set."""
    return study.finding(networks[data], name=f"traces on {data}")(
        lambda s, runs: {case: trace(run) for case, run in runs.items()}
    )


networks = {data: _networks(data) for data in NAMES}
traces = {data: _traces(data) for data in NAMES}
