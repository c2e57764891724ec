"""One layer approaches its target exponentially, and does not swing by from a small start."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.probes import bump, terminal_rate
from dynascope.studies.comparisons import at_most, in_all_seeds, near
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.events import SMALL_RISE, swings
from dynascope.studies.swing_by.sim_slowdown import runs
from dynascope.studies.swing_by.sim_slowdown.runs import CROSS_WEIGHTS, study
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping

ROUND_OFF = 1e-10  # moves below this are not compared

flow, descent = runs.exact["flow"], runs.exact["descent"]
one_layer = runs.slow["one layer"]
two_layers = case("two layers from a small start", runs.slow["two layers"])


def within(run: Run, predicted: np.ndarray, most: float) -> Measured:
    """Share of seeds whose output at the test point is never farther from a prediction."""
    return share(np.abs(run["output_at"].values - predicted).max(axis=(1, 2)) <= most)


study.claim(
    "closed-form-of-the-flow",
    "In all seeds the closed form equals the simulated gradient flow to 1e-7 at every time.",
    (yang2025("Theorem 4.1"), yang2024("Theorem A.1")), within, in_all_seeds("derived"),
    on=(flow, runs.closed_forms["flow"]["exponential"], 1e-7),
    fails_on=case("powers (1 - 0.05 a)^n instead", flow, runs.closed_forms["flow"]["powers"], 1e-7),
    holds_on=case("planted outputs, written out", runs.planted_exact["flow"],
                  runs.closed_forms["flow"]["exponential"], 1e-7),
)  # fmt: skip
study.claim(
    "closed-form-of-descent",
    "With (1 - rate a)^n in place of the exponential, the closed form equals gradient descent "
    "to round-off (1e-12), in all seeds.",
    yang2025("Theorem 4.1 for discrete steps", how="derivation of"), within,
    in_all_seeds("derived"), on=(descent, runs.closed_forms["descent"]["powers"], 1e-12),
    fails_on=case("the exponential instead", descent, runs.closed_forms["descent"]["exponential"],
                  1e-12),
    holds_on=case("planted outputs, written out", runs.planted_exact["descent"],
                  runs.closed_forms["descent"]["powers"], 1e-12),
)  # fmt: skip


def slowing(run: Run) -> Measured:
    """Share of intervals in which an output of seed 0 moves less than in the one before."""
    moves = np.diff(run["output_at"].values[0], axis=0)  # (interval, output)
    clear = moves[:-1] > ROUND_OFF
    return exact((np.diff(moves, axis=0) < 0)[clear].mean())


study.claim(
    "growth-always-slows-down",
    "From zero, each output grows more slowly at every moment than before.",
    (yang2024("(A.4)"), yang2025("section 3.2")), slowing, near(1.0, 0.0, "derived"),
    on=one_layer, fails_on=two_layers,
    holds_on=case("planted outputs (1 - exp(-t)) mean", runs.planted_slow),
)  # fmt: skip


def final_rate(run: Run) -> Measured:
    """Exponential rate at which the test loss of seed 0 ends."""
    return exact(terminal_rate(run["test_loss"].values[0], run["time"].values).rate)


study.claim(
    "exponential-approach",
    "The test loss ends as an exponential with twice the smallest signal as its rate.",
    yang2025("Theorem 4.1, section 3.2"), final_rate,
    lambda run: near(r := 2 * float(signal(run.experiment.task).min()), 0.01 * r, "ours"),
    on=one_layer, fails_on=two_layers,
    holds_on=case("a planted exponential of this rate", runs.planted_slow),
)  # fmt: skip
study.claim(
    "monotone-from-a-small-start",
    "From half the default start, in two dimensions, the test loss of one layer rises in at most "
    "1 % of the starts.",
    yang2025("section 4.1: weights far below 1 / (s max mean)"), swings, at_most(0.01, "ours"),
    on=runs.by_size[0.5], fails_on=case("the default start", runs.by_size[1.0]),
    holds_on=case("planted losses that only fall", runs.planted_fall),
)  # fmt: skip
study.claim(
    "monotone-from-the-default-start",
    "From the default start in two dimensions one layer does not swing by: at most 1 % of starts.",
    yang2025("sections 3.2, 3.3 and Fig. 2, taken without the condition on the start"),
    swings, at_most(0.01, "ours"),
    on=runs.by_size[1.0], fails_on=case("twice the default start", runs.by_size[2.0]),
    holds_on=case("half the default start", runs.by_size[0.5]),
)  # fmt: skip
study.claim(
    "monotone-in-high-dimension",
    "In 64 dimensions the test loss of one layer rises by less than 0.2 % of its first value "
    "in all seeds.",
    yang2025("Figs. 2a, 2b, section 3.2"),
    lambda run: share(bump(run["test_loss"].values) <= SMALL_RISE), in_all_seeds("ours"),
    on=runs.high_dimension, fails_on=case("two dimensions", runs.by_size[1.0]),
    holds_on=case("planted losses that only fall", runs.planted_fall),
    measures="Share of seeds whose test loss rises by less than 0.2 % of its first value.",
)  # fmt: skip


def largest_rise(error: np.ndarray) -> np.ndarray:
    """Largest rise after a minimum, (..., time) to (...), in the error's own unit."""
    return (error - np.minimum.accumulate(error, axis=-1)).max(axis=-1)


def rises(run: Run, of_error: bool) -> np.ndarray:
    """By cross weight: how far output 1 strays from its target, or how far the loss rises."""
    error = np.abs(run["output_at"].values[:, 0, :, 0] - run.experiment.task.means[0])
    return largest_rise(error) if of_error else bump(run["test_loss"].values[:, 0])


def first_rise(run: Run, of_error: bool) -> Measured:
    """The smallest cross weight with a rise, or infinity."""
    risen = np.flatnonzero(rises(run, of_error) > 1e-9)
    return exact(CROSS_WEIGHTS[risen[0]] if risen.size else np.inf)


def predicted_weight(task: IdentityMapping) -> float:
    """The cross weight from which on output 1 strays: a_1 mean_1 / (a_2 mean_2)."""
    weak, strong = signal(task) * task.means
    return float(weak / strong)


study.claim(
    "one-output-strays-first",
    "With one cross weight w_12(0), the first output moves away from its target once "
    "w_12(0) a_2 mean_2 exceeds a_1 mean_1, long before the loss rises.",
    yang2025("Theorem 4.1", how="derivation of"), first_rise,
    lambda run, _: near(predicted_weight(run.experiment.task), CROSS_WEIGHTS[1], "ours"),
    on=(runs.one_cross_weight, True),
    fails_on=case("the test loss", runs.one_cross_weight, False),
    holds_on=case("planted outputs, written out", runs.planted_cross, True),
)  # fmt: skip
