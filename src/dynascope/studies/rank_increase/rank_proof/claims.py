"""Part A of a stage, boix2023 app. C.6: who moves, who stands, and when the winner escapes."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds
from dynascope.studies.measures import farthest
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.draws import from_to, share_within
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


Draws = dict[int, Race]


def worst(race: Race, alpha: float, of: object, largest: bool = True) -> float | Missing:
    """The largest, or smallest, of a number over part A of all stages that are followed."""
    flow = race.of(alpha)
    found = [of(race, flow, part) for part in parts(flow, race.stages)]  # type: ignore[operator]
    return float(np.max(found) if largest else np.min(found)) if found else NO_STAGE


def _stability(race: Race, flow: Traced, part: PartA, lipschitz: float) -> float:
    """Largest |theta - theta^k| over rho', rho' = max(24 rho, 18 sqrt(rho K / c_k))."""
    apart = flow.weights()[part.rows] - plateau(race.stages.products[part.k])
    allowed = max(24 * RHO, 18 * np.sqrt(RHO * lipschitz / race.stages.strictness[part.k]))
    return float(np.linalg.norm(apart.reshape(len(apart), -1), axis=1).max() / allowed)


def stability(race: Race, lipschitz: float, alpha: float) -> float | Missing:
    """Largest |theta - theta^k| over rho' in a part A, worst over stages."""
    return worst(race, alpha, lambda r, f, p: _stability(r, f, p, lipschitz))


def stands(draws: Draws, lipschitz: dict[int, float], alpha: float) -> Measured | Missing:
    """Share of draws whose active weights stay within rho' of their plateau in every part A."""
    found = [stability(one, lipschitz[seed], alpha) for seed, one in draws.items()]
    return share_within(found, at_most(1.0, "printed"))


