"""Flows of a toy problem and of a linear network, cut into the parts that the proof speaks of.

boix2023 app. C.5 to C.7 and D: the statements are about scales that are small enough, without
a number; here they are put to a start of size 1e-300, with larger starts beside it.
"""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.models import DiagonalAttention
from dynascope.studies.rank_increase.draws import drawn
from dynascope.studies.rank_increase.rank_proof import smoothness
from dynascope.studies.rank_increase.rank_proof.phases import (
    CLEAR,
    LONG,
    Given,
    Race,
    Traced,
    parts,
    race,
)
from dynascope.studies.rank_increase.rank_proof.smoothness import Quotients
from dynascope.studies.rank_increase.trajectories import diagonal_linear, on_white_inputs
from dynascope.studies.study import Study
from dynascope.tasks import AttentionTeacher
from dynascope.theories import Stages, incremental_stages, product_problem

SEPARATE = np.array([3.0, -2.0, 1.5, -1.0, 0.5])
RETURNING = np.array([-0.3, 1.0, 0.9])
CORRELATED = np.eye(3) + 0.9 / np.sqrt(2) * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
STARTS = 40  # random starts of the lemmas about single weights


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-proof"):
    """The toy problem, the scales of its start, how closely it is followed, and how many draws."""

    task: AttentionTeacher = AttentionTeacher(size=12, tokens=6, points=200, teacher_scale=0.8)
    alphas: tuple[float, ...] = static_field((1e-2, 1e-32, 1e-64, 1e-128, 1e-300))
    stages: int = 8
    points: int = 601  # besides those around every escape
    seeds: int = 8
    first_seed: int = 100  # sizes and bounds were chosen on seed 0

    @property
    def draws(self) -> tuple[int, ...]:
        """The seeds of teacher, data, start and pairs of points."""
        return drawn(self.first_seed, self.seeds)


