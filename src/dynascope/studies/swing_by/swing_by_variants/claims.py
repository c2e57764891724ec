"""Networks swing by at the caption's means too; four concepts are positive less often than two."""

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.studies.comparisons import at_least, in_all_seeds
from dynascope.studies.measures import minus, share
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.events import CLEAR_RISE, more_swings, never_rises, swings
from dynascope.studies.swing_by.swing_by_variants import runs
from dynascope.studies.swing_by.swing_by_variants.runs import study

one_layer = runs.networks["one layer"]
for slug, words, where, name, least in (
    ("low-dimension-swings-at-printed-means", "With the caption's means (1, 2) the four-layer "
     "network of width 4 in two dimensions swings by for at least a fifth of the seeds.",
     "Figs. 2c, 3", "low dimension", 0.2),
    ("low-dimension-swings-rotated", "With all points randomly rotated, the four-layer network of "
     "width 4 in two dimensions swings by for at least a fifth of the seeds.",
     "F.1, Figs. 2c, 3", "rotated", 0.2),
    ("three-layers-at-printed-means", "With means (1, 2) a three-layer linear network with three "
     "inputs swings by for at least a tenth of the seeds.",
     "Figs. 13, 14", "three layers", 0.1),
):  # fmt: skip
    study.claim(
        slug, words, yang2025(where), swings, at_least(least, "ours"),
        on=(runs.networks[name], CLEAR_RISE),
        fails_on=case("one layer from a small start", one_layer, CLEAR_RISE),
        holds_on=case("planted rises", runs.planted_networks["rises"], CLEAR_RISE),
    )  # fmt: skip
study.claim(
    "high-dimension-rises-little-at-printed-means",
    "With the caption's means (1, 2), in 64 dimensions no seed of the four-layer network sees its "
    "test loss rise by 0.5 %.",
    yang2025("Figs. 2c, 3"), never_rises, in_all_seeds("ours"),
    on=(runs.networks["high dimension"], "test_loss", 0.005),
    fails_on=case("dimension 2, width 4", runs.networks["low dimension"], "test_loss", 0.005),
    holds_on=case("planted falls", runs.planted_networks["falls"], "test_loss", 0.005),
)  # fmt: skip
two, four, planted = runs.concepts["two"], runs.concepts["four"], runs.planted_concepts
two_halves = case("two halves of the starts with two concepts", runs.two_halves["first"],
                  runs.two_halves["second"])  # fmt: skip


def more_positive(run: Run, other: Run) -> Measured:
    """By how much the share of starts with all entries of W positive exceeds another run's."""
    lowest = (r["input_jacobian"].values[:, 0].min(axis=(1, 2)) for r in (run, other))
    first, second = (share(value > 0) for value in lowest)
    return minus(first, second)


study.claim(
    "positive-starts-get-rare",
    "With four concepts in place of two, all entries of W are positive in at least 30 percentage "
    "points fewer Gaussian starts.",
    yang2024("section A.2.2, footnote"), more_positive, at_least(0.3, "ours"), on=(two, four),
    fails_on=two_halves,
    holds_on=case("planted starts, positive with two concepts alone", planted["two"],
                  planted["four"]),
)  # fmt: skip
study.claim(
    "more-concepts-swing-less",
    "With four concepts in place of two, at the same width, at least 5 percentage points fewer "
    "Gaussian starts swing by.",
    yang2024("section A.2.2, footnote"), more_swings, at_least(0.05, "ours"), on=(two, four),
    fails_on=two_halves,
    holds_on=case("planted rises with two concepts alone", planted["two"], planted["four"]),
    note="Positivity of all entries is not what it takes: one correlated pair is enough, and four "
    "concepts have six pairs.",
)  # fmt: skip
