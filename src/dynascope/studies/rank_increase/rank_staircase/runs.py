"""The toy problem of appendix A at six scales, and small problems with closed forms.

boix2023 Thm. 4.1, Lemma 4.2, Algorithm 1, Figs. 2, 8, 9, footnote 2.
"""

from dataclasses import dataclass
from itertools import product
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
from dynascope.studies.rank_increase.draws import drawn
from dynascope.studies.rank_increase.trajectories import (
    Followed,
    Start,
    Trajectory,
    diagonal_linear,
    first_passage,
    follow,
    on_white_inputs,
    pulls,
)
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import (
    ProductProblem,
    Stages,
    diagonal_half_times,
    incremental_stages,
    product_problem,
)

SEPARATE = np.array([3.0, -2.0, 1.5, -1.0, 0.5])  # targets of a diagonal linear network
# 0.6 and 0.5995 are tied: the first is predicted first, and starts too small for that.
TIED = np.array([3.0, -2.0, 1.0, 0.6, 0.5995, 0.35])
TINY = 1e-300
FACTORS = (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15)  # on these, for eight such networks
RETURNING = np.array([-0.3, 1.0, 0.9])  # learned with the wrong sign first: inputs correlate
CORRELATED = np.eye(3) + 0.9 / np.sqrt(2) * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
BACK = np.array([1.25, 1.3, 1.2]), np.array([0.75, 0.2, 0.1])  # a start of that network


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-staircase"):
    """The toy problem, the scales of its start, how far it is followed, and on how many draws."""

    task: AttentionTeacher = AttentionTeacher()
    alphas: tuple[float, ...] = static_field((0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-32))
    stages: int = 12
    points: int = 181
    seeds: int = 8
    first_seed: int = 100  # sizes and bounds were chosen on seeds 0 and 1

    @property
    def draws(self) -> tuple[int, ...]:
        """The seeds of teacher, data and start."""
        return drawn(self.first_seed, self.seeds)


study = Study(
    "rank-staircase",
    title="Entries of weight products are learned one after the other",
    sources=(boix2023("Thm. 4.1, Alg. 1, Figs. 2, 8, 9, app. A"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "task.teacher_scale": 0.8,
                  "stages": 5, "points": 121, "seeds": 6},
        "laptop": {},
        "paper": {"points": 721, "stages": 25},
    },
    notes=(
        "Every claim about a drawn teacher, data set or start is put to several draws of them.",
        "Not printed, and chosen here: the teacher's law (normal, scale 0.5), full batch, half "
        "the squared error of a sample as loss, gradient flow instead of SGD with a small rate.",
        "Algorithm 1 is run with b = 1 at the start, which its proof needs; the text has 0.",
        "Stages closer than 0.1 in rescaled time overlap at these scales; they are drawn, but "
        "not compared.",
    ),
)  # fmt: skip


DRAWS = ("seeds", "first_seed")


def random_start(seed: int, size: int) -> Start:
    """U and v of a diagonal linear network."""
    u, v = np.random.default_rng(seed).normal(size=(2, size))
    return u, v


def _stage_seconds(s: Settings) -> float:
    return 2 + s.seeds * (0.3 + 2.5e-6 * s.stages * s.task.points * s.task.size)


def _toy_problem(s: Settings, seed: int) -> ProductProblem:
    return product_problem(s.task, DiagonalAttention(), seed)


@study.compute(each=lambda s: s.draws, seconds=_stage_seconds)
def stages(s: Settings, seed: int) -> Stages:
    """Algorithm 1 on the toy problem."""
    problem = _toy_problem(s, seed)
    return incremental_stages(problem.on, problem.size, most=s.stages, parameters=problem.data)


def _experiments(
    s: Settings, stages: dict[int, Stages], alphas: tuple[float, ...]
) -> dict[str, Experiment]:
    return {
        f"seed {seed}": Experiment(
            s.task, DiagonalAttention(), RescaledFlow(0.5), (Loss(), Products()),
            time=float(1.08 * found.times[-1]), record=Evenly(s.points), seeds=(seed,),
            dtype="float64", over=(("dynamics.alpha", alphas),),
        )
        for seed, found in stages.items()
    }  # fmt: skip


