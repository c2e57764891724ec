"""The toy problem of appendix A at six scales, and small problems with closed forms.

boix2023 Thm. 4.1, Lemma 4.2, Algorithm 1, Figs. 2, 8, 9, footnote 2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import RescaledFlow
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import DiagonalAttention, DiagonalTransformer
from dynascope.numerics.log_flow import log_flow
from dynascope.probes import Loss, Products
from dynascope.studies.rank_increase.trajectories import (
    Followed,
    Trajectory,
    diagonal_linear,
    escape,
    follow,
)
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import (
    Stages,
    diagonal_half_times,
    incremental_stages,
    product_problem,
)
from dynascope.theories.rank_increase.problem import Problem

SEPARATE = np.array([3.0, -2.0, 1.5, -1.0, 0.5])  # targets of a diagonal linear network
# 0.6 and 0.5995 are tied: the first is predicted first, and starts too small for that.
TIED = np.array([3.0, -2.0, 1.0, 0.6, 0.5995, 0.35])
RETURNING = np.array([-0.3, 1.0, 0.9])  # learned with the wrong sign first: inputs correlate
CORRELATED = np.eye(3) + 0.9 / np.sqrt(2) * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-staircase"):
    """The toy problem, the scales of its start, and how far it is followed."""

    task: AttentionTeacher = AttentionTeacher()
    alphas: tuple[float, ...] = static_field((0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-32))
    stages: int = 12
    points: int = 181
    seed: int = 0


study = Study(
    "rank-staircase",
    title="Entries of weight products are learned one after the other",
    sources=(boix2023("Thm. 4.1, Alg. 1, Figs. 2, 8, 9, app. A"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "task.teacher_scale": 0.8,
                  "stages": 5, "points": 121},
        "laptop": {},
        "paper": {"points": 721, "stages": 25},
    },
    notes=(
        "Not printed, and chosen here: the teacher's law (normal, scale 0.5), full batch, half "
        "the squared error of a sample as loss, gradient flow instead of SGD with a small rate.",
        "Algorithm 1 is run with b = 1 at the start, which its proof needs; the text has 0.",
        "Stages closer than 0.1 in rescaled time overlap at these scales; they are drawn, but "
        "not compared.",
    ),
)  # fmt: skip


@study.compute(seconds=lambda s: 1 + 2.5e-6 * s.stages * s.task.points * s.task.size)
def stages(s: Settings) -> Stages:
    """Algorithm 1 on the toy problem."""
    problem = product_problem(s.task, DiagonalAttention(), s.seed)
    return incremental_stages(problem.loss, problem.size, most=s.stages)


@study.run(stages, seconds=lambda s: 2 + 2e-8 * s.points * s.task.points * s.task.size * 10)
def scales(s: Settings, stages: Stages) -> Experiment:
    """The flow of the toy problem, to a little after its last stage."""
    return Experiment(
        s.task, DiagonalAttention(), RescaledFlow(0.5), (Loss(), Products()),
        time=float(1.03 * stages.times[-1]), record=Evenly(s.points), seeds=(s.seed,),
        dtype="float64", over=(("dynamics.alpha", s.alphas),),
    )  # fmt: skip


@study.finding(scales, stages)
def toy(s: Settings, run: Run, stages: Stages) -> Followed:
    """The toy problem's flows beside its stages."""
    times = run["time"].values
    losses, products = (run[q].isel(seed=0).values for q in ("loss", "products"))
    flows = (Trajectory(*row) for row in zip(s.alphas, [times] * len(s.alphas), losses, products,
                                             strict=True))  # fmt: skip
    return Followed(tuple(flows), stages)


@study.finding(toy)
def larger_first(s: Settings, toy: Followed) -> Followed:
    """The same flows, the smallest scale first."""
    return toy._replace(flows=toy.flows[::-1])


@study.compute(reads=("seed", "alphas"), seconds=lambda s: 3)
def separate(s: Settings) -> Followed:
    """A diagonal linear network on white inputs: T = 1 / |beta|."""
    u, v = np.random.default_rng(s.seed).normal(size=(2, len(SEPARATE)))
    loss = diagonal_linear(SEPARATE, np.eye(len(SEPARATE)))
    # At 1e-300 an entry is learned within a few 1 / 690: the records must be as close.
    return follow(loss, u, v, (*s.alphas, 1e-300), 2.6, 4001)


