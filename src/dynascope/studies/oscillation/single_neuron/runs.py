"""A neuron on points, its descents in the population, and where long ones end.

chen2025 Theorem 3.5, Proposition 4, Fig. B.2, appendix B.9. K is the learning rate over the
dimension.
"""

from dataclasses import dataclass

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.models import Neurons
from dynascope.probes import Loss, NeuronWeights
from dynascope.studies.study import Study
from dynascope.tasks import TeacherStudent
from dynascope.theories.oscillation.neuron import Neuron, reduced_descent
from dynascope.theories.oscillation.quartic import orbit_points

FIGURE = 1.1  # K of Fig. B.2
START = (0.1, 0.0, 0.1)  # of Fig. B.2: v and the two parts of w
SLOW = 0.2  # a strength far below the edge, for controls
THEOREM, BEYOND, DOUBLED = (1.02, 1.05, 1.1), (1.13, 1.17, 1.2, 1.23), 1.25


@dataclass(frozen=True)
class Settings(Spec, tag="studies.single-neuron"):
    """The grid of descents on which the theorem is checked, and the points of Fig. B.2."""

    strengths: int = 20
    sizes: int = 10
    angles: int = 50
    steps: int = 400
    points: int = 1000
    seeds: int = 32
    seed: int = 0


study = Study(
    "single-neuron",
    title="A neuron turns to its teacher and then oscillates, layers balanced",
    sources=(chen2025("Thm. 3.5, Prop. 4, Fig. B.2"),),
    settings=Settings,
    scales={"smoke": {"seeds": 8}, "laptop": {}, "paper": {"strengths": 40, "seeds": 200}},
    notes=(
        "T1 of the theorem is read as its printed bound; with the measured length of the "
        "first stage the bound on the part across holds as well.",
        "The proof names both four and eight steps from the first stage to the basin, and its "
        "table of intervals does not follow from its own rules: here the descents themselves "
        "are followed, on a grid.",
        "The theorem ends at K = 1.1; the orbit attracts up to sqrt(5) - 1 = 1.2361, from "
        "obtuse angles too.",
    ),
)  # fmt: skip


@study.run
def points(s: Settings) -> Experiment:
    """Fig. B.2: the loss on points instead of the population."""
    return Experiment(
        TeacherStudent(neurons=1, dimension=2, points=s.points), Neurons(start=(START,)),
        GradientDescent(2 * FIGURE), (Loss(), NeuronWeights()),
        steps=100, seeds=tuple(range(s.seeds)), dtype="float64",
    )  # fmt: skip


@study.finding(points)
def sampled(s: Settings, run: Run) -> Neuron:
    """v, w_x and w_y on points, (seeds, steps + 1) each; w_y has a sign here."""
    return Neuron(*np.moveaxis(run["neuron_weights"].values[:, :, 0], -1, 0))


@study.finding(sampled)
def planted_residual(s: Settings, seen: Neuron) -> Neuron:
    """The same with a part across that never goes below 0.01."""
    return seen._replace(across=np.full_like(seen.across, 0.01))


@study.compute(each=lambda s: (FIGURE, SLOW), reads=(), seconds=lambda s: 0.1)
def population(s: Settings, strength: float) -> Neuron:
    """The same start without sampling, (steps + 1,) each, by K."""
    return reduced_descent(Neuron(*np.array(START)), strength, 100)


@study.compute(reads=(), seconds=lambda s: 0.1)
def planted_trace(s: Settings) -> Neuron:
    """Two steps multiply the imbalance by 0.8 and the part across by 0.1, once it has risen."""
    steps = np.arange(101.0)
    imbalance = 0.8 ** (steps / 2)
    across = np.where(steps < 3, 0.1 + 0.02 * steps, 0.2 * 0.1 ** ((steps - 3) / 2))
    return Neuron(1 + imbalance / 2, 1 - imbalance / 2, across)


def _last(state: Neuron, strength: float) -> Neuron:
    """The last 512 steps of a long descent."""
    late = Neuron(*(numbers[-1] for numbers in reduced_descent(state, strength, 3000)))
    return reduced_descent(late, strength, 512)


@study.compute(each=lambda s: (*THEOREM, *BEYOND, DOUBLED), reads=(), seconds=lambda s: 2.0)
def ends(s: Settings, strength: float) -> Neuron:
    """The last 512 steps of long descents from 20 angles, up to 0.95 pi, by K."""
    angle = np.linspace(0.0, 0.95 * np.pi, 20)
    state = Neuron(np.full(20, 0.1), 0.1 * np.cos(angle), 0.1 * np.sin(angle))
    return _last(state, strength)


@study.compute(each=lambda s: (FIGURE,), reads=(), seconds=lambda s: 0.5)
def near_orbit(s: Settings, strength: float) -> Neuron:
    """The same from starts within 1e-3 of the balanced orbit, along the teacher."""
    beside = orbit_points(1.0, strength)[0] + np.linspace(-1e-3, 1e-3, 20)
    return _last(Neuron(beside, beside, np.full(20, 1e-3)), strength)


@study.compute(reads=(), seconds=lambda s: 0.1)
def planted_cycle(s: Settings) -> Neuron:
    """Four numbers in turn, from 20 starts."""
    cycle = np.tile(np.array([0.66, 1.12, 0.76, 1.16]), 128)[:, None] * np.ones(20)
    return Neuron(cycle, cycle, np.zeros_like(cycle))
