"""Part A of a stage, boix2023 app. C.6: who moves, who stands, and when the winner escapes."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_least, at_most, between
from dynascope.studies.measures import exact, farthest
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.rank_proof import runs
from dynascope.studies.rank_increase.rank_proof.phases import (
    RHO,
    PartA,
    Race,
    Traced,
    parts,
    plateau,
)
from dynascope.studies.rank_increase.rank_proof.runs import sizes, study

TINY = 1e-300
LINEAR = "a diagonal linear network from a start of size 1e-300"
ANOTHER_WINNER = "planted: another winner of the last long stage"
NO_STAGE = Missing("no stage is long and has a clear winner")


def worst(race: Race, alpha: float, of: object, largest: bool = True) -> Measured | Missing:
    """The largest, or smallest, of a number over part A of all stages that are followed."""
    flow = race.of(alpha)
    found = [of(race, flow, part) for part in parts(flow, race.stages)]  # type: ignore[operator]
    return exact(np.max(found) if largest else np.min(found)) if found else NO_STAGE


def _stability(race: Race, flow: Traced, part: PartA, lipschitz: float) -> float:
    """Largest |theta - theta^k| over rho', rho' = max(24 rho, 18 sqrt(rho K / c_k))."""
    apart = flow.weights()[part.rows] - plateau(race.stages.products[part.k])
    allowed = max(24 * RHO, 18 * np.sqrt(RHO * lipschitz / race.stages.strictness[part.k]))
    return float(np.linalg.norm(apart.reshape(len(apart), -1), axis=1).max() / allowed)


def stability(race: Race, lipschitz: float, alpha: float) -> Measured | Missing:
    """Largest |theta - theta^k| over rho' in a part A, worst over stages."""
    return worst(race, alpha, lambda r, f, p: _stability(r, f, p, lipschitz))


study.claim(
    "active-weights-stand",
    "While no weight off the support has moved by 4 rho, all weights stay within "
    "max(24 rho, 18 sqrt(rho K / c)) of their plateau, from a start of size 1e-300.",
    boix2023("Lemma C.5"), stability, at_most(1.0, "printed"),
    on=(runs.toy, runs.lipschitz["toy"], TINY),
    fails_on=case("planted: weights that leave the last long plateau and come back",
                  runs.misread["moved"], runs.lipschitz["toy"], TINY),
    holds_on=case(LINEAR, runs.linear, runs.lipschitz["linear"], TINY),
)  # fmt: skip


def _log_error(race: Race, flow: Traced, part: PartA) -> float:
    """Largest |log_alpha w - b^k + (t - begin) g(theta^k)| of a part A."""
    since = (flow.times[part.rows] - part.begins)[:, None]
    on = race.stages.products[part.k] != 0
    pull = np.where(on, 0.0, race.pulls[part.k])
    seen = flow.log_sum[part.rows] / np.log(flow.alpha)
    return float(np.abs(seen - race.stages.log_weights[part.k] + since * pull).max())


def log_error(race: Race, alpha: float) -> Measured | Missing:
    """Largest |log_alpha w - b^k + (t - begin) g(theta^k)| of a part A, worst over stages."""
    return worst(race, alpha, _log_error)


