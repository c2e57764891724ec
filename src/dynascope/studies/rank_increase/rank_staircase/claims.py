"""Escape times, plateaus and their limit; what the document states and what has to be corrected."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023, derived
from dynascope.studies.comparisons import at_most, in_all_seeds
from dynascope.studies.measures import average
from dynascope.studies.nodes import Missing, case
from dynascope.studies.rank_increase.draws import from_to, share_within
from dynascope.studies.rank_increase.rank_staircase import runs
from dynascope.studies.rank_increase.rank_staircase.runs import SEPARATE, TINY, Times, study
from dynascope.studies.rank_increase.trajectories import (
    Followed,
    escape,
    escape_error,
    largest_entries_ratio,
    largest_ratio,
    plateau_error,
    separated,
    wrong_entries,
)
from dynascope.theories import Stages

SMALLEST, LARGE = 1e-32, 0.1
FALLS = at_most(0.99, "ours")  # a ratio
IN_TIME = at_most(0.05, "ours")  # a relative error
NONE = at_most(0, "printed")  # a count

Draws = dict[int, Followed]


def begins_in_time(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which every separated stage begins within 5 % of the predicted time."""
    return share_within([escape_error(one, alpha) for one in draws.values()], IN_TIME)


def rests_on_losses(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws whose loss is on every long plateau the predicted one within 0.1 %."""
    errors = [plateau_error(one, alpha) for one in draws.values()]
    return share_within(errors, at_most(1e-3, "ours"))


def learns_as_predicted(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which exactly the predicted entries are learned on every long plateau."""
    return share_within(
        [wrong_entries(one, alpha) for one in draws.values()], at_most(0, "printed")
    )


for _slug, _words, _place, _measure, _bound, _note in (
    ("escape-times",
     "From a start of size 1e-32 every stage that is 0.1 or more away from the next begins within "
     "5 % of the time that Algorithm 1 predicts.",
     "Thm. 4.1, (11), Fig. 2a", begins_in_time, in_all_seeds("ours"),
     from_to(escape_error, "Largest relative error of an escape time")),
    ("plateau-losses",
     "From a start of size 1e-32 the loss in the middle of every long plateau is the predicted one "
     "within 0.1 %.",
     "Thm. 4.1, Fig. 2a", rests_on_losses, in_all_seeds("ours"),
     from_to(plateau_error, "Largest relative error of a plateau's loss")),
    ("one-entry-a-stage",
     "From a start of size 1e-32 the entries that are learned in the middle of every long plateau "
     "are exactly the predicted ones, of which each stage adds at most one.",
     "Thm. 1.1, Thm. 4.1, Fig. 2b", learns_as_predicted, in_all_seeds("ours"),
     from_to(wrong_entries, "The theorem is a limit: the size of the start, and how long a plateau "
             "must be, are ours. Wrong entries on long plateaus")),
):  # fmt: skip
    study.claim(
        _slug, _words, boix2023(_place), _measure, _bound, on=(runs.toy, SMALLEST), note=_note,
        fails_on=case("a start of size 0.1", runs.toy, LARGE),
        holds_on=case("diagonal linear networks with stages in closed form, two of them tied",
                      runs.tied, SMALLEST),
    )  # fmt: skip


def wrong_entries_when_long(followed: Followed, alpha: float) -> float | Missing:
    """The same count on plateaus that last a tenth of the time at which they end."""
    return wrong_entries(followed, alpha, 0.1)


def learns_as_predicted_when_long(draws: Draws, alpha: float) -> Measured | Missing:
    """Share of draws in which exactly the predicted entries are learned on plateaus of a tenth.

    On those that last a tenth of the time at which they end, or longer.
    """
    return share_within([wrong_entries_when_long(one, alpha) for one in draws.values()], NONE)


study.claim(
    "one-entry-a-stage-near-the-limit",
    "From a start of size 1e-300 the entries that are learned in the middle of every plateau that "
    "lasts a tenth of the time at which it ends are exactly the predicted ones, of which each "
    "stage adds at most one.",
    boix2023("Thm. 1.1, Thm. 4.1, Fig. 2b"), learns_as_predicted_when_long, in_all_seeds("printed"),
    on=(runs.limit, TINY), fails_on=case("a start of size 0.1", runs.toy, LARGE),
    holds_on=case("diagonal linear networks with stages in closed form, two of them tied",
                  runs.tied, SMALLEST),
    partner="one-entry-a-stage",
    note=from_to(wrong_entries_when_long, "An entry needs some 1 / (|g| log(1 / alpha)) of the "
                 "rescaled time, and |g| is about 1 / T. Wrong entries on those plateaus"),
)  # fmt: skip


def comes_closer(draws: Draws) -> Measured | Missing:
    """Share of draws whose loss is nearer to the staircase, by 1 % or more, at each smaller start.

    The distance is the mean over the run.
    """
    return share_within([largest_ratio(one) for one in draws.values()], FALLS)


def entries_come_closer(draws: Draws, half: int) -> Measured | Missing:
    """Share of draws whose entries are nearer to the predicted ones at each smaller start.

    By 1 % or more, in the mean over the run and over the entries of one half of z.
    """
    return share_within([largest_entries_ratio(one, half) for one in draws.values()], FALLS)


RATIO = "Largest ratio of the distance at a start to that at the next larger one"

study.claim(
    "closer-with-smaller-starts",
    "The mean distance of the loss to the predicted staircase falls with every smaller start, from "
    "1e-1 to 1e-32.",
    boix2023("Fig. 2a"), comes_closer, in_all_seeds("ours"), on=runs.toy,
    fails_on=case("the same scales in the opposite order", runs.larger_first),
    holds_on=case("a diagonal linear network", runs.separate), note=from_to(largest_ratio, RATIO),
)  # fmt: skip

for _half, (_slug, _words, _place) in enumerate((
    ("scores-converge", "w_K w_Q", "Fig. 8"), ("values-converge", "w_V w_O", "Fig. 9"),
)):  # fmt: skip
    study.claim(
        _slug,
        f"The mean distance of the entries of {_words} to the predicted ones falls with every "
        "smaller start, from 1e-1 to 1e-32.",
        boix2023(_place), entries_come_closer, in_all_seeds("ours"), on=(runs.toy, _half),
        fails_on=case("the same scales in the opposite order", runs.larger_first, _half),
        holds_on=case("a diagonal linear network", runs.separate, _half),
        note=from_to(largest_entries_ratio, RATIO),
    )  # fmt: skip


def first_time_error(followed: Followed, start: float, alpha: float) -> float:
    """Relative error of the first escape time that Algorithm 1 predicts from a first b."""
    flow, stages = followed.at(alpha), followed.stages
    pull = SEPARATE  # g at z = 0 on white inputs
    waits = np.where(pull > 0, start, 2 - start) / np.abs(pull)
    return float(abs(escape(flow, stages, 0) - waits.min()) / escape(flow, stages, 0))


def first_in_time(draws: Draws, start: float, alpha: float) -> Measured | Missing:
    """Share of starts from which the first escape is within 5 % of the time predicted from b."""
    return share_within([first_time_error(one, start, alpha) for one in draws.values()], IN_TIME)


FIRST = from_to(first_time_error, "Relative error of the first escape time")

study.claim(
    "start-as-printed",
    "With b = 0 at the start, as Algorithm 1 is printed, the first escape time is predicted within "
    "5 %.",
    boix2023("Alg. 1, line 1"), first_in_time, in_all_seeds("ours"),
    on=(runs.separate, 0.0, TINY), note=FIRST,
    fails_on=case("b = 1/2 at the start", runs.separate, 0.5, TINY),
    holds_on=case("b = 1 at the start", runs.separate, 1.0, TINY), partner="start-at-one",
)  # fmt: skip
study.claim(
    "start-at-one",
    "With b = 1 at the start the first escape time min 1 / |g| is predicted within 5 %.",
    boix2023("app. C.5", how="corrects Alg. 1 by"), first_in_time, in_all_seeds("ours"),
    on=(runs.separate, 1.0, TINY), note=FIRST,
    fails_on=case("b = 0 at the start", runs.separate, 0.0, TINY),
    holds_on=case("a start of size 1e-32", runs.separate, 1.0, SMALLEST),
    partner="start-as-printed",
)  # fmt: skip


def spread_of_errors(escapes: dict[float, np.ndarray], predicted: np.ndarray) -> float:
    """Largest over smallest of |escape / T - 1| log(1 / alpha), over scales below 1e-3."""
    late = [
        np.abs(times / predicted - 1).max() * np.log(1 / alpha)
        for alpha, times in escapes.items() if alpha < 1e-3
    ]  # fmt: skip
    return float(np.max(late) / np.min(late))


def errors_like_one_over_log(escapes: Times, draws: Draws) -> Measured | Missing:
    """Share of starts whose error of escape times, times log(1 / alpha), varies by 10 % at most.

    Over scales below 1e-3; at each of them the largest over stages.
    """
    spreads = [spread_of_errors(escapes[k], one.stages.times) for k, one in draws.items()]
    return share_within(spreads, at_most(1.1, "ours"))


study.claim(
    "error-falls-like-one-over-log",
    "The relative error of the escape times of a diagonal linear network is a constant over "
    "log(1 / alpha), within 10 % over all starts from 1e-4 to 1e-300.",
    boix2023("Thm. 4.1", how="derived; makes the limit exact in"), errors_like_one_over_log,
    in_all_seeds("ours"), on=(runs.escape_times, runs.separate),
    fails_on=case("an error that does not fall", runs.steady_times, runs.separate),
    holds_on=case("planted entries that are learned at the times of the closed form",
                  runs.planted_times, runs.separate),
)  # fmt: skip


def closed_form_error(
    escapes: dict[float, np.ndarray], expected: dict[float, np.ndarray], alpha: float
) -> float:
    """Largest relative error of the closed form's half-times, at the scale nearest to alpha."""
    nearest = min(escapes, key=lambda scale: abs(np.log(scale / alpha)))
    return float(np.max(np.abs(escapes[nearest] / expected[nearest] - 1)))


def at_closed_times(escapes: Times, expected: Times, alpha: float) -> Measured | Missing:
    """Share of starts from which each entry is half learned within 0.2 % of the closed form."""
    errors = [closed_form_error(one, expected[k], alpha) for k, one in escapes.items()]
    return share_within(errors, at_most(2e-3, "ours"))


study.claim(
    "closed-form",
    "A diagonal linear network on white inputs has half learned each entry at the closed form's "
    "time within 0.2 %, even from a start of size 0.1.",
    derived("derived from boix2023 Lemma 4.2"), at_closed_times, in_all_seeds("ours"),
    on=(runs.escape_times, runs.closed_times["own"], LARGE),
    fails_on=case("the closed form for another start", runs.escape_times,
                  runs.closed_times["another start"], LARGE),
    holds_on=case("a start of size 1e-32", runs.escape_times, runs.closed_times["own"], SMALLEST),
)  # fmt: skip


def order_error(followed: Followed, corrected: Stages, alpha: float = 1e-8) -> float | Missing:
    """Mean error of corrected escape times over that of plain ones, on separated stages.

    Of those that may begin a fifth late and still do so within the run.
    """
    flow, plain = followed.at(alpha), followed.stages
    chosen = [k for k in separated(plain, flow.times[-1] / 1.2)
              if plain.order[k] in corrected.order]  # fmt: skip
    if not chosen:
        return Missing("no stage is separated from its neighbours")
    seen = np.array([escape(flow, plain, k) for k in chosen])
    rows = [int(np.flatnonzero(corrected.order == plain.order[k])[0]) for k in chosen]
    errors = np.abs(corrected.times[rows] - seen), np.abs(plain.times[chosen] - seen)
    return float(errors[0].mean() / errors[1].mean())


def mean_order_error(draws: Draws, corrected: dict[int, Stages]) -> Measured | Missing:
    """Error of corrected escape times over that of plain ones, mean over draws.

    Each draw's errors are means over its separated stages.
    """
    found = [order_error(one, corrected[seed]) for seed, one in draws.items()]
    known = [x for x in found if not isinstance(x, Missing)]
    return average(known) if known else Missing("no stage is separated from its neighbours")


study.claim(
    "finite-start-corrected",
    "At a start of size 1e-8, Algorithm 1 that begins from the logarithms of the true weights "
    "has on average at most half the error in escape times of the one that takes the limit.",
    derived("derived from boix2023 (10), (19)"), mean_order_error, at_most(0.5, "ours"),
    on=(runs.toy, runs.corrected["own"]),
    fails_on=case("logarithms of another seed's weights", runs.toy, runs.corrected["other"]),
    holds_on=case("a diagonal linear network", runs.quarter, runs.quarter_corrected),
    exploratory=True,
)  # fmt: skip


def drift(kept: np.ndarray) -> float:
    """Largest relative change of u^2 - v^2."""
    return float(np.max(np.abs(kept[-1] / kept[0] - 1)))


def conserves(moved: dict[int, dict[str, np.ndarray]], along: str) -> Measured | Missing:
    """Share of starts whose u_i^2 - v_i^2 change by no more than a millionth."""
    return share_within([drift(one[along]) for one in moved.values()], at_most(1e-6, "derived"))


study.claim(
    "conserved", "Gradient flow conserves u_i^2 - v_i^2 of every coordinate to 1e-6.",
    boix2023("Lemma 4.2"), conserves, in_all_seeds("derived"), on=(runs.moved, "flow"),
    fails_on=case("gradient descent at rate 0.05, whose steps multiply it by 1 - (rate g)^2",
                  runs.moved, "descent"),
    holds_on=case("correlated inputs", runs.moved, "correlated"),
)  # fmt: skip
