"""Which copy is the flattest, and which learning rates lead there."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies.comparisons import at_least, at_most, between, near
from dynascope.studies.measures import average
from dynascope.studies.nodes import case
from dynascope.studies.oscillation.neuron_balance import runs
from dynascope.studies.oscillation.neuron_balance.runs import DROP, END, NEURONS, SCAN, study
from dynascope.theories.oscillation.neuron_balance import flattest_copy

small, below, large = (runs.descents[r] for r in (runs.SMALL, runs.BELOW, runs.LARGE))
at_small, at_large = case("learning rate 0.5", small), case("learning rate 2.6", large)
keeps, equal = (runs.planted[kind] for kind in ("kept", "equal"))
CLOSED = flattest_copy(NEURONS)  # in the population


def flattest_ratio(copies: np.ndarray) -> Measured:
    """The ratio of least sharpness over seeds, by a parabola through the lowest values."""
    found = []
    for seen in copies:
        near = np.abs(SCAN - SCAN[seen.argmin()]) < 0.11
        bend, slope, _ = np.polyfit(SCAN[near], seen[near], 2)
        found.append(-slope / (2 * bend))
    return average(np.array(found))


def stability_limit(copies: np.ndarray, from_ratio: float) -> Measured:
    """2 over the least sharpness of copies of this ratio and more, over seeds."""
    return average(2 / copies[:, from_ratio <= SCAN].min(axis=1))


def formula_error(copies: np.ndarray, formula: np.ndarray) -> Measured:
    """Largest relative difference of the points from a formula, over seeds."""
    return average(np.abs(copies / formula - 1).max(axis=1))


study.claim(
    "flattest", "The flattest copy has |w| / v = 1.21.",
    chen2025("Fig. 3.5 (e, f)"), flattest_ratio, between(1.17, 1.24, "ours"),
    on=runs.copies[NEURONS], fails_on=case("two neurons", runs.copies[2]),
    holds_on=case("twice as many points", runs.more_copies),
    note=f"In the population it is {CLOSED.ratio:.4f}.",
)  # fmt: skip
study.claim(
    "edge", "No copy is stable beyond a learning rate of about 2.5.",
    chen2025("section 3.7.1"), stability_limit, between(2.42, 2.56, "ours"),
    on=(runs.copies[NEURONS], SCAN[0]),
    fails_on=case("copies of ratio 1.6", runs.copies[NEURONS], SCAN[-1]),
    holds_on=case("twice as many points", runs.more_copies, SCAN[0]),
    note=f"In the population it is {CLOSED.stability_limit:.4f}.",
)  # fmt: skip
study.claim(
    "population", "The population's formula for the sharpness of a copy is met by the points.",
    chen2025("Fig. 3.5 (e)", how="derived for"), formula_error, at_most(0.02, "ours"),
    on=(runs.copies[NEURONS], runs.formula[NEURONS]),
    fails_on=case("the formula of 12", runs.copies[NEURONS], runs.formula[12]),
    holds_on=case("twice as many points", runs.more_copies, runs.formula[NEURONS]),
)  # fmt: skip


def drift(seen: runs.Descent) -> Measured:
    """Largest relative change of a ratio after 100 steps, over seeds."""
    return average(np.abs(seen.at("ratios", DROP) / runs.START_RATIOS - 1).max(axis=1))


def spread(seen: runs.Descent) -> Measured:
    """Largest less smallest ratio after 100 steps, over seeds."""
    return average(np.ptp(seen.at("ratios", DROP), axis=1))


def last_ratio(seen: runs.Descent) -> Measured:
    """Mean ratio after the rate was lowered, when nothing oscillates any more."""
    return average(seen.at("ratios", END).mean(axis=1))


kept, met = case("ratios planted as at the start", keeps), case("planted equal ratios", equal)
study.claim(
    "small-rate", "At learning rate 0.5 every neuron keeps its ratio |w| / v.",
    chen2025("Fig. 3.5 (c)"), drift, at_most(0.1, "ours"), on=small, fails_on=at_large,
    holds_on=kept,
)  # fmt: skip
study.claim(
    "equal-ratios", "At learning rate 2.6 all neurons come to the same ratio |w| / v.",
    chen2025("Fig. 3.5 (d)"), spread, at_most(0.15, "ours"), on=large, fails_on=at_small,
    holds_on=met,
)  # fmt: skip
study.claim(
    "below-the-edge",
    "Below the edge, at learning rate 2.3, the neurons do not come to the same |w| / v.",
    chen2025("Fig. 3.5 (d)", how="derived; the other side of"), spread, at_least(0.5, "ours"),
    on=below, fails_on=at_large, holds_on=kept,
)  # fmt: skip
study.claim(
    "the-flattest-ratio",
    "The ratio that all neurons come to at learning rate 2.6 is that of the flattest copy, "
    "about 1.21.",
    chen2025("Fig. 3.5 (d)"), last_ratio, near(1.21, 0.05, "ours"), on=large, fails_on=at_small,
    holds_on=met,
)  # fmt: skip
study.claim(
    "flatter", "Lowered to 0.5, the large rate ends at a flatter minimiser than the small one.",
    chen2025("Fig. 3.5 (b), Obs. 3, 4"), lambda seen: average(seen.at("sharpness", END)),
    at_most(0.85, "ours"), on=large, fails_on=at_small,
    holds_on=case("a planted sharpness of 0.8", equal),
    measures="Sharpness in the last step, mean over seeds.",
)  # fmt: skip
study.claim(
    "converges", "Once the large rate is lowered to 0.5, descent converges.",
    chen2025("Fig. 3.5 (a)"), lambda seen, step: average(seen.at("losses", step)),
    at_most(1e-3, "ours"), on=(large, END), fails_on=case("at step 100", large, DROP),
    holds_on=case("a planted loss of 1e-5", equal, END),
    measures="Loss at the step, mean over seeds.",
)  # fmt: skip
