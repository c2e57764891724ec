"""Where the test loss goes down, up and down, and where it does not."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.probes import bump, descents, swing_by
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.measures import exact
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.events import (
    CLEAR_RISE,
    SMALL_RISE,
    more_swings,
    never_rises,
    swings,
    theory_gap,
)
from dynascope.studies.swing_by.swing_by import runs
from dynascope.studies.swing_by.swing_by.runs import SPREADS, study

correlated = runs.rows["correlated"]
opposed = case(lambda s: f"rows correlated at {-s.correlation}", runs.rows["opposed"])
with_a, with_a_squared = runs.random_starts["text"], runs.random_starts["code"]
low_dimension, high_dimension = runs.networks["low dimension"], runs.networks["high dimension"]
one_layer = runs.networks["one layer"]
turn, rises = runs.planted_turn, runs.planted_rises


def number_of_descents(run: Run) -> Measured:
    """How often the test loss falls."""
    return exact(descents(run["test_loss"].values[0], threshold=SMALL_RISE).n_descents)


study.claim(
    "down-up-down",
    "From two positively correlated rows the test loss falls, rises and falls again: two descents.",
    yang2025("Fig. 5, section 4.2"), number_of_descents, near(2, 0, "printed"),
    on=correlated, fails_on=opposed, holds_on=case("a planted curve that turns twice", turn),
)  # fmt: skip
study.claim(
    "double-descent-without-noise",
    "Gradient flow on the exact population, without step size or samples, descends twice.",
    yang2024("app. E"), number_of_descents, near(2, 0, "printed"), on=runs.flows["correlated"],
    fails_on=case(lambda s: f"rows correlated at {-s.correlation}", runs.flows["opposed"]),
    holds_on=case("a planted curve that turns twice", runs.planted_flow),
)  # fmt: skip
study.claim(
    "theory-over-simulation",
    "The entry-wise flow, run at the true clock, follows the simulated test loss within 1 % "
    "of its first value.",
    yang2025("(4.3), with the factor 2 that its derivation drops"),
    theory_gap, at_most(0.01, "ours"), on=(correlated, runs.theory),
    fails_on=case("the same flow read at the printed clock", correlated, runs.slow_theory),
    holds_on=case("half a percent off, planted", runs.planted_theory, runs.theory),
)  # fmt: skip


study.claim(
    "training-loss-monotone",
    "The training loss never rises, on any start, while the test loss does.",
    yang2025("Figs. 17, 18"), never_rises, in_all_seeds("derived"),
    on=(with_a, "loss", 1e-9),
    fails_on=case("the test loss of the same runs", with_a, "test_loss", 1e-9),
    holds_on=case("a planted test loss that only falls", runs.planted_falls, "test_loss", 1e-9),
)  # fmt: skip


def reversal(run: Run) -> Measured:
    """How far the output moves away from the target and towards a training cluster."""
    first, second = run.experiment.task.means
    target, clusters = np.array([first, second]), np.array([[first, 0.0], [0.0, second]])
    return exact(swing_by(run["output_at"].values[0], target, clusters).size)


study.claim(
    "turns-to-the-strong-cluster",
    "While the loss rises, the output moves away from the target and towards the strongest "
    "training cluster.",
    (yang2025("section 3.3, Fig. 5 right"), yang2024("section 3.2")),
    reversal, at_least(0.01, "ours"), on=correlated, fails_on=opposed,
    holds_on=case("a planted path that turns to the strong cluster", turn),
)  # fmt: skip


def aside(run: Run, centre: str) -> tuple[float, float]:
    """How far the output at a cluster centre strays from its straight way, and where on it.

    Both as share of the way's length.
    """
    own = 0 if centre == "weak" else 1
    path = run[f"output_at_{centre}"].values[0] / run.experiment.task.means[own]  # (step, 2)
    farthest = np.abs(path[:, 1 - own]).argmax()
    return float(np.abs(path[farthest, 1 - own])), float(path[farthest, own])


study.claim(
    "training-outputs-stray",
    "The outputs at both training clusters stray from their straight way, by at least 5 % of its "
    "length.",
    yang2025("Fig. 18"), lambda run: exact(np.min([aside(run, c)[0] for c in ("weak", "strong")])),
    at_least(0.05, "ours"), on=correlated,
    fails_on=case("uncorrelated rows", runs.rows["uncorrelated"]),
    holds_on=case("planted outputs that turn aside", runs.planted_clusters_paths),
    measures="Distance from the straight way, as a share of its length; "
    "the smaller of both clusters.",
)  # fmt: skip
study.claim(
    "training-outputs-stray-at-different-stages",
    "They stray at different stages: the strong cluster's with at least half of its way more "
    "behind it than the weak cluster's.",
    yang2025("Fig. 18"), lambda run: exact(aside(run, "strong")[1] - aside(run, "weak")[1]),
    at_least(0.5, "ours"), on=correlated,
    fails_on=case("two equal signals", runs.rows["equal signals"]),
    holds_on=case("planted outputs that turn aside", runs.planted_clusters_paths),
    note="In time it is one moment: W is symmetric, so that w12 moves both aside at once.",
    measures="Share of its way that the strong cluster's output has more "
    "behind it than the weak one's.",
)  # fmt: skip
study.claim(
    "random-starts",
    "At least one in ten uniform positive starts swings by.",
    yang2025("Fig. 5 (text: A)"), swings, at_least(0.1, "ours"), on=with_a,
    fails_on=case("two equally strong concepts", runs.random_starts["equal signals"]),
    holds_on=case("planted rises", rises["random starts"]),
)  # fmt: skip


study.claim(
    "squared-moments-swing-more",
    "With A squared, as in the authors' program, at least 20 percentage points more seeds "
    "swing by than with A.",
    yang2025("Fig. 5 against (4.1)", how="authors' program for"),
    more_swings, at_least(0.2, "ours"), on=(with_a_squared, with_a),
    fails_on=case(
        "two halves of the seeds, both with A", runs.halves["second"], runs.halves["first"]
    ),
    holds_on=case("planted rises in every seed", rises["random starts"], with_a),
)  # fmt: skip
study.claim(
    "low-dimension-swings",
    "A four-layer linear network of width 4 in two dimensions swings by for at least a fifth "
    "of the seeds.",
    yang2025("Figs. 2c, 3 (program: hidden width 4)"),
    swings, at_least(0.2, "ours"), on=(low_dimension, CLEAR_RISE),
    fails_on=case("one layer from a small start", one_layer, CLEAR_RISE),
    holds_on=case("planted rises", rises["networks"], CLEAR_RISE),
)  # fmt: skip
study.claim(
    "high-dimension-rises-little",
    "In 64 dimensions no seed of the four-layer network sees its test loss rise by 0.5 %.",
    yang2025("Figs. 2c, 3"), never_rises, in_all_seeds("ours"),
    on=(high_dimension, "test_loss", 0.005),
    fails_on=case("dimension 2, width 4", low_dimension, "test_loss", 0.005),
    holds_on=case("planted falls", runs.planted_falls, "test_loss", 0.005),
)  # fmt: skip
study.claim(
    "high-dimension-monotone",
    "Read literally, the test loss in 64 dimensions is monotone: not one seed rises at all.",
    yang2025("Fig. 3, as described"),
    never_rises, in_all_seeds("printed"),
    on=(high_dimension, "test_loss", 1e-5),  # as far as float32 can tell
    fails_on=case("dimension 2, width 4", low_dimension, "test_loss", 1e-5),
    holds_on=case("planted falls", runs.planted_falls, "test_loss", 1e-5),
)  # fmt: skip
study.claim(
    "low-dimension-at-printed-width",
    "Read literally, with the stated hidden width 64, the two-dimensional network swings by "
    "for at least a tenth of the seeds.",
    yang2025("Fig. 3 with the width of F.1"), swings, at_least(0.1, "ours"),
    on=(runs.networks["low dimension, wide"], SMALL_RISE),
    fails_on=case("one layer from a small start", one_layer, SMALL_RISE),
    holds_on=case("planted rises", rises["networks"], SMALL_RISE),
    note="Width decides, not dimension: the program behind the figure uses width 4.",
)  # fmt: skip
study.claim(
    "three-layers",
    "A three-layer linear network with three inputs swings by for at least a tenth of the seeds.",
    yang2025("Figs. 13, 14"), swings, at_least(0.1, "ours"),
    on=(runs.networks["three layers"], CLEAR_RISE),
    fails_on=case("one layer from a small start", one_layer, CLEAR_RISE),
    holds_on=case("planted rises", rises["networks"], CLEAR_RISE),
)  # fmt: skip


def rise_at(run: Run, spread: float) -> Measured:
    """Rise of the test loss where the clusters have this spread."""
    return exact(bump(run["test_loss"].values).ravel()[SPREADS.index(spread)])


study.claim(
    "wide-clusters-do-not-swing",
    "Once the clusters are as wide as they are far, there is no swing-by.",
    yang2025("section 4.2.2, remark"), rise_at, at_most(0.001, "ours"),
    on=(runs.clusters["both"], 1.5),
    fails_on=case("a spread of 0.05", runs.clusters["both"], 0.05),
    holds_on=case("a planted fall", runs.planted_clusters, 1.5),
)  # fmt: skip
study.claim(
    "in-distribution-is-enough",
    "Widening the weak cluster alone, ever further, keeps the swing-by away.",
    yang2025("section 4.2.2, remark, taken as being about distributions"),
    rise_at, at_most(0.001, "ours"), on=(runs.clusters["weak"], 3.0),
    fails_on=case("a spread of 0.05", runs.clusters["weak"], 0.05),
    holds_on=case("a planted fall", runs.planted_clusters, 3.0),
    note="What matters is the gap between the two signals: it closes near 1.2 and opens again.",
)  # fmt: skip
