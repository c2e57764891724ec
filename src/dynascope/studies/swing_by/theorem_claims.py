"""Claims about the theorem: whom its assumptions cover, and whether its lemmas hold.

Each is a claim of the study that binds it; `found.lemmas` are the runs of `theorem`, and
`found.runs["starts"]` ends with starts of the sizes `SIZES`.
"""

from __future__ import annotations

from typing import Any

from dynascope.probes.curves import bump
from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, single
from dynascope.studies.swing_by.theorem import figure_constants

SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SMALL_RISE = 0.002  # of the first loss


@claim(
    "theorem-covers-figures",
    "The assumptions of the theorem can be met in the settings of Figs. 2, 5, 8, 9 and 10.",
    "001 section 4.2, assumptions D.1 to D.5",
)
def covers(study: Any, found: Any) -> Evidence:
    """How many settings no choice of constants can save."""
    text, squared = figure_constants(), figure_constants(squared=True)
    blocked = [n for n, c in text.items() if not c.feasible]
    return compare(
        at_most(0),
        single(len(blocked)),
        ("A squared, as in the program", single(sum(not c.feasible for c in squared.values()))),
        f"{', '.join(blocked)} violate D.5: signals must differ by more than a factor 3.",
    )


@claim(
    "theorem-at-ordinary-starts",
    "Where the assumptions can be met, they allow starts of ordinary size (1e-6 or larger).",
    "001 section 4.2, assumptions D.3 to D.5",
)
def ordinary(study: Any, found: Any) -> Evidence:
    """Largest allowed size of Fig. 2's start, as a power of ten."""
    figures = figure_constants()
    second, tenth = (figures[n].log10_omega or 0.0 for n in ("Fig. 2", "Fig. 10"))
    return compare(
        at_least(-6),
        single(second),
        ("Fig. 10", single(tenth)),
        f"Fig. 2 needs entries of at most 1e{second:.0f}, Fig. 10 of 1e{tenth:.0f}.",
    )


@claim(
    "theorem-at-printed-rate",
    "The printed learning rate 0.01 is within the theorem's bound.",
    "001 assumption D.2 against appendix F",
)
def printed_rate(study: Any, found: Any) -> Evidence:
    """Largest rate that D.2 allows in any of the five figures."""
    rates = [c.learning_rate for c in figure_constants().values()]
    squared = [c.learning_rate for c in figure_constants(squared=True).values()]
    control = ("A squared, as in the program", single(max(squared)))
    return compare(at_least(0.01), single(max(rates)), control)


@claim(
    "swing-by-fades-with-the-start",
    "Towards the theorem's regime the swing-by disappears: at size 1e-6 the rise is below "
    "0.2 % of the first loss.",
    "001 section 4.2 (theorem and figures taken together)",
)
def fades(study: Any, found: Any) -> Evidence:
    """Rise at size 1e-6; at the size of the reference it must be larger."""
    rise = bump(found.runs["starts"]["test_loss"].values[-len(SIZES) :, 0])
    by_size = dict(zip(SIZES, rise, strict=True))
    control = ("size 1e-2", single(by_size[1e-2]))
    return compare(at_most(SMALL_RISE), single(by_size[1e-6]), control)


@claim(
    "lemmas-hold",
    "On a correlated start that satisfies D.1 to D.5, lemmas D.1 to D.8 and corollary D.2 "
    "hold at every step.",
    "001 lemmas D.1 to D.8",
)
def lemmas_hold(study: Any, found: Any) -> Evidence:
    """Violations over all steps; the rank-one start must have some."""
    control = ("the rank-one start", single(found.lemmas["rank one"].violations()))
    return compare(at_most(0), single(found.lemmas["correlated"].violations()), control)


@claim(
    "assumptions-suffice",
    "Assumptions D.1 to D.5 are enough for lemma D.3: every major entry grows from the start.",
    "001 lemma D.3",
)
def suffice(study: Any, found: Any) -> Evidence:
    """Gap of D.3, in powers of ten, from a rank-one start that satisfies D.1 to D.5."""
    rank_one, nearly = found.lemmas["rank one"], found.lemmas["nearly rank one"]
    assert rank_one.allowed and nearly.allowed
    return compare(
        at_least(0),
        single(rank_one.decades("D.3")),
        ("a nearly rank-one start", single(nearly.decades("D.3"))),
        "Missing is that every direction has something of its own: Schur complements of "
        "the order of omega.",
    )


@claim(
    "noise-corollary",
    "Noise stays below the bound of corollary D.1, which has P to the first power.",
    "001 corollary D.1",
)
def noise_printed(study: Any, found: Any) -> Evidence:
    """Gap in powers of ten on the run on which the lemmas hold."""
    runs = found.lemmas
    control = ("the rank-one start", single(runs["rank one"].decades("Cor D.1")))
    return compare(at_least(0), single(runs["correlated"].decades("Cor D.1")), control)


@claim(
    "noise-corollary-squared",
    "With P squared in its place the bound holds.",
    "001 corollary D.1, corrected",
)
def noise_squared(study: Any, found: Any) -> Evidence:
    """Gap in powers of ten; the printed bound must miss."""
    run = found.lemmas["correlated"]
    control = ("P to the first power", single(run.decades("Cor D.1")))
    return compare(at_least(0), single(run.decades("Cor D.1 with P^2")), control)