def _followed(
    runs: dict[str, Run], stages: dict[int, Stages], alphas: tuple[float, ...]
) -> dict[int, Followed]:
    found = {}
    for (seed, predicted), run in zip(stages.items(), runs.values(), strict=True):
        losses, products = (run[q].isel(seed=0).values for q in ("loss", "products"))
        flows = (Trajectory(a, run["time"].values, x, z)
                 for a, x, z in zip(alphas, losses, products, strict=True))  # fmt: skip
        found[seed] = Followed(tuple(flows), predicted)
    return found


@study.run(
    stages, seconds=lambda s: 2 + s.seeds * (0.3 + 2e-7 * s.points * s.task.points * s.task.size)
)
def scales(s: Settings, stages: dict[int, Stages]) -> dict[str, Experiment]:
    """The flow of every draw of the toy problem, to a little after its last stage."""
    return _experiments(s, stages, s.alphas)


@study.finding(scales, stages)
def toy(s: Settings, runs: dict[str, Run], stages: dict[int, Stages]) -> dict[int, Followed]:
    """The toy problem's flows beside its stages, by draw."""
    return _followed(runs, stages, s.alphas)


# Lanes of one program wait for the slowest: the smallest start has a program of its own.
@study.run(
    stages, seconds=lambda s: 2 + s.seeds * (0.3 + 4e-8 * s.points * s.task.points * s.task.size)
)
def tiny(s: Settings, stages: dict[int, Stages]) -> dict[str, Experiment]:
    """The same from a start of size 1e-300."""
    return _experiments(s, stages, (TINY,))


@study.finding(tiny, stages)
def limit(s: Settings, runs: dict[str, Run], stages: dict[int, Stages]) -> dict[int, Followed]:
    """Those flows beside the stages, by draw."""
    return _followed(runs, stages, (TINY,))


@study.finding(toy)
def larger_first(s: Settings, toy: dict[int, Followed]) -> dict[int, Followed]:
    """The same flows, the smallest scale first."""
    return {seed: one._replace(flows=one.flows[::-1]) for seed, one in toy.items()}


@study.compute(each=lambda s: s.draws, reads=(*DRAWS, "alphas"), seconds=lambda s: 3 + s.seeds)
def separate(s: Settings, seed: int) -> Followed:
    """A diagonal linear network on white inputs from a random start: T = 1 / |beta|."""
    # At 1e-300 an entry is learned within a few 1 / 690: the records must be as close. From 0.1
    # an entry that starts small is learned late.
    times = np.concatenate([np.linspace(0, 2.6, 4001), np.linspace(2.6, 12.0, 401)[1:]])
    start, alphas = random_start(seed, len(SEPARATE)), (*s.alphas, TINY)
    return follow(diagonal_linear, on_white_inputs(SEPARATE), start, alphas, times)


@study.compute(each=lambda s: FACTORS, reads=(), seconds=lambda s: 4)
def tied(s: Settings, factor: float) -> Followed:
    """A diagonal linear network whose half-times are 1 / |beta| at every scale, but for one.

    That is where |u + v|, or |u - v| for a negative target, is 2 sqrt(|beta|). The entry that is
    tied with another starts at a thousandth of that: whoever takes its stage or the plateau after
    it for a separate one is wrong about it.
    """
    target = factor * TIED
    root = np.sqrt(np.abs(target))
    u, v = 1.5 * root, np.sign(target) * 0.5 * root
    v[3] = -u[3] + 2e-3 * root[3]
    times = np.linspace(0, 3.4 / factor, 2001)
    return follow(diagonal_linear, on_white_inputs(target), (u, v), (1e-32,), times)


Times = dict[int, dict[float, np.ndarray]]  # of all stages, by draw and scale


@study.finding(separate)
def closed_times(s: Settings, separate: dict[int, Followed]) -> dict[str, Times]:
    """Half-times of the linear network's entries in closed form, by scale, in order of stages."""

    def times(seed: int, followed: Followed) -> dict[float, np.ndarray]:
        start, order = random_start(seed, len(SEPARATE)), followed.stages.order
        return {
            f.alpha: diagonal_half_times(SEPARATE, *start, f.alpha)[order] for f in followed.flows
        }

    return {
        "own": {seed: times(seed, one) for seed, one in separate.items()},
        "another start": {seed: times(seed + 1, one) for seed, one in separate.items()},
    }