@study.compute(reads=(), seconds=lambda s: 3)
def tied(s: Settings) -> Followed:
    """A diagonal linear network whose half-times are 1 / |beta| at every scale, but for one.

    That is where |u + v|, or |u - v| for a negative target, is 2 sqrt(|beta|). The entry that is
    tied with another starts at a thousandth of that: whoever takes its stage or the plateau after
    it for a separate one is wrong about it.
    """
    root = np.sqrt(np.abs(TIED))
    u, v = 1.5 * root, np.sign(TIED) * 0.5 * root
    v[3] = -u[3] + 2e-3 * root[3]
    return follow(diagonal_linear(TIED, np.eye(len(TIED))), u, v, (1e-32,), 3.4, 2001)


@study.finding(separate)
def closed_times(s: Settings, separate: Followed) -> dict[str, dict[float, np.ndarray]]:
    """Half-times of the linear network's entries in closed form, by scale, in order of stages."""

    def times(seed: int) -> dict[float, np.ndarray]:
        u, v = np.random.default_rng(seed).normal(size=(2, len(SEPARATE)))
        order = separate.stages.order
        return {
            f.alpha: diagonal_half_times(SEPARATE, u, v, f.alpha)[order] for f in separate.flows
        }

    return {"own": times(s.seed), "another start": times(s.seed + 1)}


@study.finding(separate)
def escape_times(s: Settings, separate: Followed) -> dict[float, np.ndarray]:
    """Escape times of all stages, by scale."""
    return _escapes(separate)


@study.finding(separate, closed_times)
def planted_times(
    s: Settings, separate: Followed, closed: dict[str, dict[float, np.ndarray]]
) -> dict[float, np.ndarray]:
    """The same where entries go to their plateaus in a short ramp at the closed form's times."""
    stages = separate.stages
    plateaus = np.take_along_axis(stages.products[1:], stages.order[:, None], 1)[:, 0]
    flows = []
    for flow in separate.flows:
        ramps = np.clip(0.5 + (flow.times[:, None] - closed["own"][flow.alpha]) / 0.02, 0, 1)
        products = np.zeros_like(flow.products)
        products[:, stages.order] = ramps * plateaus
        flows.append(flow._replace(products=products))
    return _escapes(Followed(tuple(flows), stages))


def _escapes(followed: Followed) -> dict[float, np.ndarray]:
    stages = followed.stages
    return {
        flow.alpha: np.array([escape(flow, stages, k) for k in range(len(stages.order))])
        for flow in followed.flows
    }


@study.finding(escape_times)
def steady_times(s: Settings, escapes: dict[float, np.ndarray]) -> dict[float, np.ndarray]:
    """Escape times whose error would not fall with the scale: those at the largest one."""
    return dict.fromkeys(escapes, escapes[max(escapes)])


@study.compute(reads=("seed",), seconds=lambda s: 3)
def returning(s: Settings) -> Followed:
    """A diagonal linear network in which an entry leaves, and returns with the other sign."""
    # u^2 - v^2 of the returning entry is 1 here: at other values its return is shifted by
    # log|u^2 - v^2| / (|g| log(1 / alpha)), which at |g| = 0.06 is long.
    u, v = np.array([1.25, 1.3, 1.2]), np.array([0.75, 0.2, 0.1])
    return follow(diagonal_linear(RETURNING, CORRELATED), u, v, (1e-2, 1e-32, 1e-300), 40.0, 401)


@study.compute(reads=(), seconds=lambda s: 2)
def halved(s: Settings) -> Followed:
    """Targets half as large on the same inputs: the same stages, at twice the times."""
    loss = diagonal_linear(RETURNING / 2, CORRELATED)
    return Followed((), incremental_stages(loss, len(RETURNING)))


