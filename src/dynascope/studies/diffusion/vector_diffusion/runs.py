"""Vectors at three corners of a rectangle; the fourth is asked for. yang2024 Fig. 5b.

The identity mapping task on the same means stands beside it, with its theory.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import AdamW, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every, LogSpaced
from dynascope.models import ConditionalMLP, Linear
from dynascope.probes import BoundParts, Generated, OutputAt
from dynascope.studies.diffusion.concept_paths import Paths, planted
from dynascope.studies.study import Study
from dynascope.tasks import IdentityMapping, VectorDiffusion
from dynascope.theories import OneLayer


@dataclass(frozen=True)
class Settings(Spec, tag="studies.vector-diffusion"):
    """The clusters, the network, its training, and what is generated when."""

    task: VectorDiffusion = VectorDiffusion((1.0, 2.0), samples_per_cluster=64)
    ratios: tuple[float, ...] = static_field((0.5, 1.0, 2.0))  # second mean over the first
    model: ConditionalMLP = ConditionalMLP((128, 128))
    rate: float = static_field(1e-3)
    batch_size: int = 32
    order: str = static_field("fresh")
    steps: int = 3000
    checkpoints: int = 28
    samples: int = 64  # generated at each
    sampling_steps: int = 50
    seeds: int = 8
    to_the_end: bool = True  # whether training is long enough to judge bend, swing and arrival

    def check(self) -> None:
        """Raise for ratios out of order."""
        if sorted(set(self.ratios)) != list(self.ratios) or len(self.ratios) < 2:
            raise bad("ratios", self.ratios, "at least two, ascending")
        if self.ratios[0] <= 0:
            raise bad("ratios", self.ratios[0], "numbers above 0", "without strength no order")
        if len(self.task.means) != 2:
            raise bad("task.means", self.task.means, "two: the concept plane has two axes")
        if self.order not in ("fresh", "shuffled"):
            raise bad("order", self.order, '"fresh" or "shuffled"')


study = Study(
    "vector-diffusion",
    title="A diffusion model on vectors learns concepts in the order of the identity task",
    sources=(yang2024("Fig. 5, section 3.2"), yang2025("section 5")),
    settings=Settings,
    scales={
        "smoke": {"steps": 400, "seeds": 6, "checkpoints": 12, "samples": 16,
                  "sampling_steps": 16, "model.hidden": (48,), "ratios": (0.5, 2.0),
                  "to_the_end": False},
        "laptop": {"seeds": 24},
        "paper": {"task.samples_per_cluster": 1024, "model.hidden": (1024,), "order": "shuffled",
                  "steps": 600_000, "checkpoints": 60, "samples": 256, "sampling_steps": 100},
    },
    notes=lambda s: (
        "The figure's means are not given; the first mean is 1, the second is swept.",
        "Conditions are the vectors themselves, as in the authors' program, whose network has one "
        "hidden layer of 1024; ours is smaller at laptop scale.",
        "A coordinate is the mean over generated samples, over its target.",
        "The identity task has the same three clusters and one linear layer from zero under "
        "gradient descent; Adam is no gradient flow, so that only order is compared, not time.",
    ),
)  # fmt: skip


def _means(s: Settings) -> tuple[tuple[float, float], ...]:
    return tuple((s.task.means[0], s.task.means[0] * ratio) for ratio in s.ratios)


def _experiment(s: Settings, shuffled: float, means: tuple[tuple[float, float], ...]) -> Experiment:
    rule = AdamW(s.rate, 0.01, s.batch_size, s.order)  # type: ignore[arg-type]
    return Experiment(
        replace(s.task, shuffled=shuffled), s.model, rule,
        (Generated(s.samples, s.sampling_steps), BoundParts()), steps=s.steps,
        record=LogSpaced(s.checkpoints, first=5), seeds=tuple(range(s.seeds)),
        over=(("task.means", means),),
    )  # fmt: skip


@study.run
def trained(s: Settings) -> Experiment:
    """The same network on clusters of several means."""
    return _experiment(s, 0.0, _means(s))


@study.run
def shuffled(s: Settings) -> Experiment:
    """The last means, each vector with the condition of another."""
    return _experiment(s, 1.0, _means(s)[-1:])


@study.run
def identity(s: Settings) -> dict[float, Experiment]:
    """One linear layer from zero learns the identity on the same clusters."""
    return {
        ratio: Experiment(
            IdentityMapping(means, (s.task.spread,) * 2, origin=True), Linear(0.0),
            GradientDescent(0.01), (OutputAt(),), steps=3000, record=Every(10), dtype="float64",
        ) for ratio, means in zip(s.ratios, _means(s), strict=True)
    }  # fmt: skip


@study.finding(identity)
def theory(s: Settings, identity: dict[float, Run]) -> dict[float, np.ndarray]:
    """The identity task's path by its closed form, as coordinates, (time, 2)."""
    found = {}
    for (ratio, run), means in zip(identity.items(), _means(s), strict=True):
        predicted = OneLayer().predict(run)["output_at"].values[0]
        found[ratio] = predicted / np.asarray(means)
    return found


