"""Flows of a toy problem and of a linear network, cut into the parts that the proof speaks of.

boix2023 app. C.5 to C.7 and D: the statements are about scales that are small enough, without
a number; here they are put to a start of size 1e-300, with larger starts beside it.
"""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.models import DiagonalAttention
from dynascope.studies.nodes import Missing
from dynascope.studies.rank_increase.rank_proof import smoothness
from dynascope.studies.rank_increase.rank_proof.phases import CLEAR, LONG, Race, Traced, parts, race
from dynascope.studies.rank_increase.rank_proof.smoothness import Quotients
from dynascope.studies.rank_increase.trajectories import diagonal_linear
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import Stages, incremental_stages, product_problem

SEPARATE = np.array([3.0, -2.0, 1.5, -1.0, 0.5])
RETURNING = np.array([-0.3, 1.0, 0.9])
CORRELATED = np.eye(3) + 0.9 / np.sqrt(2) * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
STARTS = 40  # random starts of the lemmas about single weights


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-proof"):
    """The toy problem, the scales of its start, and how closely it is followed."""

    task: AttentionTeacher = AttentionTeacher(size=12, tokens=6, points=200, teacher_scale=0.8)
    alphas: tuple[float, ...] = static_field((1e-2, 1e-32, 1e-64, 1e-128, 1e-300))
    stages: int = 8
    points: int = 601  # besides those around every escape
    seed: int = 0


study = Study(
    "rank-proof",
    title="The race of the weights, step by step as it is proved",
    sources=(boix2023("Lemmas C.5 to C.10, D.1 to D.7, app. C, D"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "stages": 4,
                  "points": 301, "alphas": (1e-2, 1e-64, 1e-300)},
        "laptop": {},
        "paper": {"task.size": 50, "task.tokens": 10, "task.points": 1000,
                  "task.teacher_scale": 0.5, "stages": 12},
    },
    notes=(
        "Part A of a stage ends where weights off the support have moved by 4 rho, rho = 0.001, "
        "and begins within 0.0001 of its plateau. Stages shorter than 0.1, and those whose "
        "runner-up is less than 0.05 behind, overlap at every scale that numbers can hold, and "
        "are left out.",
        "Corrected in the proof: exponents of Lemma C.6, intervals of Lemma C.8, u v in the place "
        "of u u in Lemma D.7.",
        "The constant of Lemma C.5 takes its Lipschitz constant from samples, which makes the "
        "bound smaller than the lemma's.",
    ),
)  # fmt: skip


@study.compute(seconds=lambda s: 3 + 3e-7 * s.points * s.task.points * s.task.size)
def toy(s: Settings) -> Race:
    """The toy problem."""
    problem = product_problem(s.task, DiagonalAttention(), s.seed)
    return race(problem.loss, problem.u, problem.v, s.alphas, s.stages, s.points)


@study.compute(reads=("seed", "alphas", "points"), seconds=lambda s: 3)
def linear(s: Settings) -> Race:
    """A diagonal linear network on white inputs."""
    u, v = np.random.default_rng(s.seed).normal(size=(2, len(SEPARATE)))
    loss = diagonal_linear(SEPARATE, np.eye(len(SEPARATE)))
    return race(loss, u, v, s.alphas, len(SEPARATE), s.points)


def last_long(race: Race, share: float) -> int | None:
    """The last stage with a clear winner that is long; None if there is none.

    Args:
        race: Flows and stages.
        share: How much longer than `LONG` it must be, as a share of the time at which it ends.
    """
    found, end = race.stages, race.flows[0].times[-1]
    lengths = np.diff(found.times, prepend=0.0)
    long = (lengths >= LONG + share * found.times) & (found.times < 0.99 * end)
    clear = np.flatnonzero(long & (found.gaps >= CLEAR))
    return int(clear[-1]) if clear.size else None


@study.finding(toy)
def misread(s: Settings, toy: Race) -> dict[str, Race] | Missing:
    """Flows or predictions that are wrong in a known way.

    All but the plateaus are wrong in the last long stage only: a claim that must fail there looks
    at every stage.
    """
    found, last = toy.stages, last_long(toy, 0.1)
    rolled = np.roll(found.products, -1, axis=0)
    if last is None:
        return Missing("no stage is long and has a clear winner")
    here = np.arange(len(found.order)) == last
    plateau = np.arange(len(found.products))[:, None] == last
    losers = np.flatnonzero((found.products[last] == 0) & (toy.pulls[last] != 0))
    loser = losers[losers != found.order[last]][0]
    logs = found.log_weights.copy()  # of the winner: as if it had stood where it was
    logs[last + 1, found.order[last]] = logs[last, found.order[last]]
    another = replace(found, order=np.where(here, loser, found.order), log_weights=logs)
    return {
        "time": toy._replace(stages=replace(found, times=found.times * np.where(here, 0.9, 1.0))),
        "winner": toy._replace(stages=another),
        "logarithms": toy._replace(
            stages=replace(found, log_weights=found.log_weights + 0.1 * plateau)
        ),
        "pulls": toy._replace(pulls=np.where(plateau, -1, 1) * toy.pulls),
        "other plateaus": toy._replace(stages=replace(found, products=rolled)),
        "moved": toy._replace(flows=tuple(_moved(f, found) for f in toy.flows)),
        "turned": toy._replace(flows=tuple(_turned(f, found) for f in toy.flows)),
    }


