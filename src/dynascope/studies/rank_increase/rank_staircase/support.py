"""Which heads and entries are learned: ties, entries that leave, values before scores."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.measures import exact
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.draws import share_within
from dynascope.studies.rank_increase.rank_staircase import runs
from dynascope.studies.rank_increase.rank_staircase.claims import SMALLEST
from dynascope.studies.rank_increase.rank_staircase.runs import TINY, Heads, study
from dynascope.studies.rank_increase.trajectories import SUPPORT, Followed, escape


def heads_that_grow(found: Heads) -> float:
    """Heads in which an entry is learned in the first stage."""
    sizes = np.abs(found.products).max(axis=1)
    return float(np.sum(sizes > SUPPORT * sizes.max()))


def one_head_grows(draws: dict[int, Heads]) -> Measured | Missing:
    """Share of draws in which an entry of one head alone is learned in the first stage."""
    return share_within([heads_that_grow(one) for one in draws.values()], at_most(1, "printed"))


def share_error(found: Heads, power: float) -> float:
    """Error of the ratio of the tied entries, predicted from their starts."""
    i = int(np.abs(found.products).sum(axis=0).argmax())
    seen, start = np.abs(found.products[:2, i]), found.expected[:2, i]
    return float(abs(seen[0] / seen[1] / (start[0] / start[1]) ** power - 1))


def shared_by_starts(draws: dict[int, Heads], power: float) -> Measured | Missing:
    """Share of draws whose tied entries have within 1 % the ratio predicted from their starts."""
    errors = [share_error(one, power) for one in draws.values()]
    return share_within(errors, at_most(0.01, "derived"))


study.claim(
    "one-head-a-stage",
    "In a layer of two heads the first stage raises the rank of one head alone, which rests on "
    "assumption 4.3.",
    boix2023("section 4, after Thm. 4.1"), one_head_grows, in_all_seeds("printed"),
    on=runs.heads[2], fails_on=case("a layer of three heads", runs.heads[3]),
    holds_on=case("a layer of one head", runs.heads[1]), partner="tied-heads-share",
    note="At z = 0 all heads attend evenly, so that their pulls are equal: assumption 4.3 fails "
    "for every layer with several heads.",
)  # fmt: skip
study.claim(
    "tied-heads-share",
    "Two heads of a layer learn the same entry at once, in the ratio of their squared weights at "
    "the start, within 1 %.",
    boix2023("section 4", how="derived; corrects"), shared_by_starts, in_all_seeds("derived"),
    on=(runs.heads[2], 2.0),
    fails_on=case("the ratio of the weights, not squared", runs.heads[2], 1.0),
    holds_on=case("the first two of three heads", runs.heads[3], 2.0),
    partner="one-head-a-stage",
)  # fmt: skip


def leavers(followed: Followed) -> Measured:
    """Coordinates that leave the support over all stages."""
    return exact(sum(map(len, followed.stages.left)))


def return_error(followed: Followed, alpha: float) -> Measured:
    """Relative error of the time at which the entry that left returns with the other sign."""
    flow, stages = followed.at(alpha), followed.stages
    back = len(stages.order) - 1
    late = flow.times > stages.times[back - 1]
    cut = flow._replace(times=flow.times[late], products=flow.products[late])
    return exact(abs(escape(cut, stages, back) / stages.times[back] - 1))


study.claim(
    "nothing-leaves",
    "An entry that has been learned is never unlearned, whatever the problem.",
    boix2023("app. A", how="a reading of"), leavers, at_most(0, "ours"), on=runs.returning,
    fails_on=case("the same inputs, targets half as large", runs.others["halved"]),
    holds_on=case("white inputs", runs.others["white"]), partner="leavers-return",
    exploratory=True,
    note="The document says it of its toy runs alone, and has assumption 4.3 and Lemma D.4 for "
    "entries that leave; correlated inputs make them.",
)  # fmt: skip
study.claim(
    "leavers-return",
    "An entry that has left the support returns with the other sign a time 2 / |g| later, within "
    "1 % from a start of size 1e-300.",
    boix2023("Alg. 1, (10)"), return_error, at_most(0.01, "ours"), on=(runs.returning, TINY),
    fails_on=case("a start of size 0.01", runs.returning, 1e-2),
    holds_on=case("a start of size 1e-32", runs.returning, SMALLEST), partner="nothing-leaves",
)  # fmt: skip


def pull_on_scores(pull: np.ndarray) -> float:
    """Largest pull on an entry of the scores, relative to the largest of all."""
    return float(np.max(np.abs(pull[: len(pull) // 2])))


def no_pull_on_scores(pulls: dict[int, dict[str, np.ndarray]], place: str) -> Measured | Missing:
    """Share of draws in which nothing pulls on the scores, to 1e-12 of the largest pull of all."""
    largest = [pull_on_scores(one[place]) for one in pulls.values()]
    return share_within(largest, at_most(1e-12, "derived"))


study.claim(
    "values-come-first",
    "At z = 0 nothing pulls on the scores w_K w_Q, so that the first entry learned is one of the "
    "values w_V w_O.",
    boix2023("(4), Fig. 2b", how="derived from"), no_pull_on_scores, in_all_seeds("derived"),
    on=(runs.start_pull, "zero"), fails_on=case("a random z", runs.start_pull, "elsewhere"),
    holds_on=case("other seeds' data", runs.start_pull, "another seed"),
)  # fmt: skip
