"""The weakest concept is late, not lost; only a missing rank is a trap."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.measures import average, exact, median, share
from dynascope.studies.nodes import Missing, case
from dynascope.studies.swing_by.sim_failure import runs
from dynascope.studies.swing_by.sim_failure.runs import LAW_MEANS, Followed, study
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.stages import growth_stops, half_crossings

LEARNT = 1e-3  # a test loss below this counts as generalisation
text, program, run_on = runs.figure["text"], runs.figure["program"], runs.run_on
stuck = case("planted entries of which w11 never grows", runs.planted_stuck)


def below_half(run: Run, concept: int = 0) -> np.ndarray:
    """Whether w_kk is below one half at the end, one a start."""
    return run["input_jacobian"].values[:, -1, concept, concept] < 0.5


def unlearned(run: Run, concept: int) -> Measured:
    """Share of starts with w_kk below one half at the end."""
    return share(below_half(run, concept))


def still_unlearned(run: Run, before: Run) -> Measured | Missing:
    """Share of the starts with w11 below one half in a run that have it so in another one."""
    chosen = below_half(before)
    if not chosen.any():
        return Missing("No start of this run seems stuck when the figure ends.")
    return share(below_half(run)[chosen])


def by_when(run: Run, before: Run) -> str:
    """When the last of the starts that seemed stuck has learned it."""
    times = half_crossings(run["input_jacobian"].values, run["time"].values)[:, 0]
    return (f"All of them learn it by time {times[below_half(before)].max():.0f}; the figure ends "
            f"at {before['time'].values[-1]:g}.")  # fmt: skip


AS_IN_THE_TEXT = "the moment matrix A itself, as the text has it"
study.claim(
    "seems-stuck-program",
    "When the figure ends, at least 80 % of the starts have not learned the weakest concept "
    "(A squared).",
    yang2025("E.2, Fig. 10, authors' program"), unlearned, at_least(0.8, "ours"),
    on=(program, 0), fails_on=case(AS_IN_THE_TEXT, text, 0),
    holds_on=case("planted entries of which w11 never grows", runs.planted_stuck, 0),
)  # fmt: skip
study.claim(
    "fails-with-text",
    "With A, as the text has it, some starts (5 % or more) fail to generalise in the program's "
    "time.",
    yang2025("E.2, Fig. 10 with (4.1)"), unlearned, at_least(0.05, "ours"),
    on=(text, 0), fails_on=case("the strongest concept", text, 2),
    holds_on=case("A squared, as the program has it", program, 0),
)  # fmt: skip
study.claim(
    "never-grows",
    "Where w11 was suppressed it never grows: all starts that seem stuck when the figure ends "
    "stay so.",
    yang2025("E.2, Fig. 10"), still_unlearned, in_all_seeds("printed"), on=(run_on, program),
    fails_on=case("the same starts with A, at the program's length", text, program),
    holds_on=case("planted entries of which w11 never grows", runs.planted_stuck, program),
    note=by_when,
)  # fmt: skip


def plateau(run: Run) -> Measured:
    """Median of the largest test loss after the second concept is learned (w22 above 0.99)."""
    learned = growth_stops(run["input_jacobian"].values, run["time"].values)[:, 1]
    after = run["time"].values >= learned[:, None]
    return median(np.where(after, run["test_loss"].values, 0.0).max(axis=1))


study.claim(
    "rests-at-the-false-corner",
    "On the way the output rests at (0, mu_2, mu_3): the median loss is half the square of mu_1, "
    "to 1 %.",
    yang2025("E.2, Fig. 10"), plateau,
    lambda run: near(c := run.experiment.task.means[0] ** 2 / 2, 0.01 * c, "ours"),
    on=program, fails_on=case(AS_IN_THE_TEXT, text), holds_on=stuck,
)  # fmt: skip
study.claim(
    "converges-to-non-zero", "The test loss converges to a value that is not zero.",
    yang2025("E.2, Fig. 10"), lambda run: average(run["test_loss"].values[:, -1]),
    at_least(0.1, "ours"), on=run_on, fails_on=case("A, at the program's length", text),
    holds_on=case("U with two columns for three concepts", runs.two_columns),
    partner="delay-not-trap",
    measures="Test loss at the end, mean over seeds.",
)  # fmt: skip
study.claim(
    "delay-not-trap",
    "The failure to generalise is a delay: run on, all starts generalise.",
    yang2025("E.2", how="corrects"), lambda run: share(run["test_loss"].values[:, -1] < LEARNT),
    in_all_seeds("ours"), on=run_on,
    fails_on=case("U with two columns for three concepts", runs.two_columns),
    holds_on=case("A, at the program's length", text), partner="converges-to-non-zero",
    measures="Share of seeds whose test loss ends as learnt.",
)  # fmt: skip


def told_right(run: Run, predicted: np.ndarray) -> Measured:
    """Share of starts of which a predicted time tells rightly whether they are late."""
    return share((predicted > run["time"].values[-1]) == below_half(run))


def time_error(measured: np.ndarray, predicted: np.ndarray) -> Measured:
    """Median relative error of predicted times."""
    return median(np.abs(predicted / measured - 1))


study.claim(
    "schur-tells-who-is-late",
    "The start tells who will be late: w11 is below one half at the program's end exactly where "
    "the Schur law says so, for 95 % of the starts or more.",
    yang2025("Fig. 10", how="this project, on"), told_right, at_least(0.95, "ours"),
    on=(program, runs.half["schur"]),
    fails_on=case("the naive estimate", program, runs.half["naive"]),
    holds_on=case("planted entries that are late where it says so", runs.planted_late,
                  runs.half["schur"]),
)  # fmt: skip
study.claim(
    "schur-tells-when",
    "The start tells when w11 passes one half: the median error of the Schur law's time is "
    "at most 1 %.",
    yang2025("Fig. 10", how="this project, on"), time_error,
    at_most(0.01, "ours"), on=(runs.half["measured"], runs.half["schur"]),
    fails_on=case("the naive estimate", runs.half["measured"], runs.half["naive"]),
    holds_on=case("planted entries that grow alone", runs.planted_half["measured"],
                  runs.planted_half["schur"]),
)  # fmt: skip


def flow_gap(followed: Followed) -> Measured:
    """Largest gap of the test loss to the flow, over its first value, on average over seeds."""
    measured, predicted = (x["test_loss"].values for x in followed)
    return average(np.abs(measured - predicted).max(axis=1) / measured[:, 0])


def per_step(followed: Followed) -> str:
    """How much of the strongest direction a step learns; the program's rate is in paper time."""
    of = followed.run.experiment
    coarse = 2 * of.dynamics.learning_rate * float(signal(of.task).max())
    return f"The program's rate is coarse for the strongest signal: {coarse:.2g} of it per step."


