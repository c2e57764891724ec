"""Noise on the weights of the toy problem: on plateaus, and as an entry is about to be learned.

boix2023 assumptions 4.3, 4.4, 4.5, Figs. 3, 10, 11, and the discussion's exponential losses.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec
from dynascope.models import DiagonalAttention, DiagonalTransformer
from dynascope.studies.rank_increase.rank_assumptions import noise
from dynascope.studies.rank_increase.rank_assumptions.noise import Moments, Perturbed
from dynascope.studies.rank_increase.trajectories import diagonal_linear
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import ProductProblem, Stages, incremental_stages, product_problem
from dynascope.theories.rank_increase.plateau import settle
from dynascope.theories.rank_increase.problem import Problem

TARGETS = np.array([3.0, 2.0, -1.2])


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-assumptions"):
    """The toy problem, how many stages, and at how many places noise is added."""

    task: AttentionTeacher = AttentionTeacher(size=12, tokens=6, points=200, teacher_scale=0.8)
    stages: int = 8
    places: int = 5
    seed: int = 0


study = Study(
    "rank-assumptions",
    title="Noise on plateaus dies out in the products, not in the weights",
    sources=(boix2023("assumptions 4.3 to 4.5, Figs. 3, 10, 11"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "stages": 4, "places": 2},
        "laptop": {},
        "paper": {"task.size": 50, "task.tokens": 10, "task.points": 1000,
                  "task.teacher_scale": 0.5, "stages": 12},
    },
    notes=(
        "Noise is added at a start of size 1e-32 to coordinates above 1e-5, with the printed "
        "deviations 0.05 and 0.01; in place of 1,000 epochs at an unknown rate the flow is "
        "followed until the next coordinate exceeds 1e-5, where noise would start its stage.",
        "Assumption 4.4 is read with L(theta^k) on its right side, which the proof uses; as "
        "printed it says nothing wherever the loss is above zero.",
    ),
)  # fmt: skip


def problem_of(s: Settings) -> ProductProblem:
    """The toy problem."""
    return product_problem(s.task, DiagonalAttention(), s.seed)


def linear_problem(s: Settings) -> ProductProblem:
    """A diagonal linear network on white inputs."""
    u, v = np.random.default_rng(s.seed).normal(size=(2, len(TARGETS)))
    return ProductProblem(diagonal_linear(TARGETS, np.eye(len(TARGETS))), u, v)


@study.compute(seconds=lambda s: 1 + 4e-6 * s.stages * s.task.points * s.task.size)
def stages(s: Settings) -> Stages:
    """Algorithm 1 on the toy problem."""
    problem = problem_of(s)
    return incremental_stages(problem.loss, problem.size, most=s.stages)


@study.compute(reads=("seed",), seconds=lambda s: 2)
def linear_stages(s: Settings) -> Stages:
    """Algorithm 1 on the diagonal linear network."""
    problem = linear_problem(s)
    return incremental_stages(problem.loss, problem.size)


@study.compute(stages, seconds=lambda s: 2 + 1e-4 * s.task.points * s.task.size)
def moments(s: Settings, stages: Stages) -> list[Moments]:
    """When noise is added, and how long it is followed."""
    return noise.quiet(problem_of(s), stages, s.places)


@study.compute(moments, seconds=lambda s: 5 + 5e-4 * s.task.points * s.task.size)
def noisy(s: Settings, moments: list[Moments]) -> dict[str, list[Perturbed]]:
    """Figs. 3, 10, 11: noise on plateaus, free or along v = s u, and as a coordinate comes up."""
    return noise.perturb(problem_of(s), moments)


@study.finding(noisy)
def just_after(s: Settings, noisy: dict[str, list[Perturbed]]) -> dict[str, list[Perturbed]]:
    """The same at the moment of the noise, before anything could return."""
    return {
        kind: [Perturbed(p.times[:1], p.noisy[:1], p.clean[:1]) for p in found]
        for kind, found in noisy.items()
    }


@study.compute(linear_stages, reads=("seed",), seconds=lambda s: 4)
def linear(s: Settings, stages: Stages) -> dict[str, list[Perturbed]]:
    """The same noise on a diagonal linear network."""
    problem = linear_problem(s)
    return noise.perturb(problem, noise.quiet(problem, stages, 2))


@study.compute(reads=("seed",), seconds=lambda s: 5)
def tied(s: Settings) -> dict[str, np.ndarray]:
    """Two heads in a layer: the gap between their values' times, and c with both active."""
    task = AttentionTeacher(size=4, tokens=4, points=30, teacher_scale=1.0)
    model = DiagonalTransformer(layers=1, heads=2, feedforward_scale=0.0)
    made = product_problem(task, model, s.seed)
    problem = Problem(made.loss, made.size)
    g = problem.pull(np.zeros(made.size))
    waits = np.sort(1 / np.abs(g[g != 0]))
    first = np.abs(g) >= np.abs(g).max() * (1 - 1e-9)
    joint = settle(problem, np.zeros(made.size), np.where(first, np.sign(g), 0.0), 1e-3)
    assert joint is not None, "squared loss has a minimum"
    return {"gaps": np.array([waits[1] / waits[0] - 1]), "strictness": np.array([joint.strictness])}


@study.compute(reads=(), seconds=lambda s: 4)
def separable(s: Settings) -> dict[str, Stages]:
    """Two labelled points: cross-entropy has no minimum, squared error has one."""
    margins = jnp.array([1.0, 2.0])
    losses = {"cross-entropy": lambda z: jnp.mean(jnp.log1p(jnp.exp(-z * margins))),
              "exponential": lambda z: jnp.mean(jnp.exp(-z * margins)),
              "squared": lambda z: jnp.mean((1 - z * margins) ** 2)}  # fmt: skip
    return {name: incremental_stages(loss, 2) for name, loss in losses.items()}


@study.finding(stages)
def gaps(s: Settings, stages: Stages) -> np.ndarray:
    """How much later the runner-up of every stage would be, as a share of the stage's time."""
    return stages.gaps / stages.times


@study.finding(stages)
def strictness(s: Settings, stages: Stages) -> np.ndarray:
    """C of every plateau on which something is learned."""
    return stages.strictness[1:]


@study.finding(linear_stages)
def linear_strictness(s: Settings, stages: Stages) -> np.ndarray:
    """C of the linear network's plateaus, 2 min |target|."""
    return stages.strictness[1:]


@study.finding(linear_stages)
def linear_gaps(s: Settings, stages: Stages) -> np.ndarray:
    """The same for the linear network."""
    return stages.gaps / stages.times