@study.finding(separate)
def escape_times(s: Settings, separate: dict[int, Followed]) -> Times:
    """Escape times of all stages."""
    return {seed: _escapes(one) for seed, one in separate.items()}


@study.finding(separate, closed_times)
def planted_times(s: Settings, separate: dict[int, Followed], closed: dict[str, Times]) -> Times:
    """The same where entries go to their plateaus in a short ramp at the closed form's times."""
    return {seed: _escapes(_ramps(one, closed["own"][seed])) for seed, one in separate.items()}


def _ramps(followed: Followed, times: dict[float, np.ndarray]) -> Followed:
    stages = followed.stages
    plateaus = np.take_along_axis(stages.products[1:], stages.order[:, None], 1)[:, 0]
    flows = []
    for flow in followed.flows:
        ramps = np.clip(0.5 + (flow.times[:, None] - times[flow.alpha]) / 0.02, 0, 1)
        products = np.zeros_like(flow.products)
        products[:, stages.order] = ramps * plateaus
        flows.append(flow._replace(products=products))
    return Followed(tuple(flows), stages)


def _escapes(followed: Followed) -> dict[float, np.ndarray]:
    """When each entry is half of its target: on white inputs entries know nothing of each other."""
    order = followed.stages.order
    return {
        flow.alpha: np.array([first_passage(flow, i, SEPARATE[i] / 2) for i in order])
        for flow in followed.flows
    }


@study.finding(escape_times)
def steady_times(s: Settings, escapes: Times) -> Times:
    """Escape times whose error would not fall with the scale: those at the largest below 1e-3."""
    return {seed: dict.fromkeys(one, one[max(a for a in one if a < 1e-3)])
            for seed, one in escapes.items()}  # fmt: skip


@study.compute(reads=(), seconds=lambda s: 3)
def returning(s: Settings) -> Followed:
    """A diagonal linear network in which an entry leaves, and returns with the other sign."""
    # u^2 - v^2 of the returning entry is 1 here: at other values its return is shifted by
    # log|u^2 - v^2| / (|g| log(1 / alpha)), which at |g| = 0.06 is long.
    alphas, times = (1e-2, 1e-32, TINY), np.linspace(0, 40, 401)
    return follow(diagonal_linear, (RETURNING, CORRELATED), BACK, alphas, times)


@study.compute(reads=(), seconds=lambda s: 2)
def others(s: Settings) -> dict[str, Followed]:
    """Stages on the same inputs with targets half as large, at twice the times; on white inputs."""
    problems = {"halved": (RETURNING / 2, CORRELATED), "white": on_white_inputs(SEPARATE)}
    return {
        name: Followed((), incremental_stages(diagonal_linear, len(given[0]), parameters=given))
        for name, given in problems.items()
    }


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 3 + 0.2 * s.seeds)
def moved(s: Settings, seed: int) -> dict[str, np.ndarray]:
    """u^2 - v^2 along the flow and along descent at rate 0.05, from a start of size 0.3."""
    states = []
    u, v = (0.3 * x for x in random_start(seed, len(SEPARATE)))
    for _ in range(73):  # the same true time, 3 log(1 / 0.3) = 3.6
        states.append(np.abs(u**2 - v**2))
        g = SEPARATE - u * v
        u, v = u + 0.05 * v * g, v + 0.05 * u * g
    correlated = np.eye(len(SEPARATE)) + 0.4 * np.eye(len(SEPARATE), k=1)
    return {"flow": _conserved(on_white_inputs(SEPARATE), seed),
            "correlated": _conserved((SEPARATE, (correlated + correlated.T) / 2), seed),
            "descent": np.array(states)}  # fmt: skip


def _conserved(parameters: tuple[np.ndarray, np.ndarray], seed: int) -> np.ndarray:
    """|u^2 - v^2| along the flow of a diagonal linear network."""
    start = random_start(seed, len(parameters[0]))
    times = np.linspace(0, 3, 31)
    flow = log_flow(diagonal_linear, *start, [0.3], times, parameters=parameters)
    return np.exp(flow.log_sum[0] + flow.log_difference[0])


