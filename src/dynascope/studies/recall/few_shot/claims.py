"""What Table 4.2 says as printed, and what 1,319 questions can tell from chance."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.language.few_shot import sign_pattern
from dynascope.studies import at_least, at_most, average, case, exact
from dynascope.studies.recall.few_shot import runs
from dynascope.studies.recall.few_shot.runs import (
    Accuracies,
    Asked,
    Scored,
    planted,
    printed,
    study,
)

TABLE = chen2025("Table 4.2")
SURE = 1.96  # standard errors: one case in twenty by chance
EXPECTED = np.array([1, 1, -1, -1])  # better with 1 and 2 examples, worse with 4 and 8


def share_of_signs(found: Accuracies, first: int, last: int) -> Measured:
    """Share of the printed pairs with so many examples whose sign is the stated one."""
    return exact(float((np.sign(found.z())[:, first:last] == EXPECTED[first:last]).mean()))


def pattern_by_chance(found: Accuracies) -> Measured:
    """How likely the stated pattern or its opposite is by chance; 1 if it is not there."""
    signs = np.sign(found.z())
    there = (signs == EXPECTED).all()
    return exact(sign_pattern(signs.size) if there else 1.0)


def phi3_one_shot(found: Accuracies) -> Measured:
    """Standard errors by which LASER is better for Phi-3 with one example."""
    return exact(float(found.z()[0, 0]))


def largest_other(found: Accuracies) -> Measured:
    """The largest distance in standard errors among the other eleven pairs."""
    return exact(float(np.abs(found.z()).ravel()[1:].max()))


def smallest(found: Accuracies) -> Measured:
    """The smallest distance in standard errors, counted against the stated sign, of all pairs."""
    return exact(float((found.z() * EXPECTED).min()))


for slug, words, ends in (
    ("better-with-few", "one and two worked examples every printed accuracy with LASER is higher",
     (0, 2)),
    ("worse-with-many", "four and eight worked examples every printed accuracy with LASER is lower",
     (2, 4)),
):  # fmt: skip
    study.claim(
        slug, f"With {words} than without.", TABLE, share_of_signs, at_least(1.0, "printed"),
        on=(printed, *ends), fails_on=case("planted: the opposite", planted["opposite"], *ends),
        holds_on=case("planted: as stated, by ten points", planted["strong"], *ends),
    )  # fmt: skip
study.claim(
    "pattern", "Twelve coins would show the stated signs, or their opposites, in fewer than one "
    "case in twenty.",
    derived("the sign pattern of chen2025 Table 4.2, as if pairs were independent"),
    pattern_by_chance, at_most(0.05, "derived"), on=printed,
    fails_on=case("planted: as stated, for one model: four coins", planted["one model"]),
    holds_on=case("planted: as stated", planted["strong"]), exploratory=True,
)  # fmt: skip
study.claim(
    "phi3-one-example", "Phi-3 with one worked example gains more from LASER than chance gives in "
    "one case in twenty.", TABLE, phi3_one_shot, at_least(SURE, "derived"), on=printed,
    fails_on=case("planted: differences of 0.4 points", planted["chance"]),
    holds_on=case("planted: ten points", planted["strong"]),
)  # fmt: skip
study.claim(
    "others-are-not-sure", "But for Phi-3 with one worked example none of the printed differences "
    "is more than chance gives in one case in twenty, taken alone.",
    derived("unpaired standard errors of chen2025 Table 4.2"), largest_other,
    at_most(SURE, "derived"), on=printed,
    fails_on=case("planted: ten points everywhere", planted["strong"]),
    holds_on=case("planted: one point everywhere else", planted["quiet"]), exploratory=True,
)  # fmt: skip
study.claim(
    "each-is-sure", "Each of the twelve printed differences has the stated sign by more than "
    "chance gives in one case in twenty.", TABLE, smallest, at_least(SURE, "derived"), on=printed,
    fails_on=case("planted: differences of 0.4 points", planted["chance"]),
    holds_on=case("planted: ten points everywhere", planted["strong"]),
    note="The document states the directions; how sure each is can be read off its own numbers.",
    exploratory=True,
)  # fmt: skip


def all_right(found: Scored) -> Measured:
    """Share of texts that are scored as right."""
    return exact(float(found.right.mean()))


study.claim(
    "scorer", "The scorer takes every worked answer of the 1,319 test questions as right.",
    derived("check of the scorer"), all_right, at_least(1.0, "derived"), on=runs.gold,
    fails_on=case("wrong numbers, none, the wrong sign", runs.known_answers["wrong"]),
    holds_on=case("commas, dollars, decimals, signs", runs.known_answers["good"]),
    exploratory=True,
)  # fmt: skip


def gains(found: Asked) -> Measured:
    """Mean over questions of right with LASER less right without."""
    return average(found.after.astype(float) - found.before)


study.claim(
    "local-model", "The local model that is asked answers more questions rightly with LASER.",
    chen2025("Table 4.2", how="another model than"), gains, at_least(0.0, "ours"), on=runs.asked,
    fails_on=case("planted: the first model better on 30 of 100", runs.planted_answers["worse"]),
    holds_on=case("planted: the second better on 30 of 100", runs.planted_answers["better"]),
    exploratory=True,
)  # fmt: skip
