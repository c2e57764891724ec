"""How many training points lie near the test point, and what changes without them."""

import numpy as np
from scipy.special import chndtr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.probes import bump
from dynascope.studies.comparisons import Bound, at_most, in_all_seeds, near
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.sim_separation import runs
from dynascope.studies.swing_by.sim_separation.runs import Cloud, study
from dynascope.tasks import IdentityMapping

whole, truncated = runs.clouds[False], runs.clouds[True]
narrow, narrow_cut = runs.networks["narrow, whole"], runs.networks["narrow, truncated"]
wide, wide_cut = runs.networks["wide, whole"], runs.networks["wide, truncated"]


def distances(cloud: Cloud) -> np.ndarray:
    """Distance of every point to the test point, (seed, sample)."""
    return np.linalg.norm(cloud.points - np.array(cloud.task.means), axis=-1)


def nothing_near(cloud: Cloud) -> Measured:
    """Share of seeds without a point within half the smallest mean."""
    return share(distances(cloud).min(axis=1) > min(cloud.task.means) / 2)


for slug, words, source, reading, control in (
    ("no-training-point-near", "In the text's reading no training point comes closer to the test "
     "point than half the smallest mean, in all seeds.",
     yang2025("F.3, Fig. 15, means (1, 2), deviations 0.05"), "deviations",
     "variances of 0.05 instead of deviations"),
    ("no-training-point-near-in-the-program", "In the program's setting, means (2, 4) and "
     "variances 0.05, no training point comes closer to the test point than half the smallest "
     "mean either, in all seeds.",
     yang2025("Fig. 15", how="authors' program for"), "far apart", "means (1, 2)"),
):  # fmt: skip
    study.claim(
        slug, words, source, nothing_near, in_all_seeds("printed"), on=whole[reading],
        fails_on=case(control, whole["variances"]),
        holds_on=case("planted points at the cluster centres", runs.planted_centres[reading]),
        note=lambda cloud: f"The closest of all seeds is {distances(cloud).min():.2f} away.",
    )  # fmt: skip


def expected_counts(task: IdentityMapping, radii: np.ndarray) -> np.ndarray:
    """Points of normal clusters within each distance of the test point, over all clusters.

    Squared distances over the variance are noncentral chi-squared with two degrees of freedom.
    """
    variance, (first, second) = task.scales[0], task.means
    offsets = np.array([second, first, np.hypot(first, second)])  # of the three cluster centres
    inside = chndtr(np.square(radii)[:, None] / variance, 2, offsets**2 / variance)
    return (task.samples_per_cluster or 0) * inside.sum(axis=1)


def within_a_quarter(cloud: Cloud, _: Cloud) -> Bound:
    """As many as are expected within half the smallest mean."""
    count = float(expected_counts(cloud.task, np.array([min(cloud.task.means) / 2]))[0])
    return near(count, 0.25 * count, "derived")


def drawn_again(cloud: Cloud, cut: Cloud) -> Measured:
    """How many rows differ: truncation leaves every other row as it is."""
    return average((cloud.points != cut.points).any(axis=-1).sum(axis=-1))


study.claim(
    "few-samples-discarded",
    "Truncation discards a few samples: on average as many of 15,000 as the normal distribution "
    "predicts for means (1, 2) and variances 0.05, within a quarter.",
    yang2025("F.3"), drawn_again, within_a_quarter, on=(whole["variances"], truncated["variances"]),
    fails_on=case("means (2, 4)", whole["far apart"], truncated["far apart"]),
    holds_on=case("planted points of which 42 are moved", runs.planted_centres["variances"],
                  runs.planted_moved),
)  # fmt: skip
study.claim(
    "none-left-inside",
    "After truncation no training point is closer than half the smallest mean, in all seeds.",
    yang2025("F.3, Fig. 16"), nothing_near, in_all_seeds("printed"),
    on=truncated["variances"], fails_on=case("without truncation", whole["variances"]),
    holds_on=case("planted points at the cluster centres", runs.planted_centres["variances"]),
)  # fmt: skip


def apart(one: Run, other: Run) -> np.ndarray:
    """Distance between outputs at equal times, (seed, step)."""
    return np.linalg.norm(one["output_at"].values - other["output_at"].values, axis=-1)


def farthest(one: Run, other: Run) -> Measured:
    """Largest distance as share of the target's length, on average over seeds."""
    return average(apart(one, other).max(axis=1) / np.hypot(*one.experiment.task.means))


def change_of_rise(one: Run, other: Run) -> Measured:
    """Difference between the rises of the test loss, on average over seeds."""
    return average(np.abs(bump(one["test_loss"].values) - bump(other["test_loss"].values)))


for slug, words, kind, one, other in (
    ("trajectories-unchanged", "With and without truncation the output of the narrow network "
     "takes the same path: the two never differ by more than 2 % of the target's length, on "
     "average over seeds.", "narrow", narrow, narrow_cut),
    ("trajectories-unchanged-in-high-dimension", "With and without truncation the output of the "
     "wide network in 64 dimensions takes the same path: the two never differ by more than 2 % "
     "of the target's length, on average over seeds.", "wide", wide, wide_cut),
):  # fmt: skip
    study.claim(
        slug, words, yang2025("Fig. 16"), farthest, at_most(0.02, "ours"), on=(one, other),
        fails_on=case("two different seeds", one, runs.rolled[kind]),
        holds_on=case("one percent off, planted", one, runs.planted_networks[kind]),
    )  # fmt: skip
study.claim(
    "swing-by-unchanged",
    "The rise of the test loss is the same with and without truncation, within 1 % of the first "
    "loss on average over seeds.",
    yang2025("Fig. 16"), change_of_rise, at_most(0.01, "ours"), on=(narrow, narrow_cut),
    fails_on=case("two different seeds", narrow, runs.rolled["narrow"]),
    holds_on=case("planted rises of 10 % and 10.5 %", runs.planted_networks["rise 0.1"],
                  runs.planted_networks["rise 0.105"]),
)  # fmt: skip
