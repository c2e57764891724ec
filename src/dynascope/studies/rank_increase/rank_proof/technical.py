"""Part B of a stage, boix2023 app. C.7, and the technical lemmas of app. D."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.draws import from_to, share_within
from dynascope.studies.rank_increase.rank_proof import runs
from dynascope.studies.rank_increase.rank_proof.claims import LINEAR, NO_STAGE, TINY, Draws
from dynascope.studies.rank_increase.rank_proof.phases import (
    RHO,
    Race,
    Traced,
    crossing,
    followed,
    parts,
    reached,
)
from dynascope.studies.rank_increase.rank_proof.runs import last_long, signs, sizes, study
from dynascope.studies.rank_increase.rank_proof.smoothness import Quotients
from dynascope.theories import Stages

SMALL = 1e-60  # scales below this are compared with each other
MARGIN = 0.1  # c of Lemmas D.1 to D.3
ROUNDING = 1e-6  # quotients below this are zero


def never_reached(race: Race, alpha: float) -> float | Missing:
    """Stages that are followed and whose plateau the flow does not come within 1e-4 of."""
    flow = race.of(alpha)
    wanted = followed(race.stages, flow.times[-1])
    return float(len(wanted) - len(parts(flow, race.stages))) if wanted else NO_STAGE


def all_reached(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws that come within 1e-4 of every plateau that is long."""
    return share_within([never_reached(one, alpha) for one in draws.values()], at_most(0, "ours"))


