"""Three learning rates from one sharp start, and the sharpness of every copy.

chen2025 section 3.7.1, Fig. 3.5, Observation 3. A copy has w_i = k_i e_i and v_i = 1 / k_i; its
ratio |w_i| / v_i is k_i^2.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from scipy.sparse.linalg import eigsh

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.dynamics import GradientDescent, Piecewise
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import Neurons
from dynascope.probes import Loss, NeuronWeights, Sharpness
from dynascope.studies.study import Study
from dynascope.tasks import TeacherStudent
from dynascope.theories.oscillation.neuron_balance import copy_sharpness

NEURONS = 16
SMALL, BELOW, LARGE = "0.5", "2.3", "2.6"  # learning rates; the last drops to 0.5 at DROP
RATES = {SMALL: (0.5, 0.5), BELOW: (2.3, 2.3), LARGE: (2.6, 0.5)}
DROP, END = 100, 120
START_RATIOS = (1 + 0.0625 * np.arange(NEURONS)) ** 2
SCAN = np.linspace(1.0, 1.6, 31)  # ratios at which the sharpness of a copy is looked at


@dataclass(frozen=True)
class Settings(Spec, tag="studies.neuron-balance"):
    """How many points and seeds, and how often the descents are looked at."""

    points: int = 10_000
    seeds: int = 8
    every: int = 2  # steps between two looks; a divisor of 20

    def check(self) -> None:
        """Raise where the steps that claims read would not be recorded."""
        if self.every < 1 or (END - DROP) % self.every:
            raise bad("every", self.every, f"a divisor of {END - DROP}")


study = Study(
    "neuron-balance",
    title="Past the edge of stability sixteen neurons find their flattest copy",
    sources=(chen2025("Fig. 3.5, Obs. 3"),),
    settings=Settings,
    scales={"smoke": {"seeds": 3, "every": 20}, "laptop": {}, "paper": {"seeds": 32, "every": 1}},
    notes=(
        "In (3.15) the sum runs over all points, not over 16.",
        "The flattest copy of the population has a closed form: k^2 = 1.2023, edge of "
        "stability at the learning rate 2.496; the printed 1.21 is that of the points drawn.",
        "On the orbit the ratios lie above and below the flattest one in turn, so their common "
        "value is read after the rate was lowered.",
    ),
)  # fmt: skip


@study.run
def rates(s: Settings) -> Experiment:
    """The same start at three learning rates, the largest one lowered in the end."""
    start = [(1 / k, *(k * row)) for k, row in zip(START_RATIOS**0.5, np.eye(NEURONS))]
    rates = tuple(RATES.values())
    return Experiment(
        TeacherStudent(NEURONS, NEURONS, s.points), Neurons(start=tuple(start), noise=0.01),
        GradientDescent(Piecewise(rates=rates[0], starts=(0, DROP))),
        (Loss(), Sharpness(), NeuronWeights()), steps=END, record=Every(s.every),
        seeds=tuple(range(s.seeds)), over=(("dynamics.learning_rate.rates", rates),),
    )  # fmt: skip


class Descent(NamedTuple):
    """Descents at one learning rate; arrays (seeds, places, ...)."""

    steps: np.ndarray  # (places,)
    losses: np.ndarray
    sharpness: np.ndarray
    ratios: np.ndarray  # (seeds, places, neurons)

    def at(self, quantity: str, step: int) -> np.ndarray:
        """A quantity at a step, (seeds, ...)."""
        return getattr(self, quantity)[:, np.flatnonzero(self.steps == step)[0]]


@study.finding(rates)
def descents(s: Settings, run: Run) -> dict[str, Descent]:
    """The descents by learning rate, with ratios from weights."""
    seen = run.dataset.transpose("dynamics.learning_rate.rates", "seed", "step", ...)
    weights = seen["neuron_weights"].values
    ratios = np.linalg.norm(weights[..., 1:], axis=-1) / weights[..., 0]
    parts = zip(seen["loss"].values, seen["sharpness"].values, ratios, strict=True)
    return {r: Descent(seen["step"].values, *p) for r, p in zip(RATES, parts, strict=True)}


def copy_sharpness_on(x: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Sharpness of w_i = k e_i, v_i = 1 / k on given points, over ratios k^2.

    The top eigenvalue of the whole Hessian 2 J^T J / m, with no use of symmetry; for points
    (m, d) and ratios (n,) an array (n,).
    """
    m, d = x.shape
    gates = (x > 0).astype(float)
    # Rows of J: k relu(x_i), then x_j [x_i > 0] / k. Their moments do not depend on k.
    slopes = np.concatenate([gates * x, (gates[:, :, None] * x[:, None]).reshape(m, -1)], axis=1)
    moments = 2 / m * slopes.T @ slopes
    scales = np.sqrt([np.repeat([r, 1 / r], [d, d * d]) for r in ratios])
    first = np.ones(len(moments))  # ARPACK's own start is random
    return np.array([
        eigsh(moments * s[:, None] * s, 1, v0=first, return_eigenvectors=False)[0] for s in scales
    ])


@study.compute(
    each=lambda s: (NEURONS, 2), reads=("points", "seeds"),
    seconds=lambda s: s.seeds * (0.3 + 7e-5 * s.points),
)  # fmt: skip
def copies(s: Settings, neurons: int) -> np.ndarray:
    """Sharpness of copies of every ratio of SCAN on the points of each seed, (seeds, ratios)."""
    draw = jax.jit(TeacherStudent(neurons, neurons, s.points).samples)
    drawn = (np.asarray(draw(key_for(seed, "data"))[0], float) for seed in range(s.seeds))
    return np.array([copy_sharpness_on(x, SCAN) for x in drawn])


@study.compute(reads=("points",), seconds=lambda s: 6 * (0.3 + 1.4e-4 * s.points))
def more_copies(s: Settings) -> np.ndarray:
    """The same of sixteen neurons on six other sets of twice as many points."""
    draw = jax.jit(TeacherStudent(NEURONS, NEURONS, 2 * s.points).samples)
    drawn = (np.asarray(draw(key_for(seed, "data"))[0], float) for seed in range(1000, 1006))
    return np.array([copy_sharpness_on(x, SCAN) for x in drawn])


@study.compute(each=lambda s: (NEURONS, 12), reads=(), seconds=lambda s: 0.1)
def formula(s: Settings, neurons: int) -> np.ndarray:
    """The population's sharpness over SCAN for so many neurons."""
    return copy_sharpness(SCAN, neurons)


@study.compute(each=lambda s: ("kept", "equal"), reads=("seeds",), seconds=lambda s: 0.1)
def planted(s: Settings, kind: str) -> Descent:
    """Descents that keep all ratios within a few percent, or come to one ratio and converge."""
    steps = np.array([0, DROP, END])
    random = np.random.default_rng(1)
    first = START_RATIOS if kind == "kept" else np.full(NEURONS, 1.21)
    ratios = first * (1 + 0.01 * random.uniform(-1, 1, size=(s.seeds, 3, NEURONS)))
    flat = 1 + 0.01 * random.uniform(-1, 1, size=(2, s.seeds, 3))
    return Descent(steps, 1e-5 * flat[0], (1.05 if kind == "kept" else 0.8) * flat[1], ratios)