study.claim(
    "theory-over-simulation",
    "At the program's rate, the exact flow follows the simulated test loss within 5 % of its first "
    "value, to the end, on average over seeds.",
    yang2025("(4.3), with the factor 2 that its derivation drops"), flow_gap,
    at_most(0.05, "ours"), on=runs.followed,
    fails_on=case("the same flow read at the printed clock", runs.slow_followed),
    holds_on=case("two percent off, planted", runs.planted_followed), note=per_step,
)  # fmt: skip


def final_loss(run: Run) -> np.ndarray:
    """Of narrow models, (means, width, seed)."""
    return run["test_loss"].isel(step=-1).transpose("task.means", "model.width", "seed").values


def keeps_to_law(run: Run, law: np.ndarray) -> Measured:
    """Share of seeds that end within 0.001 of the law, (means, width), at all of them."""
    return share(np.abs(final_loss(run) - law[..., None]).max(axis=(0, 1)) <= 1e-3)


study.claim(
    "narrow-is-a-trap",
    "A model with fewer columns than concepts is trapped: in all seeds it learns the strongest "
    "ones and keeps half the squared mean of each other one, to 0.001.",
    yang2025("E.2", how="this project (bottleneck law), on"), keeps_to_law, in_all_seeds("ours"),
    on=(runs.narrow, runs.laws["strongest"]),
    fails_on=case("weak concepts learned instead", runs.narrow, runs.laws["weakest"]),
    holds_on=case("planted losses", runs.planted_traps["narrow"], runs.laws["strongest"]),
    note=lambda run, _: f"Losses left at widths 1, 2, 3 with means {LAW_MEANS}: "
    + ", ".join(f"{x:.3f}" for x in final_loss(run)[1].mean(axis=1)) + ".",
)  # fmt: skip