@study.compute(reads=("seed",), seconds=lambda s: 2)
def moved(s: Settings) -> dict[str, dict[str, np.ndarray]]:
    """u^2 - v^2 along the flow and along descent at rate 0.05, from a start of size 0.3."""
    u, v = 0.3 * np.random.default_rng(s.seed).normal(size=(2, len(SEPARATE)))
    flow = log_flow(
        diagonal_linear(SEPARATE, np.eye(len(SEPARATE))), u / 0.3, v / 0.3, [0.3],
        np.linspace(0, 3, 31),
    )  # fmt: skip
    kept = np.exp(flow.log_sum[0] + flow.log_difference[0])
    states = [np.abs(u**2 - v**2)]
    for _ in range(72):  # the same true time, 3 log(1 / 0.3) = 3.6
        g = SEPARATE - u * v
        u, v = u + 0.05 * v * g, v + 0.05 * u * g
        states.append(np.abs(u**2 - v**2))
    other = log_flow(diagonal_linear(RETURNING, CORRELATED), [1.25, 1.3, 1.2], [0.75, 0.2, 0.1],
                     [0.3], np.linspace(0, 3, 31))  # fmt: skip
    correlated = np.exp(other.log_sum[0] + other.log_difference[0])
    return {"flow": {"conserved": kept}, "correlated": {"conserved": correlated},
            "descent": {"conserved": np.array(states)}}  # fmt: skip


def _quarter(s: Settings) -> tuple[Callable, np.ndarray, np.ndarray]:
    """A linear network with targets near 1/4: log(4 |beta|) is small, the correction is all."""
    targets = np.array([0.3, 0.25, 0.2])
    u, v = np.random.default_rng(s.seed).normal(size=(2, len(targets)))
    return diagonal_linear(targets, np.eye(len(targets))), u, v


@study.compute(reads=("seed",), seconds=lambda s: 2)
def quarter(s: Settings) -> Followed:
    """Its flow from a start of size 1e-8, beside the stages of the limit."""
    return follow(*_quarter(s), (1e-8,), 8.0, 801)


@study.compute(reads=("seed",), seconds=lambda s: 2)
def quarter_corrected(s: Settings) -> Stages:
    """Its stages corrected for that start."""
    loss, u, v = _quarter(s)
    return incremental_stages(loss, len(u), alpha=1e-8, start=(u, v))


class Heads(NamedTuple):
    """Several heads in one layer, just after their first stage."""

    products: np.ndarray  # of values, (heads, d)
    expected: np.ndarray  # |u + v| or |u - v| at the start for the sign taken, (heads, d)


@study.compute(each=lambda s: (1, 2, 3), reads=("seed",), seconds=lambda s: 5)
def heads(s: Settings, number: int) -> Heads:
    """One layer of one, two or three heads without a feed-forward part, at scale 1e-32."""
    task = AttentionTeacher(size=4, tokens=4, points=30, teacher_scale=1.0)
    model = DiagonalTransformer(layers=1, heads=number, feedforward_scale=0.0)
    problem = product_problem(task, model, s.seed)
    first = 1 / np.abs(Problem(problem.loss, problem.size).pull(np.zeros(problem.size))).max()
    flow = log_flow(problem.loss, problem.u, problem.v, [1e-32], [1.05 * first])
    values = (number, 2, task.size)
    products = flow.products[0, 0].reshape(values)[:, 1]
    signs = np.sign(flow.products[0, 0])
    return Heads(products, np.abs(problem.u + signs * problem.v).reshape(values)[:, 1])


@study.compute(reads=("seed",), seconds=lambda s: 2)
def start_pull(s: Settings) -> dict[str, np.ndarray]:
    """The pull on scores and values at z = 0, and at a random z, relative to its largest entry."""
    task = AttentionTeacher(size=4, tokens=4, points=60)
    own, other = (
        Problem(product_problem(task, DiagonalAttention(), s.seed + k).loss, 8) for k in (0, 1)
    )
    pulls = {"zero": own.pull(np.zeros(8)), "another seed": other.pull(np.zeros(8)),
             "elsewhere": own.pull(np.random.default_rng(s.seed).normal(size=8))}  # fmt: skip
    return {name: g / np.abs(g).max() for name, g in pulls.items()}


@study.compute(stages, reads=("task", "stages", "seed", "alphas"),
               seconds=lambda s: 1 + 2.5e-6 * s.stages * s.task.points * s.task.size)  # fmt: skip
def corrected(s: Settings, plain: Stages) -> dict[str, Stages]:
    """Algorithm 1 with the correction for a scale of 1e-8: with its start, and with another's."""
    problem, other = (product_problem(s.task, DiagonalAttention(), s.seed + k) for k in (0, 1))
    return {
        name: incremental_stages(problem.loss, problem.size, most=s.stages, alpha=1e-8, start=start)
        for name, start in {"own": (problem.u, problem.v), "other": (other.u, other.v)}.items()
    }