class Generations(NamedTuple):
    """Generated vectors over their target, and the paths of their means."""

    samples: np.ndarray  # (seed, step, sample, 2)
    paths: Paths


def generations_of(generated: xr.DataArray, means: tuple[float, float]) -> Generations:
    """What was generated from the first trained network on; all vectors are readable."""
    samples = generated.values[:, 1:, :, :2] / np.asarray(means)
    concepts = samples.mean(2)
    steps = generated["step"].values[1:].astype(float)
    return Generations(samples, Paths(steps, concepts, np.ones(concepts.shape[:2])))


@study.finding(trained)
def generations(s: Settings, trained: Run) -> dict[float, Generations]:
    """What was generated, by ratio of the means."""
    return {
        ratio: generations_of(trained["generated"].isel({"task.means": i}), means)
        for i, (ratio, means) in enumerate(zip(s.ratios, _means(s), strict=True))
    }


@study.finding(generations)
def ends(s: Settings, generations: dict[float, Generations]) -> dict[str, Paths]:
    """Paths at the smallest and at the largest ratio, as (second, first) concept."""
    found = {"small": generations[s.ratios[0]].paths, "large": generations[s.ratios[-1]].paths}
    return {name: p._replace(concepts=p.concepts[..., ::-1]) for name, p in found.items()}


@study.finding(generations)
def stronger_first(s: Settings, generations: dict[float, Generations]) -> dict[str, Paths]:
    """The same with the stronger concept as the first coordinate."""
    small, large = generations[s.ratios[0]].paths, generations[s.ratios[-1]].paths
    return {
        "small": small if s.ratios[0] < 1 else small._replace(concepts=small.concepts[..., ::-1]),
        "large": large._replace(concepts=large.concepts[..., ::-1]),
    }


@study.finding(
    stronger_first,
    only_if=lambda s: None if s.to_the_end else "to_the_end=False: these runs stop early",
)
def to_the_end(s: Settings, stronger_first: dict[str, Paths]) -> Paths:
    """Paths at the largest ratio, where training is long enough."""
    return stronger_first["large"]


@study.finding(shuffled)
def without_meaning(s: Settings, shuffled: Run) -> Paths:
    """Paths of networks that were trained on shuffled conditions."""
    return generations_of(shuffled["generated"].isel({"task.means": 0}), _means(s)[-1]).paths


@study.finding
def written(s: Settings) -> dict[str, Paths]:
    """Paths that are written down, read from the samples that a run would have generated."""
    paths = {
        "first leads": planted((0.25, 0.6)),
        "second leads": planted((0.6, 0.25)),
        "together": planted((0.3, 0.3)),
        "never": planted((9.0, 9.0)),
        "swing": planted((0.3, 0.35), dip=0.8),
    }
    means = _means(s)[-1]
    return {name: generations_of(_samples(p, means), means).paths for name, p in paths.items()}


def _samples(paths: Paths, means: tuple[float, float]) -> xr.DataArray:
    """Samples whose mean follows the paths, after those of an untrained network."""
    after = paths.concepts[:, :, None, :] * np.asarray(means)
    whole = np.concatenate([np.zeros_like(after[:, :1]), after], 1)
    coordinates = {"step": np.concatenate([[0.0], paths.steps])}
    return xr.DataArray(whole, coordinates, ("seed", "step", "sample", "coordinate"))