def _moved(flow: Traced, stages: Stages) -> Traced:
    """A flow whose active weights leave the last plateau that has some, and come back to it."""
    with_some = [part for part in parts(flow, stages) if stages.products[part.k].any()]
    if not with_some:
        return flow
    rows = np.isin(np.arange(len(flow.times)), with_some[-1].rows[1:-1])
    on = stages.products[with_some[-1].k] != 0
    return flow._replace(log_sum=flow.log_sum + 5.0 * (rows[:, None] & on))


def _swapped(flow: Traced, where: np.ndarray) -> Traced:
    """The flow with v of the other sign where said, (times, p)."""
    first, second = flow.log_sum, flow.log_difference
    log_sum, log_difference = np.where(where, second, first), np.where(where, first, second)
    return flow._replace(log_sum=log_sum, log_difference=log_difference)


def _turned(flow: Traced, stages: Stages) -> Traced:
    """A flow in which the last winner's v has the other sign, only as its part A ends."""
    where = np.zeros(flow.log_sum.shape, bool)
    for part in parts(flow, stages)[-1:]:
        where[part.rows[-1] + np.arange(2), stages.order[part.k]] = True
    return _swapped(flow, where)


def _turning(flow: Traced, stages: Stages) -> Traced:
    """A flow in which no winner's v has its sign before the end of its part A."""
    where = np.zeros(flow.log_sum.shape, bool)
    for part in parts(flow, stages):
        before, winner = slice(int(part.rows[-1])), stages.order[part.k]
        where[before, winner] = signs(flow)[before, winner] == stages.signs[part.k]
    return _swapped(flow, where)


@study.finding(toy)
def turning(s: Settings, toy: Race) -> Race:
    """The same flows with the winners' v of the other sign until their part A ends."""
    return toy._replace(flows=tuple(_turning(f, toy.stages) for f in toy.flows))


@study.finding(toy)
def resting(s: Settings, toy: Race) -> Race:
    """The same flows with the pulls of the plateau that is predicted for each time."""
    flows = (f._replace(pulls=toy.pulls[toy.stages.plateau_at(f.times)]) for f in toy.flows)
    return toy._replace(flows=tuple(flows))


@study.compute(seconds=lambda s: 2)
def lipschitz(s: Settings) -> dict[str, float]:
    """Lipschitz constants of the losses, from samples in a ball that holds every plateau."""
    problem = product_problem(s.task, DiagonalAttention(), s.seed)
    linear = diagonal_linear(SEPARATE, np.eye(len(SEPARATE)))
    return {"toy": smoothness.steepest(problem.loss, problem.size),
            "linear": smoothness.steepest(linear, len(SEPARATE))}  # fmt: skip


@study.compute(reads=(), seconds=lambda s: 2)
def leaving(s: Settings) -> dict[str, Stages]:
    """Stages of a linear network in which an entry leaves, and of one in which none does."""
    found = incremental_stages(diagonal_linear(RETURNING, CORRELATED), len(RETURNING))
    white = incremental_stages(diagonal_linear(SEPARATE, np.eye(len(SEPARATE))), len(SEPARATE))
    logs = found.log_weights.copy()
    logs[1, np.flatnonzero(found.products[1] == 0)] = 0.0  # as if they had been learned before
    return {"returning": found, "white": white, "planted": replace(found, log_weights=logs)}


@study.finding
def single(s: Settings) -> dict[float, Traced]:
    """Single weights of many sizes: log_alpha w evenly from -1 to 3, from random starts."""
    u, v = np.random.default_rng(s.seed).normal(size=(2, STARTS))
    found = {}
    for alpha in (0.5, 1e-32, 1e-300):
        logs = np.linspace(-1, 3, 401)[:, None] * np.log(alpha) * np.ones(STARTS)
        kept = np.log(np.abs(u**2 - v**2)) + 2 * np.log(alpha)  # of w w~, conserved
        none = np.zeros_like(logs)
        found[alpha] = Traced(alpha, np.arange(401.0), logs, kept - logs, none)
    return found


@study.compute(reads=("seed",), seconds=lambda s: 8)
def quotients(s: Settings) -> dict[str, Quotients]:
    """Difference quotients of losses, networks and objectives, smooth and not."""
    return smoothness.all_quotients(s.seed)


def sizes(flow: Traced) -> np.ndarray:
    """Log_alpha of the larger of |u| and |v|, (times, p): where w is small w~ may be large."""
    larger = np.maximum(flow.log_sum, flow.log_difference)
    gap = np.abs(flow.log_sum - flow.log_difference)
    return (larger + np.log1p(np.exp(-gap)) - np.log(2)) / np.log(flow.alpha)


def signs(flow: Traced) -> np.ndarray:
    """The sign of v, (times, p)."""
    return np.sign(flow.log_sum - flow.log_difference)
