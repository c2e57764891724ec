"""A full attention head learns a low-rank teacher from starts of several sizes.

boix2023 section 1 and 5 state the increase of rank for full matrices; only the diagonal case is
proved. The singular values of both products are followed.
"""

from dataclasses import dataclass

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import LogSpaced
from dynascope.models import AttentionHead
from dynascope.probes import HeadSpectra, Loss
from dynascope.studies.study import Study
from dynascope.tasks import LowRankAttentionTeacher


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-full-head"):
    """The teacher, the scales of the start, rate and steps."""

    task: LowRankAttentionTeacher = LowRankAttentionTeacher()
    scales: tuple[float, ...] = static_field((0.5, 0.1, 1e-2, 1e-4))  # of the entries at the start
    learning_rate: float = 0.02
    steps: int = 20_000
    seeds: int = 6
    first_seed: int = 100  # the scales of the start were chosen on seeds 0 to 5


study = Study(
    "rank-full-head",
    title="Singular values of a full attention head appear one after the other",
    sources=(boix2023("sections 1, 5"),),
    settings=Settings,
    scales={"smoke": {"seeds": 3, "steps": 8000, "task.points": 60}, "laptop": {},
            "paper": {"seeds": 10, "steps": 100_000, "task.points": 1000}},
    notes=("The document proves the diagonal case alone and gives no toy problem for full "
           "matrices: the teacher's singular values are ours.",
           "The teacher's products have rank 4 (scores) and 5 (values) of 8."),
)  # fmt: skip


@study.run
def heads(s: Settings) -> Experiment:
    """Descent from every scale of the start."""
    return Experiment(
        s.task, AttentionHead(init_scale=1.0), GradientDescent(s.learning_rate),
        (Loss(), HeadSpectra()), steps=s.steps, record=LogSpaced(300, first=5.0),
        seeds=tuple(range(s.first_seed, s.first_seed + s.seeds)), dtype="float64",
        over=(("model.init_scale", s.scales),),
    )  # fmt: skip


@study.finding(heads)
def spectra(s: Settings, run: Run) -> dict[float, np.ndarray]:
    """Singular values by scale, (seeds, records, 2, d)."""
    values = run["head_spectra"].transpose("model.init_scale", "seed", "step", "product", "rank")
    return dict(zip(s.scales, values.values, strict=True))


@study.finding(spectra)
def untrained(s: Settings, spectra: dict[float, np.ndarray]) -> np.ndarray:
    """Singular values of the smallest start alone, (seeds, 1, 2, d)."""
    return spectra[s.scales[-1]][:, :1]


@study.finding(heads)
def planted(s: Settings, run: Run) -> np.ndarray:
    """Singular values that each grow alone, z' = 2 z (sigma - z), from 1e-8 and from 1e-7."""
    t = s.learning_rate * run["step"].values.astype(float)
    values = np.zeros((2, len(t), 2, s.task.size))
    for seed, start in enumerate((1e-8, 1e-7)):
        for product, given in enumerate((s.task.scores, s.task.values)):
            for k, sigma in enumerate(given):
                odds = start / (sigma - start)
                values[seed, :, product, k] = sigma / (1 + np.exp(-2 * sigma * t) / odds)
    return values


@study.finding(heads)
def times(s: Settings, run: Run) -> np.ndarray:
    """Gradient-flow times of the records."""
    return s.learning_rate * run["step"].values.astype(float)
