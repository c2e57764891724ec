"""One layer follows the theorem; the order flips where signals meet; networks keep the order."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.extremes import largest_distance, smallest
from dynascope.studies.measures import average, exact, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.sim_order import runs
from dynascope.studies.swing_by.sim_order.paths import half_way, winding
from dynascope.studies.swing_by.sim_order.runs import GRID_SCALES, Reading, study
from dynascope.theories.swing_by.closed_form import order_flip_scale
from dynascope.theories.swing_by.stages import crossing_times

one_layer, two_layers, relu = (runs.models[m] for m in ("one layer", "two layers", "relu"))
second_first, first_first = (runs.planted_bends[k] for k in ("second first", "first first"))


def follows(run: Run, predicted: np.ndarray) -> Measured:
    """Share of seeds that stay within 2 % of the target of a prediction, in all settings."""
    targets = np.array([np.hypot(*task.means) for task in run.experiment.over[0][1]])
    gaps = np.linalg.norm(run["output_at"].values - predicted, axis=-1).max(axis=2)
    return share((gaps / targets[:, None]).max(axis=0) <= 0.02)


def preferences(run: Run) -> np.ndarray:
    """Concept 1's share at half-way, (setting, seed)."""
    pairs = zip(run["output_at"].values, run.experiment.over[0][1])
    return np.array([half_way(output, task.means)[..., 0] for output, task in pairs])


def preference(setting: int, run: Run) -> Measured:
    """Concept 1's share at half-way in one setting, over seeds."""
    return average(preferences(run)[setting])


def gap_to_signals(run: Run, predicted: np.ndarray) -> Measured:
    """Largest gap over settings between the mean preference and a predicted one."""
    seen = preferences(run)
    return largest_distance((average(p), x) for p, x in zip(seen, predicted, strict=True))


def listed(run: Run, _: np.ndarray) -> str:
    """The preferences in words."""
    numbers = ", ".join(f"{p:.2f}" for p in preferences(run).mean(axis=1))
    return f"Means (1,2), (2,2), (3,2), then scales 0.1, 0.5, 1, 2: {numbers}."


study.claim(
    "one-layer-follows-theorem",
    "In all seeds the output of one layer follows the closed form, started from the same "
    "weights, within 2 % of the target at every moment.",
    yang2025("Theorem 4.1, Figs. 2a, 2b"), follows, in_all_seeds("ours"),
    on=(one_layer, runs.closed_form["own"]),
    fails_on=case("the formula with a cluster at the origin counted", one_layer,
                  runs.closed_form["with origin"]),
    holds_on=case("planted outputs, written out", runs.planted_one_layer, runs.closed_form["own"]),
)  # fmt: skip
study.claim(
    "bulge-to-the-larger-mean",
    "With means (1, 2) the output of one layer bulges towards the second concept: the first "
    "has on average less than 0.4 of its way behind it at half-way.",
    yang2025("Fig. 2a"), preference, at_most(0.4, "ours"), on=(0, one_layer),
    fails_on=case("means (2, 2)", 1, one_layer),
    holds_on=case("planted outputs that bulge", 0, second_first["one layer"]),
)  # fmt: skip
study.claim(
    "half-way-by-signal",
    "At half-way the mean preference of one layer is what the signals predict from a start at "
    "zero, within 0.05 in all seven settings.",
    yang2025("Figs. 2a, 2b; Theorem 4.1"), gap_to_signals, at_most(0.05, "ours"),
    on=(one_layer, runs.predicted["one layer"]["signals"]),
    fails_on=case("signals from the means alone", one_layer,
                  runs.predicted["one layer"]["means alone"]),
    holds_on=case("planted outputs that grow from zero", runs.planted_growth["one layer"],
                  runs.predicted["one layer"]["signals"]), note=listed,
)  # fmt: skip
study.claim(
    "preference-flips",
    "As its cluster gets wider, the weaker concept is preferred: at scale 2 it has on average "
    "more than half of its way behind it at half-way.",
    yang2025("Fig. 2b"), preference, at_least(0.5, "ours"), on=(-1, one_layer),
    fails_on=case("scale 0.05", 0, one_layer),
    holds_on=case("planted outputs that bulge", -1, first_first["one layer"]),
)  # fmt: skip


def flip_scale(delays: np.ndarray) -> Measured:
    """Scale of concept 1 at which t_1 - t_2 over GRID_SCALES falls through zero."""
    return exact(float(crossing_times(-delays, GRID_SCALES, 0.0)))


def predicted_flip(reading: Reading) -> float:
    """Scale of concept 1 at which both signals are equal, in the reading's own unit."""
    if reading == "text":
        return order_flip_scale((1.0, 2.0), 0.05, clusters=2)
    return order_flip_scale((1.0, 2.0), 0.05**0.5, clusters=3) ** 2  # of a variance


