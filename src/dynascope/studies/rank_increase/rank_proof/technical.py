"""Part B of a stage, boix2023 app. C.7, and the technical lemmas of app. D."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.measures import exact
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.rank_proof import runs
from dynascope.studies.rank_increase.rank_proof.claims import LINEAR, NO_STAGE, TINY
from dynascope.studies.rank_increase.rank_proof.phases import (
    RHO,
    Race,
    Traced,
    crossing,
    followed,
    parts,
)
from dynascope.studies.rank_increase.rank_proof.runs import signs, sizes, study
from dynascope.studies.rank_increase.rank_proof.smoothness import Quotients
from dynascope.theories import Stages

SMALL = 1e-60  # scales below this are compared with each other
MARGIN = 0.1  # c of Lemmas D.1 to D.3
ROUNDING = 1e-6  # quotients below this are zero


def never_reached(race: Race, alpha: float) -> Measured | Missing:
    """Stages that are followed and whose plateau the flow does not come within 1e-4 of."""
    flow = race.of(alpha)
    wanted = followed(race.stages, flow.times[-1])
    return exact(len(wanted) - len(parts(flow, race.stages))) if wanted else NO_STAGE


study.claim(
    "plateaus-are-reached",
    "From a start of size 1e-300 the flow comes within 0.0001 of every plateau that is long.",
    boix2023("Lemma C.10, (37)"), never_reached, at_most(0, "ours"), on=(runs.toy, TINY),
    fails_on=case("planted: each plateau in the place of the one before",
                  runs.misread["other plateaus"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def part_b(flow: Traced, stages: Stages) -> dict[int, tuple[float, float]]:
    """By plateau k: from u = rho of its newest coordinate to the plateau, in rescaled time."""
    found = {}
    u = flow.weights()[:, 0]
    for part in parts(flow, stages):
        if part.k == 0:
            continue
        i = stages.order[part.k - 1]
        before = np.flatnonzero((flow.times < part.begins) & (u[:, i] < RHO))[-1]
        begins = crossing(flow.times[before], flow.times[before + 1],
                          lambda t: flow.at(t)[0, i] - RHO)  # noqa: B023  # fmt: skip
        found[part.k] = (begins, part.begins)
    return found


def duration_spread(race: Race, rescaled: bool) -> Measured | Missing:
    """Largest over smallest length of a part B over scales below 1e-60, worst over stages.

    Args:
        race: Flows and stages.
        rescaled: Whether lengths are left in rescaled time, or brought to true time.
    """
    small = [f for f in race.flows if f.alpha < SMALL]
    lengths = [{k: (b - a) * (1 if rescaled else f.length)
                for k, (a, b) in part_b(f, race.stages).items()} for f in small]  # fmt: skip
    common = set.intersection(*(set(one) for one in lengths)) if lengths else set()
    rows = [[x[k] for x in lengths] for k in common]
    return exact(np.max([np.max(r) / np.min(r) for r in rows])) if rows else NO_STAGE


study.claim(
    "part-b-is-short",
    "From u = rho of a new coordinate to its plateau the flow takes a time that does not depend "
    "on the start: within 10 % for starts of sizes 1e-64 to 1e-300.",
    boix2023("Lemma C.10"), duration_spread, at_most(1.1, "ours"), on=(runs.toy, False),
    fails_on=case("the same in rescaled time", runs.toy, True),
    holds_on=case("a diagonal linear network", runs.linear, False),
)  # fmt: skip


def largest_factor(race: Race, whole: bool) -> Measured | Missing:
    """By how much the logarithm of any weight changes in a part B: most, over scales, over least.

    Args:
        race: Flows and stages.
        whole: Whether it is taken from the start of the run instead.
    """
    most = []
    for flow in (f for f in race.flows if f.alpha < SMALL):
        changes = []
        for begins, ends in part_b(flow, race.stages).values():
            rows = (flow.times >= (0.0 if whole else begins)) & (flow.times <= ends)
            for logs in (flow.log_sum, flow.log_difference):
                seen = logs[rows]
                changes.append(np.abs(seen - seen[0]).max())
        if changes:
            most.append(np.max(changes))
    return exact(np.max(most) / np.min(most)) if most else NO_STAGE


study.claim(
    "part-b-multiplies-by-constants",
    "In a part B every weight changes by a factor whose logarithm does not depend on the start: "
    "the largest one within 10 % for starts of sizes 1e-64 to 1e-300.",
    boix2023("Lemma C.10"), largest_factor, at_most(1.1, "ours"), on=(runs.toy, False),
    fails_on=case("from the start of the run on", runs.toy, True),
    holds_on=case("a diagonal linear network", runs.linear, False),
    note="For u + v and u - v, as the proof has it; v itself may pass through zero.",
)  # fmt: skip


def _logs(flow: Traced) -> np.ndarray:
    """Log_alpha w."""
    return flow.log_sum / np.log(flow.alpha)


def middle_size(flow: Traced) -> Measured:
    """Smallest log_alpha max(|u|, |v|) over c, c the distance of log_alpha w from 0 and 2."""
    logs = _logs(flow)
    c = np.minimum(logs, 2 - logs)
    inside = c >= MARGIN
    return exact(np.min(sizes(flow)[inside] / c[inside]))


def outer_size(flow: Traced) -> Measured:
    """Largest log_alpha |u| where log_alpha w is 0.1 or more outside of 0 to 2; below 0 is > 1."""
    logs = _logs(flow)
    return exact(np.max(sizes(flow)[(logs <= -MARGIN) | (logs >= 2 + MARGIN)]))


def sign_errors(flow: Traced) -> Measured:
    """Weights whose v has the wrong sign where log_alpha w is 0.1 or more away from 1."""
    logs = _logs(flow)
    far = np.abs(logs - 1) >= MARGIN
    return exact(np.sum((signs(flow) != np.sign(1 - logs))[far]))


for _slug, _words, _place, _measure, _bound in (
    ("small-between",
     "From a start of size 1e-32, where log_alpha of u + v lies c or more inside of 0 to 2, |u| "
     "and |v| are at most alpha^(c / 2), for every c of at least 0.1.",
     "Lemma D.1", middle_size, at_least(0.5, "printed")),
    ("large-outside",
     "From a start of size 1e-32, where log_alpha of u + v lies 0.1 or more outside of 0 to 2, "
     "|u| is above 1.",
     "Lemma D.2", outer_size, at_most(0.0, "printed")),
    ("sign-by-side",
     "From a start of size 1e-32, v is positive where log_alpha of u + v is below 0.9 and "
     "negative where it is above 1.1.",
     "Lemma D.3", sign_errors, at_most(0, "printed")),
):  # fmt: skip
    study.claim(
        _slug, _words, boix2023(_place), _measure, _bound, on=runs.single[1e-32],
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


def growth(found: Quotients) -> Measured:
    """Largest quotient at a distance of 0.001 over that at 0.1, worst over functions.

    Quotients that are zero but for rounding, as those of a constant derivative, do not grow.
    """
    first, last = found.largest[:, 0] + ROUNDING, found.largest[:, -1] + ROUNDING
    return exact(np.max(last / first))


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
        boix2023(_place), growth, at_most(2.0, "ours"), on=runs.quotients[_own],
        fails_on=case(f"{_kink}, which has a kink", runs.quotients[_kink]),
        holds_on=case(_other, runs.quotients[_other]),
        note="That a constant exists follows from compactness; it is not computed.",
    )  # fmt: skip
