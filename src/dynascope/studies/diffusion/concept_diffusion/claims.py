"""Order of the concepts and its reversal, the bend, the error's second descent, the slow-down.

Thresholds were fixed before the first run of the study; when a concept counts as learned was not.
"""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import yang2024, yang2025
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.diffusion.concept_diffusion import runs
from dynascope.studies.diffusion.concept_diffusion.runs import Sheets, study
from dynascope.studies.diffusion.concept_paths import (
    arrivals,
    flip,
    order,
    second_descent,
    slow_down,
    transient_bend,
    unreadable_ends,
)
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import case

RISE = 0.05  # of the concept error, whose value is 1 where neither concept is there
BEND = 0.3  # of a coordinate: how far one concept leads before the other catches up
weak, strong = runs.ends["weak"], runs.ends["strong"]
written = runs.written

study.claim(
    "strong-colour-first",
    "At the strongest colour, colour is learned before size: the mean logarithm of the ratio of "
    "the two steps is above 0.",
    (yang2025("Fig. 6"), yang2024("Fig. 5")), order, at_least(0.0, "printed"), on=strong,
    fails_on=case("planted paths with the second concept first", written["second leads"]),
    holds_on=case("planted paths with the first concept first", written["first leads"]),
)  # fmt: skip
study.claim(
    "weak-colour-last",
    "At the weakest colour, size is learned before colour: the mean logarithm of the ratio of "
    "the two steps is above 0.",
    (yang2025("Fig. 6"), yang2024("Fig. 5")), order, at_least(0.0, "printed"),
    on=runs.turned["weak"],
    fails_on=case("planted paths with the second concept first", written["second leads"]),
    holds_on=case("planted paths with the first concept first", written["first leads"]),
)  # fmt: skip
study.claim(
    "order-flips",
    "From the weakest to the strongest colour the logarithm of the ratio of the steps at which "
    "size and colour are learned rises in the mean over seeds.",
    yang2025("Fig. 6, section 5"), flip, at_least(0.0, "printed"), on=(weak, strong),
    fails_on=case("planted: from the first concept ahead to the second ahead",
                  written["first leads"], written["second leads"]),
    holds_on=case("planted: from the second concept ahead to the first ahead",
                  written["second leads"], written["first leads"]),
)  # fmt: skip
for name, paths, concept in (
    ("strong", strong, "colour at the strongest colour"),
    ("weak", runs.turned["weak"], "size at the weakest colour"),
):
    study.claim(
        f"bend-{name}",
        f"The path bends to the stronger concept first ({concept}): its coordinate leads by at "
        f"least {BEND} more than at the end.",
        yang2025("Fig. 6, section 5"), transient_bend, at_least(BEND, "ours"), on=paths,
        fails_on=case("planted paths along the diagonal", written["together"]),
        holds_on=case("planted paths with the first concept first", written["first leads"]),
        note=unreadable_ends,
    )  # fmt: skip
    study.claim(
        f"arrives-{name}",
        f"With {concept} ahead, generation ends at the combination that was never seen: both "
        "coordinates are at least 0.8 over the last three checkpoints.",
        yang2025("section 5"), arrivals, at_least(0.8, "ours"), on=paths,
        fails_on=case("planted paths that never get there", written["never"]),
        holds_on=case("planted paths that arrive", written["first leads"]),
        note=unreadable_ends,
    )  # fmt: skip
    study.claim(
        f"second-descent-{name}",
        f"With {concept} ahead, the concept error falls, rises by at least {RISE} and falls again, "
        "in the mean over seeds.",
        yang2025("Fig. 6, section 5"), second_descent, at_least(RISE, "ours"),
        on=paths,
        fails_on=case("planted paths whose error only falls", written["first leads"]),
        holds_on=case("planted paths in which the second concept falls back by 0.8",
                      written["swing"]),
        note=unreadable_ends,
    )  # fmt: skip
    study.claim(
        f"slows-down-{name}",
        f"With {concept} ahead, the speed in the concept plane falls after its maximum: the slope "
        "of its logarithm over the run is at most -1.",
        (yang2025("Fig. 6, section 5"), yang2024("Fig. 5")), slow_down, at_most(-1.0, "ours"),
        on=paths, fails_on=case("planted paths of constant speed", written["steady"]),
        holds_on=case("planted paths that slow down exponentially", written["exponential"]),
        note=unreadable_ends,
    )  # fmt: skip


def combined(sheets: Sheets) -> Measured:
    """Mean over seeds of the share of small blue discs over the last three checkpoints."""
    return average(sheets.together[:, -3:].mean(-1))


@study.finding(runs.without_meaning)
def made_up(s: runs.Settings, sheets: Sheets) -> dict[str, Sheets]:
    """All discs small and blue, and none of them."""
    full = np.ones_like(sheets.together) - 0.001 * np.arange(len(sheets.together))[:, None]
    return {"all": sheets._replace(together=full), "none": sheets._replace(together=1 - full)}


study.claim(
    "needs-the-condition",
    "With the conditions shuffled among the training pictures, at most one in five of the discs "
    "that are asked for small and blue is both.",
    yang2025("app. G", how="control of"), combined, at_most(0.2, "ours"),
    on=runs.without_meaning,
    fails_on=case("planted: all discs small and blue", made_up["all"]),
    holds_on=case("planted: no disc small and blue", made_up["none"]), exploratory=True,
)  # fmt: skip
study.claim(
    "pixels-tell-the-concepts",
    "On true pictures that are readable, the pixel rule finds both concepts in at least 99 % of "
    "them.",
    yang2025("Fig. 19, app. G.3", how="our reading in place of the classifier of"), share,
    at_least(0.99, "ours"), on=runs.by_pixels["pixels"],
    fails_on=case("guessing", runs.by_pixels["guessing"]),
    holds_on=case("all right", runs.by_pixels["all right"]),
    measures="Share of true pictures on which both concepts are found.",
)  # fmt: skip
study.claim(
    "classifier-tells-the-concepts",
    "The trained classifier finds both concepts on at least 99 % of true pictures.",
    yang2025("app. G.3"), share, at_least(0.99, "printed"), on=runs.by_classifier,
    fails_on=case("guessing", runs.by_pixels["guessing"]),
    holds_on=case("all right", runs.by_pixels["all right"]),
    note="Printed: 100 % on a held-out set.",
    measures="Share of true pictures on which both concepts are found.",
)  # fmt: skip
study.claim(
    "order-flips-by-the-classifier",
    "Read by the trained classifier, the logarithm of the ratio of the steps at which size and "
    "colour are learned rises from the weakest to the strongest colour in the mean over seeds.",
    yang2025("Fig. 6, app. G.3"), flip, at_least(0.0, "printed"),
    on=(runs.classified_ends["weak"], runs.classified_ends["strong"]),
    fails_on=case("planted: from the first concept ahead to the second ahead",
                  written["first leads"], written["second leads"]),
    holds_on=case("planted: from the second concept ahead to the first ahead",
                  written["second leads"], written["first leads"]),
)  # fmt: skip