def from_width_one(run: Run, law: np.ndarray, start: int) -> Measured:
    """How far a start of full width ends from what the law says of width 1."""
    return exact(abs(run["test_loss"].values[start, 0, -1] - law[1, 0]))


study.claim(
    "missing-rank-is-a-trap",
    "A wide model that starts with rank one is trapped like a model of width 1, to 0.001.",
    yang2025("E.2 and assumption D.1", how="this project, on"), from_width_one,
    at_most(1e-3, "ours"), on=(runs.rank_one, runs.laws["strongest"], 0),
    fails_on=case("the same with a thousandth added to the diagonal", runs.rank_one,
                  runs.laws["strongest"], 1),
    holds_on=case("a planted loss", runs.planted_traps["rank one"], runs.laws["strongest"], 0),
)  # fmt: skip
study.claim(
    "leaves-from-below",
    "The weakest major entry leaves its initial size downwards: in at least 80 % of the starts it "
    "falls below half of it before it grows.",
    yang2025("E.3"), lambda lowest, concept: share(lowest[:, concept] < 0.5),
    at_least(0.8, "ours"), on=(runs.lowest, 0),
    fails_on=case("the strongest entry", runs.lowest, 2),
    holds_on=case("planted entries that fall to 0.3", runs.planted_lowest, 0),
    measures="Share of starts in which the entry falls below half of its initial size.",
)  # fmt: skip
study.claim(
    "schur-share-is-the-floor",
    "In all starts the weakest major entry stays above the share of its start that is its own, "
    "S_1 / w_11(0).",
    yang2025("E.3", how="this project, on"),
    lambda lowest, own, concept: share(lowest[:, 0] >= own[:, concept]), in_all_seeds("ours"),
    on=(runs.lowest, runs.own, 0),
    fails_on=case("the own share of the strongest entry, which is all of it", runs.lowest,
                  runs.own, 2),
    holds_on=case("planted entries that fall to 0.3, of which 0.19 is their own",
                  runs.planted_lowest, runs.planted_own, 0),
    note=lambda lowest, own, _: f"Median: own share {np.median(own[:, 0]):.3f}, lowest "
    f"{np.median(lowest[:, 0]):.3f} of the start.",
    measures="Share of starts in which the weakest entry stays above its own share.",
)  # fmt: skip
study.claim(
    "printed-recursion-stays",
    "The recursion on W, iterated as printed, stays bounded from all starts of Fig. 10.",
    yang2025("(D.2), Fig. 10", how="a reading of"), lambda ran_away: share(ran_away < 0),
    in_all_seeds("ours"), on=runs.recursion["code"],
    fails_on=case(AS_IN_THE_TEXT, runs.recursion["text"]),
    holds_on=case("the same starts without minor entries", runs.recursion["uncorrelated"]),
    note=lambda ran_away: f"It runs away from {(ran_away >= 0).mean():.0%} of them. The text does "
    "not say that it stays bounded where its assumptions break.",
    exploratory=True,
    measures="Share of starts from which the recursion stays bounded.",
)  # fmt: skip