study = Study(
    "rank-proof",
    title="The race of the weights, step by step as it is proved",
    sources=(boix2023("Lemmas C.5 to C.10, D.1 to D.7, app. C, D"),),
    settings=Settings,
    scales={
        "smoke": {"task.size": 6, "task.tokens": 4, "task.points": 60, "stages": 4,
                  "points": 151, "alphas": (1e-64, 1e-300), "seeds": 6},
        "laptop": {},
        "paper": {"task.size": 50, "task.tokens": 10, "task.points": 1000,
                  "task.teacher_scale": 0.5, "stages": 12},
    },
    notes=(
        "Every claim about a drawn teacher, data set, start or pair of points is put to several "
        "draws, or to as many as have a stage that is long and has a clear winner.",
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


DRAWS = ("seeds", "first_seed")


@study.compute(
    each=lambda s: s.draws,
    seconds=lambda s: 3 + s.seeds * (0.5 + 3e-7 * s.points * s.task.points * s.task.size),
)  # fmt: skip
def toy(s: Settings, seed: int) -> Race:
    """The toy problem."""
    problem = product_problem(s.task, DiagonalAttention(), seed)
    given = Given(problem.on, problem.data, problem.u, problem.v)
    return race(given, s.alphas, s.stages, s.points)


@study.compute(
    each=lambda s: s.draws, reads=(*DRAWS, "alphas", "points"), seconds=lambda s: 3 + 0.2 * s.seeds
)
def linear(s: Settings, seed: int) -> Race:
    """A diagonal linear network on white inputs from a random start."""
    u, v = np.random.default_rng(seed).normal(size=(2, len(SEPARATE)))
    given = Given(diagonal_linear, on_white_inputs(SEPARATE), u, v)
    return race(given, s.alphas, len(SEPARATE), s.points)


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


WRONG = ("time", "winner", "logarithms", "pulls", "other plateaus", "moved", "turned")


@study.finding(toy)
def misread(s: Settings, toy: dict[int, Race]) -> dict[str, dict[int, Race]]:
    """Flows or predictions that are wrong in a known way, by the way and by draw.

    Without draws that have no stage for it.
    """
    found = {seed: wrong for seed, one in toy.items() if (wrong := misread_one(one)) is not None}
    return {way: {seed: wrong[way] for seed, wrong in found.items()} for way in WRONG}


def misread_one(toy: Race) -> dict[str, Race] | None:
    """One race, wrong in each of these ways.

    All but the plateaus are wrong in the last long stage only: a claim that must fail there looks
    at every stage. None where there is no such stage, or it is the first of all.
    """
    found, last = toy.stages, last_long(toy, 0.1)
    rolled = np.roll(found.products, -1, axis=0)
    if not last:
        return None
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
def turning(s: Settings, toy: dict[int, Race]) -> dict[int, Race]:
    """The same flows with the winners' v of the other sign until their part A ends."""
    return {seed: one._replace(flows=tuple(_turning(f, one.stages) for f in one.flows))
            for seed, one in toy.items()}  # fmt: skip


@study.finding(toy)
def resting(s: Settings, toy: dict[int, Race]) -> dict[int, Race]:
    """The same flows with the pulls of the plateaus themselves in their parts A."""
    return {seed: one._replace(flows=tuple(_resting(f, one) for f in one.flows))
            for seed, one in toy.items()}  # fmt: skip


def _resting(flow: Traced, race: Race) -> Traced:
    """A flow with the pulls of theta^k until the k-th winner has half of its size to be."""
    stages, (u, v) = race.stages, np.moveaxis(flow.weights(), 1, 0)
    number, since = np.zeros(len(flow.times), int), 0
    for k, i in enumerate(stages.order):
        learned = np.flatnonzero((u * v)[since:, i] / stages.products[k + 1, i] > 0.5)
        if not learned.size:
            break
        since += int(learned[0])
        number[since:] = k + 1
    return flow._replace(pulls=race.pulls[number])


@study.compute(
    each=lambda s: s.draws, reads=(*DRAWS, "task"), seconds=lambda s: 1.5 + 0.1 * s.seeds
)
def all_lipschitz(s: Settings, seed: int) -> dict[str, float]:
    """Lipschitz constants of the losses, from samples in a ball that holds every plateau."""
    problem = product_problem(s.task, DiagonalAttention(), seed)
    white = on_white_inputs(SEPARATE)
    return {"toy": smoothness.steepest(problem.on, problem.data, problem.size),
            "linear": smoothness.steepest(diagonal_linear, white, len(SEPARATE))}  # fmt: skip


@study.finding(all_lipschitz)
def lipschitz(s: Settings, found: dict[int, dict[str, float]]) -> dict[str, dict[int, float]]:
    """The same, by the loss and by draw."""
    return {name: {seed: one[name] for seed, one in found.items()} for name in ("toy", "linear")}


@study.compute(reads=(), seconds=lambda s: 2)
def leaving(s: Settings) -> dict[str, Stages]:
    """Stages of a linear network in which an entry leaves, and of one in which none does."""
    found, white = (
        incremental_stages(diagonal_linear, len(given[0]), parameters=given)
        for given in ((RETURNING, CORRELATED), on_white_inputs(SEPARATE))
    )
    logs = found.log_weights.copy()
    logs[1, np.flatnonzero(found.products[1] == 0)] = 0.0  # as if they had been learned before
    return {"returning": found, "white": white, "planted": replace(found, log_weights=logs)}


@study.finding
def single(s: Settings) -> dict[float, Traced]:
    """Single weights of many sizes: log_alpha w evenly from -1 to 3, from random starts."""
    u, v = np.random.default_rng(s.first_seed).normal(size=(2, STARTS))
    found = {}
    for alpha in (0.5, 1e-32, 1e-300):
        logs = np.linspace(-1, 3, 401)[:, None] * np.log(alpha) * np.ones(STARTS)
        kept = np.log(np.abs(u**2 - v**2)) + 2 * np.log(alpha)  # of w w~, conserved
        none = np.zeros_like(logs)
        found[alpha] = Traced(alpha, np.arange(401.0), logs, kept - logs, none)
    return found


@study.compute(each=lambda s: s.draws, reads=DRAWS, seconds=lambda s: 6 + 0.3 * s.seeds)
def all_quotients(s: Settings, seed: int) -> dict[str, Quotients]:
    """Difference quotients of losses, networks and objectives, smooth and not."""
    return smoothness.all_quotients(seed)


@study.finding(all_quotients)
def quotients(
    s: Settings, found: dict[int, dict[str, Quotients]]
) -> dict[str, dict[int, Quotients]]:
    """The same, by the function and by draw."""
    return {name: {seed: one[name] for seed, one in found.items()} for name in SMOOTH_AND_NOT}


SMOOTH_AND_NOT = (
    "squared error", "absolute error", "cross-entropy", "attention head", "rectified unit",
    "linear network", "toy problem", "absolute deviation", "linear problem",
)  # fmt: skip


def sizes(flow: Traced) -> np.ndarray:
    """Log_alpha of the larger of |u| and |v|, (times, p): where w is small w~ may be large."""
    larger = np.maximum(flow.log_sum, flow.log_difference)
    gap = np.abs(flow.log_sum - flow.log_difference)
    return (larger + np.log1p(np.exp(-gap)) - np.log(2)) / np.log(flow.alpha)


def signs(flow: Traced) -> np.ndarray:
    """The sign of v, (times, p)."""
    return np.sign(flow.log_sum - flow.log_difference)