study.claim(
    "active-weights-stand",
    "While no weight off the support has moved by 4 rho, all weights stay within "
    "max(24 rho, 18 sqrt(rho K / c)) of their plateau, from a start of size 1e-300.",
    boix2023("Lemma C.5"), stands, in_all_seeds("printed"),
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


def log_error(race: Race, alpha: float) -> float | Missing:
    """Largest |log_alpha w - b^k + (t - begin) g(theta^k)| of a part A, worst over stages."""
    return worst(race, alpha, _log_error)


def straight(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws whose logarithms stay within 0.02 of b - t g along every part A."""
    return share_within([log_error(one, alpha) for one in draws.values()], at_most(0.02, "ours"))


study.claim(
    "logarithms-are-straight",
    "From a start of size 1e-300, log_alpha of every u + v follows b - t g along each part A "
    "within 0.02.",
    boix2023("Lemma C.6, (28)"), straight, in_all_seeds("ours"), on=(runs.toy, TINY),
    fails_on=case("planted: b of the last long stage is 0.1 off", runs.misread["logarithms"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    exploratory=True,  # the lemma is a limit; how near 1e-300 comes is our question
    note=from_to(log_error, "Largest distance from b - t g"),
)  # fmt: skip


def _turned(race: Race, flow: Traced, part: PartA) -> int:
    """Coordinates off the support whose pull has another sign than on the plateau."""
    expected = np.sign(race.pulls[part.k])
    off = (race.stages.products[part.k] == 0) & (expected != 0)
    other = np.sign(flow.pulls[part.rows]) != expected
    return int(other[:, off].any(axis=0).sum())


def turned(race: Race, alpha: float) -> float | Missing:
    """Coordinates off the support whose pull has turned its sign, most over stages."""
    return worst(race, alpha, _turned)


def keep_signs(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which no pull off the support turns its sign along a part A."""
    return share_within([turned(one, alpha) for one in draws.values()], at_most(0, "printed"))


study.claim(
    "pulls-keep-their-signs",
    "From a start of size 1e-300 the pull on every coordinate off the support keeps the sign "
    "that it has on the plateau, along each part A.",
    boix2023("Lemma C.6, (29)"), keep_signs, in_all_seeds("printed"), on=(runs.toy, TINY),
    fails_on=case("planted: opposite pulls in the last long stage", runs.misread["pulls"], TINY),
    holds_on=case("planted: the pulls of the plateaus themselves", runs.resting, TINY),
    note=from_to(turned, "Pulls that turn in one part A"),
)  # fmt: skip


def late(race: Race, alpha: float) -> float | Missing:
    """How much later than predicted a part A ends, as a share of the predicted time."""
    return worst(race, alpha, lambda r, f, p: p.ends / r.stages.times[p.k] - 1)


def never_late(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which no part A ends later than 5 % after the predicted time."""
    return share_within([late(one, alpha) for one in draws.values()], at_most(0.05, "ours"))


study.claim(
    "no-escape-is-late",
    "From a start of size 1e-300 no part A ends later than 5 % after the predicted escape time.",
    boix2023("Lemma C.7"), never_late, in_all_seeds("ours"), on=(runs.toy, TINY),
    fails_on=case("planted: the last long stage predicted 10 % earlier",
                  runs.misread["time"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(late, "Latest end, as a share of the predicted time,"),
)  # fmt: skip


def _others(race: Race, flow: Traced, part: PartA) -> float:
    """Movement of all coordinates off the support but the winner, in units of rho."""
    off = race.stages.products[part.k] == 0
    off[race.stages.order[part.k]] = False
    moved = np.abs(flow.at(part.ends) - flow.at(part.begins))[:, off]
    return float(moved.sum() / RHO)


def others(race: Race, alpha: float) -> float | Missing:
    """Movement of all coordinates but the winner, in units of rho, most over stages."""
    return worst(race, alpha, _others)


def others_stand(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which all but the winner have moved by rho / 2 at most in every part A."""
    return share_within([others(one, alpha) for one in draws.values()], at_most(0.5, "printed"))


study.claim(
    "others-stand",
    "From a start of size 1e-300, when the winner's weights have moved by 4 rho, those of all "
    "other coordinates off the support have together moved by at most rho / 2.",
    boix2023("Lemmas C.8, C.9"), others_stand, in_all_seeds("printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(others, "Largest movement over rho"),
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


def exponent(race: Race, alpha: float) -> float | Missing:
    """Log_alpha of a weight over a quarter of its predicted clearance, smallest over stages."""
    return worst(race, alpha, _exponent, largest=False)


def others_are_powers(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws whose losing weights are below alpha^(c / 4) along every part A."""
    return share_within([exponent(one, alpha) for one in draws.values()], at_least(1.0, "printed"))


study.claim(
    "others-are-powers",
    "From a start of size 1e-300 every weight that loses the race stays below alpha^(c / 4), c "
    "the predicted distance of its logarithm from the ends of the race.",
    boix2023("Lemma C.8"), others_are_powers, in_all_seeds("printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(exponent, "Smallest log_alpha of a weight over c / 4"),
)  # fmt: skip


def escape_error(race: Race, alpha: float) -> float | Missing:
    """Largest relative error of the time at which a part A ends."""
    return worst(race, alpha, lambda r, f, p: abs(p.ends / r.stages.times[p.k] - 1))


def in_time(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which every part A ends within 5 % of the predicted time."""
    return share_within([escape_error(one, alpha) for one in draws.values()], at_most(0.05, "ours"))


study.claim(
    "escape-is-in-time",
    "From a start of size 1e-300 every part A ends within 5 % of the predicted escape time.",
    boix2023("Lemma C.9, (21)"), in_time, in_all_seeds("ours"), on=(runs.toy, TINY),
    fails_on=case("planted: the last long stage predicted 10 % earlier",
                  runs.misread["time"], TINY), holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(escape_error, "Largest relative error of an escape time"),
)  # fmt: skip


def winner_size(race: Race, alpha: float) -> float | Missing:
    """U of the winner as part A ends, over rho; the one farthest from 2."""
    flow = race.of(alpha)
    found = [flow.at(p.ends)[0, race.stages.order[p.k]] / RHO for p in parts(flow, race.stages)]
    return farthest(found, 2) if found else NO_STAGE


def winner_has_grown(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws whose winner's u is between rho and 3 rho as every part A ends."""
    return share_within(
        [winner_size(one, alpha) for one in draws.values()], between(1.0, 3.0, "printed")
    )


study.claim(
    "winner-has-grown",
    "From a start of size 1e-300 the winner's u lies between rho and 3 rho as part A ends.",
    boix2023("Lemma C.9, (24)"), winner_has_grown, in_all_seeds("printed"), on=(runs.toy, TINY),
    fails_on=case(ANOTHER_WINNER, runs.misread["winner"], TINY),
    holds_on=case(LINEAR, runs.linear, TINY),
    note=from_to(winner_size, "U of the winner over rho, the one farthest from 2,"),
)  # fmt: skip


def wrong_signs(race: Race, alpha: float) -> float | Missing:
    """Stages in which the winner's v has another sign than predicted as part A ends."""
    flow, stages = race.of(alpha), race.stages
    found = parts(flow, stages)
    wrong = [np.sign(flow.at(p.ends)[1, stages.order[p.k]]) != stages.signs[p.k] for p in found]
    return float(sum(wrong)) if found else NO_STAGE


def winner_has_its_sign(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws whose winner's v has the predicted sign as every part A ends."""
    return share_within([wrong_signs(one, alpha) for one in draws.values()], at_most(0, "printed"))


study.claim(
    "winner-has-its-sign",
    "From a start of size 1e-300 the winner's v has the sign of its pull as part A ends.",
    boix2023("Lemma C.9, (25)"), winner_has_its_sign, in_all_seeds("printed"), on=(runs.toy, TINY),
    fails_on=case("planted: v turns as the last long stage ends", runs.misread["turned"], TINY),
    holds_on=case("planted: v has its sign from the end of part A on", runs.turning, TINY),
    note=from_to(wrong_signs, "Stages with another sign"),
)  # fmt: skip