study.claim(
    "logarithms-are-straight",
    "From a start of size 1e-300, log_alpha of every u + v follows b - t g along each part A "
    "within 0.02.",
    boix2023("Lemma C.6, (28)"), log_error, at_most(0.02, "ours"), on=(runs.toy, TINY),
    fails_on=case("planted: b of the last long stage is 0.1 off", runs.misread["logarithms"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    exploratory=True,  # the lemma is a limit; how near 1e-300 comes is our question
)  # fmt: skip


def _turned(race: Race, flow: Traced, part: PartA) -> int:
    """Coordinates off the support whose pull has another sign than on the plateau."""
    expected = np.sign(race.pulls[part.k])
    off = (race.stages.products[part.k] == 0) & (expected != 0)
    other = np.sign(flow.pulls[part.rows]) != expected
    return int(other[:, off].any(axis=0).sum())


def turned(race: Race, alpha: float) -> Measured | Missing:
    """Coordinates off the support whose pull has turned its sign, most over stages."""
    return worst(race, alpha, _turned)


study.claim(
    "pulls-keep-their-signs",
    "From a start of size 1e-300 the pull on every coordinate off the support keeps the sign "
    "that it has on the plateau, along each part A.",
    boix2023("Lemma C.6, (29)"), turned, at_most(0, "printed"), on=(runs.toy, TINY),
    fails_on=case("planted: opposite pulls in the last long stage", runs.misread["pulls"], TINY),
    holds_on=case("planted: the pulls of the plateaus themselves", runs.resting, TINY),
)  # fmt: skip


def late(race: Race, alpha: float) -> Measured | Missing:
    """How much later than predicted a part A ends, as a share of the predicted time."""
    return worst(race, alpha, lambda r, f, p: p.ends / r.stages.times[p.k] - 1)


study.claim(
    "no-escape-is-late",
    "From a start of size 1e-300 no part A ends later than 5 % after the predicted escape time.",
    boix2023("Lemma C.7"), late, at_most(0.05, "ours"), on=(runs.toy, TINY),
    fails_on=case("planted: the last long stage predicted 10 % earlier",
                  runs.misread["time"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def _others(race: Race, flow: Traced, part: PartA) -> float:
    """Movement of all coordinates off the support but the winner, in units of rho."""
    off = race.stages.products[part.k] == 0
    off[race.stages.order[part.k]] = False
    moved = np.abs(flow.at(part.ends) - flow.at(part.begins))[:, off]
    return float(moved.sum() / RHO)


def others(race: Race, alpha: float) -> Measured | Missing:
    """Movement of all coordinates but the winner, in units of rho, most over stages."""
    return worst(race, alpha, _others)


study.claim(
    "others-stand",
    "From a start of size 1e-300, when the winner's weights have moved by 4 rho, those of all "
    "other coordinates off the support have together moved by at most rho / 2.",
    boix2023("Lemmas C.8, C.9"), others, at_most(0.5, "printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def _exponent(race: Race, flow: Traced, part: PartA) -> float:
    """Smallest log_alpha of a weight off the support over a quarter of its predicted clearance.

    The clearance is the least distance of b - t g to 0 and 2 along the part, over the coordinates
    that lose the race and have not just left the support.
    """
    k, stages = part.k, race.stages
    ends = [stages.log_weights[k], stages.log_weights[k + 1]]
    near = np.min([np.minimum(b, 2 - b) for b in ends], axis=0)
    losers = (stages.products[k] == 0) & (near > 1e-6)
    losers[stages.order[k]] = False
    if not losers.any():
        return np.inf
    smallest = sizes(flow)[part.rows][:, losers].min()
    return float(smallest / (near[losers].min() / 4))


def exponent(race: Race, alpha: float) -> Measured | Missing:
    """Log_alpha of a weight over a quarter of its predicted clearance, smallest over stages."""
    return worst(race, alpha, _exponent, largest=False)


study.claim(
    "others-are-powers",
    "From a start of size 1e-300 every weight that loses the race stays below alpha^(c / 4), c "
    "the predicted distance of its logarithm from the ends of the race.",
    boix2023("Lemma C.8"), exponent, at_least(1.0, "printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def escape_error(race: Race, alpha: float) -> Measured | Missing:
    """Largest relative error of the time at which a part A ends."""
    return worst(race, alpha, lambda r, f, p: abs(p.ends / r.stages.times[p.k] - 1))


study.claim(
    "escape-is-in-time",
    "From a start of size 1e-300 every part A ends within 5 % of the predicted escape time.",
    boix2023("Lemma C.9, (21)"), escape_error, at_most(0.05, "ours"), on=(runs.toy, TINY),
    fails_on=case("planted: the last long stage predicted 10 % earlier",
                  runs.misread["time"], TINY), holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def winner_size(race: Race, alpha: float) -> Measured | Missing:
    """U of the winner as part A ends, over rho; the one farthest from 2."""
    flow = race.of(alpha)
    found = [flow.at(p.ends)[0, race.stages.order[p.k]] / RHO for p in parts(flow, race.stages)]
    return exact(farthest(found, 2)) if found else NO_STAGE


study.claim(
    "winner-has-grown",
    "From a start of size 1e-300 the winner's u lies between rho and 3 rho as part A ends.",
    boix2023("Lemma C.9, (24)"), winner_size, between(1.0, 3.0, "printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
)  # fmt: skip


def wrong_signs(race: Race, alpha: float) -> Measured | Missing:
    """Stages in which the winner's v has another sign than predicted as part A ends."""
    flow, stages = race.of(alpha), race.stages
    found = parts(flow, stages)
    wrong = [np.sign(flow.at(p.ends)[1, stages.order[p.k]]) != stages.signs[p.k] for p in found]
    return exact(sum(wrong)) if found else NO_STAGE


study.claim(
    "winner-has-its-sign",
    "From a start of size 1e-300 the winner's v has the sign of its pull as part A ends.",
    boix2023("Lemma C.9, (25)"), wrong_signs, at_most(0, "printed"), on=(runs.toy, TINY),
    fails_on=case("planted: v turns as the last long stage ends", runs.misread["turned"], TINY),
    holds_on=case("planted: v has its sign from the end of part A on", runs.turning, TINY),
)  # fmt: skip