QUARTER = np.array([0.3, 0.25, 0.2])  # near 1/4: log(4 |beta|) is small, the correction is all


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 2 + 0.2 * s.seeds)
def quarter(s: Settings, seed: int) -> Followed:
    """The flow of a linear network with those targets from a start of size 1e-8 and others."""
    start = random_start(seed, len(QUARTER))
    alphas, times = (1e-4, 1e-8, 1e-16), np.linspace(0, 8, 401)  # as many as `returning` has
    return follow(diagonal_linear, on_white_inputs(QUARTER), start, alphas, times)


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 2 + 0.1 * s.seeds)
def quarter_corrected(s: Settings, seed: int) -> Stages:
    """Its stages corrected for that start."""
    u, v = random_start(seed, len(QUARTER))
    return incremental_stages(diagonal_linear, len(u), alpha=1e-8, start=(u, v),
                              parameters=on_white_inputs(QUARTER))  # fmt: skip


class Heads(NamedTuple):
    """Several heads in one layer, just after their first stage."""

    products: np.ndarray  # of values, (heads, d)
    expected: np.ndarray  # |u + v| or |u - v| at the start for the sign taken, (heads, d)


@study.compute(
    each=lambda s: tuple(product((1, 2, 3), s.draws)), reads=DRAWS,
    seconds=lambda s: 5 + 0.2 * s.seeds,
)  # fmt: skip
def all_heads(s: Settings, item: tuple[int, int]) -> Heads:
    """One layer of one, two or three heads without a feed-forward part, at scale 1e-32."""
    number, seed = item
    task = AttentionTeacher(size=4, tokens=4, points=30, teacher_scale=1.0)
    model = DiagonalTransformer(layers=1, heads=number, feedforward_scale=0.0)
    problem = product_problem(task, model, seed)
    first = 1 / np.abs(pulls(problem.on, problem.data, np.zeros((1, problem.size)))).max()
    flow = log_flow(
        problem.on, problem.u, problem.v, [1e-32], [1.05 * first], parameters=problem.data
    )
    values = (number, 2, task.size)
    products = flow.products[0, 0].reshape(values)[:, 1]
    signs = np.sign(flow.products[0, 0])
    return Heads(products, np.abs(problem.u + signs * problem.v).reshape(values)[:, 1])


@study.finding(all_heads)
def heads(s: Settings, found: dict[tuple[int, int], Heads]) -> dict[int, dict[int, Heads]]:
    """The same, by the number of heads and by draw."""
    return {n: {seed: found[n, seed] for seed in s.draws} for n in (1, 2, 3)}


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 2 + 0.1 * s.seeds)
def start_pull(s: Settings, seed: int) -> dict[str, np.ndarray]:
    """The pull on scores and values at z = 0, and at a random z, relative to its largest entry."""
    task = AttentionTeacher(size=4, tokens=4, points=60)
    own, other = (product_problem(task, DiagonalAttention(), seed + k) for k in (0, s.seeds))
    places = np.stack([np.zeros(8), np.random.default_rng(seed).normal(size=8)])
    zero, elsewhere = pulls(own.on, own.data, places)
    found = {"zero": zero, "elsewhere": elsewhere,
             "another seed": pulls(other.on, other.data, places)[0]}  # fmt: skip
    return {name: g / np.abs(g).max() for name, g in found.items()}


@study.compute(
    each=lambda s: s.draws, reads=(*DRAWS, "task", "stages"),
    seconds=lambda s: 2 * _stage_seconds(s),
)  # fmt: skip
def all_corrected(s: Settings, seed: int) -> dict[str, Stages]:
    """Algorithm 1 with the correction for a scale of 1e-8: with its start, and with another's."""
    problem, other = (_toy_problem(s, seed + k) for k in (0, 1))
    return {
        name: incremental_stages(problem.on, problem.size, most=s.stages, alpha=1e-8, start=start,
                                 parameters=problem.data)
        for name, start in {"own": (problem.u, problem.v), "other": (other.u, other.v)}.items()
    }  # fmt: skip


@study.finding(all_corrected)
def corrected(s: Settings, found: dict[int, dict[str, Stages]]) -> dict[str, dict[int, Stages]]:
    """The same, by the start and by draw."""
    return {name: {seed: one[name] for seed, one in found.items()} for name in ("own", "other")}
