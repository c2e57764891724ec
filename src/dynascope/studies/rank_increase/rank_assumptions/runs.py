"""Noise on the weights of the toy problem: on plateaus, and as an entry is about to be learned.

boix2023 assumptions 4.3, 4.4, 4.5, Figs. 3, 10, 11, and the discussion's exponential losses.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec
from dynascope.models import DiagonalAttention, DiagonalTransformer
from dynascope.studies.rank_increase.draws import drawn
from dynascope.studies.rank_increase.rank_assumptions import noise
from dynascope.studies.rank_increase.rank_assumptions.noise import Moments, Perturbed
from dynascope.studies.rank_increase.trajectories import diagonal_linear, on_white_inputs
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import ProductProblem, Stages, incremental_stages, product_problem
from dynascope.theories.rank_increase.plateau import settle
from dynascope.theories.rank_increase.problem import Problem

TARGETS = np.array([3.0, 2.0, -1.2])
KINDS = ("free", "balanced", "escapes")  # of noise, as `noise.perturb` has them


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-assumptions"):
    """The toy problem, how many stages, at how many places noise is added, and how many draws."""

    task: AttentionTeacher = AttentionTeacher(size=12, tokens=6, points=200, teacher_scale=0.8)
    stages: int = 8
    places: int = 5
    seeds: int = 8
    first_seed: int = 100  # sizes and bounds were chosen on seed 0

    @property
    def draws(self) -> tuple[int, ...]:
        """The seeds of teacher, data, start and noise."""
        return drawn(self.first_seed, self.seeds)


study = Study(
    "rank-assumptions",
    title="Noise on plateaus dies out in the products, not in the weights",
    sources=(boix2023("assumptions 4.3 to 4.5, Figs. 3, 10, 11"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "stages": 4, "places": 2,
                  "seeds": 6},
        "laptop": {},
        "paper": {"task.size": 50, "task.tokens": 10, "task.points": 1000,
                  "task.teacher_scale": 0.5, "stages": 12},
    },
    notes=(
        "Every claim about a drawn teacher, data set, start or noise is put to several draws.",
        "Noise is added at a start of size 1e-32 to coordinates above 1e-5, with the printed "
        "deviations 0.05 and 0.01; in place of 1,000 epochs at an unknown rate the flow is "
        "followed until the next coordinate exceeds 1e-5, where noise would start its stage.",
        "Assumption 4.4 is read with L(theta^k) on its right side, which the proof uses; as "
        "printed it says nothing wherever the loss is above zero.",
    ),
)  # fmt: skip


DRAWS = ("seeds", "first_seed")
Noisy = dict[str, list[Perturbed]]  # by the kind of noise


def problem_of(s: Settings, seed: int) -> ProductProblem:
    """The toy problem."""
    return product_problem(s.task, DiagonalAttention(), seed)


def linear_problem(seed: int) -> ProductProblem:
    """A diagonal linear network on white inputs, its targets within 10 % of `TARGETS`."""
    random = np.random.default_rng(seed)
    u, v = random.normal(size=(2, len(TARGETS)))
    targets = TARGETS * random.uniform(0.9, 1.1, len(TARGETS))
    return ProductProblem(diagonal_linear, on_white_inputs(targets), u, v)


@study.compute(
    each=lambda s: s.draws,
    seconds=lambda s: 2 + s.seeds * (0.3 + 4e-6 * s.stages * s.task.points * s.task.size),
)
def stages(s: Settings, seed: int) -> Stages:
    """Algorithm 1 on the toy problem."""
    problem = problem_of(s, seed)
    return incremental_stages(problem.on, problem.size, most=s.stages, parameters=problem.data)


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 2 + 0.1 * s.seeds)
def linear_stages(s: Settings, seed: int) -> Stages:
    """Algorithm 1 on the diagonal linear network."""
    problem = linear_problem(seed)
    return incremental_stages(problem.on, problem.size, parameters=problem.data)


@study.compute(stages, each=lambda s, _: s.draws,
               seconds=lambda s: 2 + 1e-4 * s.seeds * s.task.points * s.task.size)  # fmt: skip
def moments(s: Settings, stages: dict[int, Stages], seed: int) -> list[Moments]:
    """When noise is added, and how long it is followed."""
    return noise.quiet(problem_of(s, seed), stages[seed], s.places)


@study.compute(moments, each=lambda s, _: s.draws,
               seconds=lambda s: 4 + 5e-4 * s.seeds * s.task.points * s.task.size)  # fmt: skip
def all_noisy(s: Settings, moments: dict[int, list[Moments]], seed: int) -> Noisy:
    """Figs. 3, 10, 11: noise on plateaus, free or along v = s u, and as a coordinate comes up."""
    return noise.perturb(problem_of(s, seed), moments[seed], s.places, seed)


def _by_kind(found: dict[int, Noisy]) -> dict[str, dict[int, list[Perturbed]]]:
    """By the kind of noise and by draw; without draws that have no place for noise."""
    return {kind: {seed: one[kind] for seed, one in found.items() if one[kind]} for kind in KINDS}


@study.finding(all_noisy)
def noisy(s: Settings, found: dict[int, Noisy]) -> dict[str, dict[int, list[Perturbed]]]:
    """The same, by the kind of noise and by draw."""
    return _by_kind(found)


@study.finding(noisy)
def just_after(
    s: Settings, noisy: dict[str, dict[int, list[Perturbed]]]
) -> dict[str, dict[int, list[Perturbed]]]:
    """The same at the moment of the noise, before anything could return."""
    return {
        kind: {seed: [Perturbed(p.times[:1], p.noisy[:1], p.clean[:1]) for p in one]
               for seed, one in found.items()}
        for kind, found in noisy.items()
    }  # fmt: skip


@study.compute(linear_stages, each=lambda s, _: s.draws, reads=DRAWS,
               seconds=lambda s: 4 + 0.1 * s.seeds)  # fmt: skip
def all_linear(s: Settings, stages: dict[int, Stages], seed: int) -> Noisy:
    """The same noise on a diagonal linear network."""
    problem = linear_problem(seed)
    return noise.perturb(problem, noise.quiet(problem, stages[seed], 2), 2, seed)


@study.finding(all_linear)
def linear(s: Settings, found: dict[int, Noisy]) -> dict[str, dict[int, list[Perturbed]]]:
    """The same, by the kind of noise and by draw."""
    return _by_kind(found)


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 4 + 0.2 * s.seeds)
def all_tied(s: Settings, seed: int) -> dict[str, np.ndarray]:
    """Two heads in a layer: the gap between their values' times, and c with both active."""
    task = AttentionTeacher(size=4, tokens=4, points=30, teacher_scale=1.0)
    model = DiagonalTransformer(layers=1, heads=2, feedforward_scale=0.0)
    made = product_problem(task, model, seed)
    problem = Problem(made.on, made.size, made.data)
    g = problem.pull(np.zeros(made.size))
    waits = np.sort(1 / np.abs(g[g != 0]))
    first = np.abs(g) >= np.abs(g).max() * (1 - 1e-9)
    joint = settle(problem, np.zeros(made.size), np.where(first, np.sign(g), 0.0), 1e-3)
    assert joint is not None, "squared loss has a minimum"
    return {"gaps": np.array([waits[1] / waits[0] - 1]), "strictness": np.array([joint.strictness])}