study.claim(
    "plateaus-are-reached",
    "From a start of size 1e-300 the flow comes within 0.0001 of every plateau that is long.",
    boix2023("Lemma C.10, (37)"), all_reached, in_all_seeds("ours"), on=(runs.toy, TINY),
    fails_on=case("planted: each plateau in the place of the one before",
                  runs.misread["other plateaus"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(never_reached, "Plateaus that are not reached"),
)  # fmt: skip


def born(flow: Traced, stages: Stages, k: int, ends: float) -> float:
    """When u of plateau k's newest coordinate was last rho before a time, in rescaled time."""
    i = stages.order[k - 1]
    u = flow.weights()[:, 0, i]
    before = np.flatnonzero((flow.times < ends) & (u < RHO))[-1]
    return crossing(flow.times[before], flow.times[before + 1], lambda t: flow.at(t)[0, i] - RHO)


def part_b(flow: Traced, stages: Stages) -> dict[int, tuple[float, float]]:
    """By plateau k: from u = rho of its newest coordinate to the plateau, in rescaled time."""
    return {
        part.k: (born(flow, stages, part.k, part.begins), part.begins)
        for part in parts(flow, stages) if part.k > 0
    }  # fmt: skip


def _spread(values: list[float]) -> float:
    """The largest over the smallest; no number where one is not above 0."""
    return float(np.max(values) / np.min(values)) if np.min(values) > 0 else float("nan")


def duration_spread(race: Race) -> float | Missing:
    """Largest over smallest length of a part B over scales below 1e-60, worst over stages."""
    small = [f for f in race.flows if f.alpha < SMALL]
    lengths = [{k: (b - a) * f.length for k, (a, b) in part_b(f, race.stages).items()}
               for f in small]  # fmt: skip
    common = set.intersection(*(set(one) for one in lengths)) if lengths else set()
    rows = [[x[k] for x in lengths] for k in common]
    return float(np.max([_spread(row) for row in rows])) if rows else NO_STAGE


def _change(flow: Traced, begins: float, ends: float) -> float:
    """By how much the logarithm of any u + v or u - v changes between two times, at most."""
    rows = (flow.times >= begins) & (flow.times <= ends)
    seen = [x[rows] for x in (flow.log_sum, flow.log_difference)]
    return float(np.max([np.abs(x - x[0]).max() for x in seen]))


def largest_factor(race: Race) -> float | Missing:
    """Largest change of a weight's logarithm in a part B: most, over scales, over least.

    Over the stages that are followed at all of those scales.
    """
    small = [f for f in race.flows if f.alpha < SMALL]
    found = [part_b(f, race.stages) for f in small]
    common = set.intersection(*map(set, found)) if found else set()
    most = [max(_change(f, *own[k]) for k in common)
            for f, own in zip(small, found, strict=True) if common]  # fmt: skip
    return _spread(most) if most else NO_STAGE


@study.finding(runs.toy)
def other_end(s: runs.Settings, toy: Draws) -> Draws:
    """The same draws with another end, without those that have no stage for it."""
    return {seed: other for seed, one in toy.items() if (other := slow_end(one)) is not None}


def slow_end(toy: Race) -> Race | None:
    """The same flows, but the last part B of the smallest start takes half as long again.

    In it the weights off the support shrink by a factor alpha and come back. Earlier stages are as
    they were: a claim that must fail here looks at every stage.
    """
    flow, k = toy.flows[-1], last_long(toy, 0.0)
    found = reached(flow, toy.stages, k, flow.weights()) if k else None
    if k is None or found is None:
        return None
    begins, ends = born(flow, toy.stages, k, found[1]), found[1]
    rows = np.flatnonzero((flow.times >= begins) & (flow.times <= ends))[1:-1]
    log_sum = flow.log_sum.copy()
    log_sum[np.ix_(rows, np.flatnonzero(toy.stages.products[k] == 0))] -= flow.length
    later = np.clip(flow.times - begins, 0, ends - begins) / 2
    slow = flow._replace(times=flow.times + later, log_sum=log_sum)
    return toy._replace(flows=(*toy.flows[:-1], slow))


def short(draws: Draws) -> Measured | Missing:
    """Share of draws whose lengths of each part B differ by 10 % at most, below 1e-60."""
    return share_within([duration_spread(one) for one in draws.values()], at_most(1.1, "ours"))


def by_constants(draws: Draws) -> Measured | Missing:
    """Share of draws whose largest logarithms of factors in a part B differ by 10 % at most.

    Over scales below 1e-60.
    """
    return share_within([largest_factor(one) for one in draws.values()], at_most(1.1, "ours"))


another = case("planted: another last part B from the smallest start", other_end)
along_linear = case("a diagonal linear network", runs.linear)
study.claim(
    "part-b-is-short",
    "From u = rho of a new coordinate to its plateau the flow takes a time that does not depend "
    "on the start: within 10 % for starts of sizes 1e-64 to 1e-300.",
    boix2023("Lemma C.10"), short, in_all_seeds("ours"), on=runs.toy,
    fails_on=another, holds_on=along_linear,
    note=from_to(duration_spread, "Largest over smallest length"),
)  # fmt: skip
study.claim(
    "part-b-multiplies-by-constants",
    "In a part B every weight changes by a factor whose logarithm does not depend on the start: "
    "the largest one within 10 % for starts of sizes 1e-64 to 1e-300.",
    boix2023("Lemma C.10"), by_constants, in_all_seeds("ours"), on=runs.toy,
    fails_on=another, holds_on=along_linear,
    note=from_to(largest_factor, "For u + v and u - v, as the proof has it; v itself may pass "
                 "through zero. Largest over smallest logarithm"),
)  # fmt: skip


def _logs(flow: Traced) -> np.ndarray:
    """Log_alpha w."""
    return flow.log_sum / np.log(flow.alpha)


def small_between(flow: Traced) -> Measured:
    """Share of starts whose |u| and |v| are at most alpha^(c / 2) wherever c is 0.1 or more.

    C is the distance of log_alpha w from 0 and 2, inside of them.
    """
    logs = _logs(flow)
    c = np.minimum(logs, 2 - logs)
    return share(((sizes(flow) >= c / 2) | (c < MARGIN)).all(axis=0))


def large_outside(flow: Traced) -> Measured:
    """Share of starts whose |u| is above 1 wherever log_alpha w is 0.1 or more outside of 0 to 2.

    There log_alpha |u| is below 0.
    """
    logs = _logs(flow)
    return share(((sizes(flow) <= 0) | ((logs > -MARGIN) & (logs < 2 + MARGIN))).all(axis=0))


def sign_by_side(flow: Traced) -> Measured:
    """Share of starts whose v has its sign wherever log_alpha w is 0.1 or more away from 1."""
    logs = _logs(flow)
    return share(((signs(flow) == np.sign(1 - logs)) | (np.abs(logs - 1) < MARGIN)).all(axis=0))


for _slug, _words, _place, _measure in (
    ("small-between",
     "From a start of size 1e-32, where log_alpha of u + v lies c or more inside of 0 to 2, |u| "
     "and |v| are at most alpha^(c / 2), for every c of at least 0.1.",
     "Lemma D.1", small_between),
    ("large-outside",
     "From a start of size 1e-32, where log_alpha of u + v lies 0.1 or more outside of 0 to 2, "
     "|u| is above 1.",
     "Lemma D.2", large_outside),
    ("sign-by-side",
     "From a start of size 1e-32, v is positive where log_alpha of u + v is below 0.9 and "
     "negative where it is above 1.1.",
     "Lemma D.3", sign_by_side),
):  # fmt: skip
    study.claim(
        _slug, _words, boix2023(_place), _measure, in_all_seeds("printed"),
        on=runs.single[1e-32],
        fails_on=case("a start of size 0.5", runs.single[0.5]),
        holds_on=case("a start of size 1e-300", runs.single[1e-300]),
    )  # fmt: skip


def corner_cases(stages: Stages) -> Measured:
    """Coordinates off the support at an end of the race that have not just left it."""
    wrong = 0
    for k in range(1, len(stages.products)):
        off = stages.products[k] == 0
        at_end = off & np.isin(stages.log_weights[k], (0.0, 2.0))
        left = np.isin(np.arange(len(off)), stages.left[k - 1])
        wrong += int(np.sum(at_end & ~left))
    return exact(wrong)


study.claim(
    "only-leavers-stand-at-an-end",
    "A coordinate off the support whose b is 0 or 2 has left the support in that very stage.",
    boix2023("Lemma D.4"), corner_cases, at_most(0, "printed"), on=runs.leaving["returning"],
    fails_on=case("planted: b = 0 for entries not yet learned", runs.leaving["planted"]),
    holds_on=case("white inputs, where none leaves", runs.leaving["white"]),
)  # fmt: skip


def growth(found: Quotients) -> float:
    """Largest quotient at a distance of 0.001 over that at 0.1, worst over functions.

    Quotients that are zero but for rounding, as those of a constant derivative, do not grow.
    """
    first, last = found.largest[:, 0] + ROUNDING, found.largest[:, -1] + ROUNDING
    return float(np.max(last / first))


def bounded(draws: dict[int, Quotients]) -> Measured | Missing:
    """Share of draws whose largest quotient at a distance of 0.001 is at most twice that at 0.1."""
    return share_within([growth(one) for one in draws.values()], at_most(2.0, "ours"))


for _slug, _words, _place, _own, _kink, _other in (
    ("loss-is-smooth", "squared error and its derivative in the output", "Lemma D.5",
     "squared error", "absolute error", "cross-entropy"),
    ("network-is-smooth", "the outputs of a diagonal attention head and their derivatives in z",
     "Lemma D.6", "attention head", "rectified unit", "linear network"),
    ("objective-is-smooth", "g, the gradient and the loss of the toy problem in (u, v)",
     "Lemma D.7", "toy problem", "absolute deviation", "linear problem"),
):  # fmt: skip
    study.claim(
        _slug,
        f"Difference quotients of {_words} stay bounded in a ball: the largest over 4,000 pairs "
        "is at a distance of 0.001 at most twice that at 0.1.",
        boix2023(_place), bounded, in_all_seeds("ours"), on=runs.quotients[_own],
        fails_on=case(f"{_kink}, which has a kink", runs.quotients[_kink]),
        holds_on=case(_other, runs.quotients[_other]),
        note=from_to(growth, "That a constant exists follows from compactness; it is not "
                     "computed. Largest growth"),
    )  # fmt: skip