def ordered_by(times: np.ndarray, first_is_larger: np.ndarray) -> Measured:
    """Share of the grid where the concept said to be the larger one comes first."""
    return exact(((times @ (1, -1) < 0) == first_is_larger).mean())


study.claim(
    "flip-where-signals-meet",
    "From zero, the order flips where the two signals are equal: at the standard deviation "
    "sqrt(0.05^2 + 3/2) = 1.2258.",
    yang2025("Theorem 4.1, Fig. 2b as the text reads it (K = 2)"), flip_scale,
    near(predicted_flip("text"), 0.002, "derived"), on=runs.delays["text"],
    fails_on=case("the program's reading (K = 3, variances)", runs.delays["code"]),
    holds_on=case("planted outputs that grow from zero", runs.planted_delays["text"]),
)  # fmt: skip
study.claim(
    "flip-in-the-program",
    "In the authors' reading, three clusters and scales as variances, the order flips at "
    "0.05 + 3/3 = 1.05.",
    yang2025("Fig. 2b", how="authors' program for"), flip_scale,
    near(predicted_flip("code"), 0.002, "derived"), on=runs.delays["code"],
    fails_on=case("the text's reading", runs.delays["text"]),
    holds_on=case("planted outputs that grow from zero", runs.planted_delays["code"]),
    note="An offset does not move it: at equal signals mean and test point stay parallel.",
)  # fmt: skip
study.claim(
    "signal-sets-the-order",
    "Over a grid of means and scales the concept with the larger signal is learned first, "
    "every time.",
    yang2025("Theorem 4.1, order of learning"), ordered_by, near(1.0, 0.0, "derived"),
    on=(runs.times_by_mean, runs.larger["signal"]),
    fails_on=case("order by the means alone", runs.times_by_mean, runs.larger["means alone"]),
    holds_on=case("planted outputs that grow from zero", runs.planted_times["text"],
                  runs.larger["signal"]),
)  # fmt: skip


def rank_correlation(run: Run, predicted: np.ndarray) -> Measured:
    """Rank correlation over settings of each seed's preferences with predicted ones."""
    from scipy.stats import spearmanr  # slow to load

    return average(np.array([spearmanr(p, predicted).statistic for p in preferences(run).T]))


def turns(models: dict[str, Run], name: str) -> Measured:
    """Total change of direction with means (2, 2)."""
    return average(winding(models[name]["output_at"].values[1]))


for slug, words, figure, name in (
    ("two-layer-linear-same-order", "Two linear layers prefer the concepts in the same order of "
     "settings as the signals: rank correlation of at least 0.9 over the seven settings, on "
     "average over seeds.", "Fig. 11", "two layers"),
    ("relu-same-order", "A two-layer ReLU network prefers the concepts in the same order of "
     "settings as the signals: rank correlation of at least 0.9, on average over seeds.",
     "Fig. 12", "relu"),
):  # fmt: skip
    by_signal, by_mean = (runs.predicted[name][k] for k in ("signals", "means alone"))
    study.claim(
        slug, words, yang2025(figure), rank_correlation, at_least(0.9, "ours"),
        on=(runs.models[name], by_signal),
        fails_on=case("signals from the means alone", runs.models[name], by_mean),
        holds_on=case("planted outputs that grow from zero", runs.planted_growth[name], by_signal),
        note=listed,
    )  # fmt: skip
study.claim(
    "networks-flip",
    "Both kinds of two-layer networks prefer the weaker concept once its cluster is wide: on "
    "average it has more than half of its way behind it at half-way.",
    yang2025("Figs. 11, 12"), lambda k, *both: smallest(preference(k, run) for run in both),
    at_least(0.5, "ours"), on=(-1, two_layers, relu),
    fails_on=case("scale 0.05", 0, two_layers, relu),
    holds_on=case("planted outputs that bulge", -1, first_first["two layers"],
                  first_first["relu"]),
    measures="Share of the weaker concept's way at half-way, mean over "
    "seeds; the smaller of both kinds.",
)  # fmt: skip
study.claim(
    "two-layers-more-irregular",
    "On the way to an equally strong pair, where one layer goes straight, two linear layers "
    "change direction by at least 0.02 radians in total, on average.",
    yang2025("Fig. 11; Theorem 4.1"), turns, at_least(0.02, "ours"),
    on=(runs.models, "two layers"), fails_on=case("one layer", runs.models, "one layer"),
    holds_on=case("planted outputs that turn once", second_first, "two layers"),
    note=lambda models, _: f"ReLU networks (Fig. 12) wind by {turns(models, 'relu').value:.1f}, "
    "noise of the batches included.",
)  # fmt: skip