@study.finding(all_tied)
def tied(s: Settings, found: dict[int, dict[str, np.ndarray]]) -> dict[str, dict[int, np.ndarray]]:
    """The same, by what it is and by draw."""
    return {
        name: {seed: one[name] for seed, one in found.items()} for name in ("gaps", "strictness")
    }


@study.compute(reads=(), seconds=lambda s: 4)
def separable(s: Settings) -> dict[str, Stages]:
    """Two labelled points: cross-entropy has no minimum, squared error has one."""
    margins = jnp.array([1.0, 2.0])
    losses = {"cross-entropy": lambda z: jnp.mean(jnp.log1p(jnp.exp(-z * margins))),
              "exponential": lambda z: jnp.mean(jnp.exp(-z * margins)),
              "squared": lambda z: jnp.mean((1 - z * margins) ** 2)}  # fmt: skip
    return {name: incremental_stages(loss, 2) for name, loss in losses.items()}


@study.finding(stages)
def gaps(s: Settings, stages: dict[int, Stages]) -> dict[int, np.ndarray]:
    """How much later the runner-up of every stage would be, as a share of the stage's time."""
    return {seed: one.gaps / one.times for seed, one in stages.items()}


@study.finding(stages)
def strictness(s: Settings, stages: dict[int, Stages]) -> dict[int, np.ndarray]:
    """C of every plateau on which something is learned."""
    return {seed: one.strictness[1:] for seed, one in stages.items()}


@study.finding(linear_stages)
def linear_strictness(s: Settings, stages: dict[int, Stages]) -> dict[int, np.ndarray]:
    """C of the linear network's plateaus, 2 min |target|."""
    return {seed: one.strictness[1:] for seed, one in stages.items()}


@study.finding(linear_stages)
def linear_gaps(s: Settings, stages: dict[int, Stages]) -> dict[int, np.ndarray]:
    """The same for the linear network."""
    return {seed: one.gaps / one.times for seed, one in stages.items()}
