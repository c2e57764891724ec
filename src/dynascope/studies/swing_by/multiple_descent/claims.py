"""How often the test loss descends, from which starts, in which order, and what W never does."""

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.probes.curves import Descents, descents
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds, near
from dynascope.studies.extremes import largest
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import SETTINGS, Missing, case
from dynascope.studies.swing_by.events import SMALL_RISE, theory_gap
from dynascope.studies.swing_by.multiple_descent import runs
from dynascope.studies.swing_by.multiple_descent.runs import Settings, study
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.entry_flow import suppression_threshold

LEARNT_BY = 0.7  # "about 1": the threshold of suppression lies at 0.84 (A) and 0.76 (A squared)


def turns(run: Run) -> Descents:
    """The descents of a run from one start."""
    return descents(run["test_loss"].values[0], run["time"].values, SMALL_RISE)


def turns_in_words(run: Run) -> str:
    """The turning points of the loss."""
    *before, last = turns(run).turns
    places = ", ".join(f"{t.value:.3g} at {t.time:.2f}" for t in before)
    return f"Turns of the test loss: {places}, then towards {last.value:.1g}."


for word, number, times, figure in (("triple", "three", 3, "8"), ("quadruple", "four", 4, "9")):
    for reading, slug, how, words in (
        ("text", word, "", ""),
        ("program", f"{word}-program", "authors' program for",
         ", with A squared and equal scales too"),
    ):  # fmt: skip
        name = f"{word}, {reading}"
        study.claim(
            slug,
            f"With {number} concepts the test loss can descend {number} times{words}.",
            yang2025(f"Fig. {figure}", how), lambda run: exact(turns(run).n_descents),
            near(times, 0, "printed"), on=runs.references[name],
            fails_on=case("the same start with minor entries at zero", runs.uncorrelated[name]),
            holds_on=case(f"a planted loss that falls {number} times", runs.planted_turns[times]),
            note=turns_in_words,
            measures="Number of descents of the test loss.",
        )  # fmt: skip


def worst_gap(references: dict[str, Run], theory: dict[str, xr.Dataset]) -> Measured:
    """Gap of the starts' test losses to the flow at the worst of them, over the first loss."""
    gaps = [theory_gap(run, theory[name]) for name, run in references.items()]
    return largest(gaps)


study.claim(
    "theory-over-simulation",
    "At the program's rate, descent stays within 1 % of the first loss of the exact flow, "
    "through every rise and fall.",
    yang2025("(4.3), with the factor 2 that its derivation drops"),
    worst_gap, at_most(0.01, "ours"), on=(runs.references, runs.theory),
    fails_on=case("the same flows read at the printed clock", runs.references, runs.slow_theory),
    holds_on=case("half a percent off, planted", runs.planted_theory, runs.theory),
)  # fmt: skip


def of_triples(flags: np.ndarray) -> Measured | Missing:
    """Share of the triple descents for which something is true."""
    if not flags.size:
        return Missing("No start of this run descends three times; take more seeds.")
    return share(flags)


for slug, words, grown, fallen in (
    ("second-grows-after-suppression", "second major entry w22", "22", "23"),
    ("first-grows-after-suppression", "weakest major entry w11", "11", "12"),
):
    study.claim(
        slug,
        f"The {words} grows after w{fallen} has been suppressed: it passes one half once "
        f"|w{fallen}| is back to half its peak, in at least 80 % of the triple descents.",
        yang2025("E.1, Fig. 8"), lambda e, late, early: of_triples(e[late] > e[early]),
        at_least(0.8, "ours"), on=(runs.events, f"half {grown}", f"fallen {fallen}"),
        fails_on=case("w22 and w12: w22 does the suppressing", runs.events, "half 22", "fallen 12"),
        holds_on=case("planted entries in this order", runs.planted_events, f"half {grown}",
                      f"fallen {fallen}"),
        measures="Share of triple descents in which the one comes after the other.",
    )  # fmt: skip


def start_of_decay(s: Settings, levels: dict[str, np.ndarray], entry: str) -> str:
    """At which w22 the decay starts, beside the thresholds of two concepts alone."""
    level = float(np.median(levels[entry]))
    strengths = (signal(task)[:2] for task in (s.triple, s.triple.as_in("code")))
    text, squared = (suppression_threshold(strong, weak) for weak, strong in strengths)
    return (
        f"Not at 1, as said: the decay starts at {level:.2f} (median). Two concepts alone "
        f"would give {text:.2f} with A and {squared:.2f} with A squared."
    )


study.claim(
    "minor-decays-after-second-grew",
    f"w12 decays only after w22 has grown: its peak finds w22 above {LEARNT_BY}, "
    "in at least 80 % of the triple descents.",
    yang2025("E.1, Fig. 8"),
    lambda s, levels, entry: of_triples(levels[entry] > LEARNT_BY),
    at_least(0.8, "ours"), on=(SETTINGS, runs.levels, "12"),
    fails_on=case("the peak of w23", SETTINGS, runs.levels, "23"),
    holds_on=case("planted entries in this order", SETTINGS, runs.planted_levels, "12"),
    note=start_of_decay,
    measures="Share of triple descents in which w22 has grown at the entry's peak.",
)  # fmt: skip


readings = ("text", "squared", "program", "wide")
text, squared, program, wide = (runs.counted[f"three concepts, {n}"] for n in readings)
four, four_program = (runs.counted[f"four concepts, {n}"] for n in ("text", "program"))

for slug, words, source, bound, times, here, control, shown in (
    (
        "uniform-starts-text",
        "One does not have to search long: at least one in twenty uniform starts descends three "
        "times with A and the caption's clusters.",
        yang2025("Fig. 8 (tuned seed)"), at_least(0.05, "ours"), 3, text,
        ("three concepts, wide", wide), 3,
    ),
    (
        "uniform-starts-squared",
        "With A squared in place of A and the caption's clusters, at least a third of the uniform "
        "starts descend three times.",
        yang2025("Fig. 8 against (4.1)", "authors' program for"), at_least(1 / 3, "ours"), 3,
        squared, ("three concepts, text", text), 3,
    ),
    (
        "uniform-starts-program",
        "With A squared and the program's own clusters, at least 15 % of the uniform starts "
        "descend three times.",
        yang2025("Fig. 8", "authors' program for"), at_least(0.15, "ours"), 3, program,
        ("three concepts, wide", wide), 3,
    ),
    (
        "four-descents-program",
        "With four concepts and A squared, at least one in twenty uniform starts descends four "
        "times.",
        yang2025("Fig. 9", "authors' program for"), at_least(0.05, "ours"), 4, four_program,
        ("four concepts, text", four), 4,
    ),
    (
        "four-descents-need-tuning",
        "With A and the caption's clusters four descents need a tuned seed: at most 3 % of the "
        "starts have them.",
        yang2025("Fig. 9 (tuned seed)"), at_most(0.03, "ours"), 4, four,
        ("A squared, equal scales", four_program), 1,
    ),
):  # fmt: skip
    study.claim(
        slug, words, source, lambda counts, times: share(counts >= times), bound,
        on=(here, times), fails_on=case(*control, times),
        holds_on=case(f"planted losses that fall {shown} times", runs.planted_counts[shown],
                      times),
        measures="Share of starts with at least so many descents.",
    )  # fmt: skip
study.claim(
    "never-more-than-concepts",
    "In all starts with three concepts the test loss descends at most three times.",
    yang2025("E.1, as the picture of one suppression per concept implies"),
    lambda counts: share(counts <= 3), in_all_seeds("derived"),
    on=runs.three_concepts, fails_on=case("four concepts", four_program),
    holds_on=case("planted losses that fall 3 times", runs.planted_counts[3]),
    measures="Share of starts with at most three descents.",
)  # fmt: skip
study.claim(
    "wide-starts-descend-once",
    "At least 90 % of Gaussian starts of width 8 descend once: rows of a wide U are nearly "
    "uncorrelated.",
    yang2025("E.1 on the scale of minor entries, (E.1)"),
    lambda counts: share(counts == 1), at_least(0.9, "ours"), on=wide,
    fails_on=case("uniform starts of width 3", text),
    holds_on=case("planted losses that fall once", runs.planted_counts[1]),
    measures="Share of starts with one descent.",
)  # fmt: skip


def runs_away(path: np.ndarray) -> bool:
    """Whether an entry of W leaves the interval from -10 to 10, or is no number any more."""
    return not bool((np.abs(path) <= 10).all())


def how_many_run_away(paths: list[np.ndarray]) -> Measured:
    """On how many of some paths W runs away."""
    return exact(sum(map(runs_away, paths)))


alone = case("the recursion from the triple start with minor entries at zero",
             runs.paths["uncorrelated"])  # fmt: skip
study.claim(
    "printed-recursion-stays",
    "The recursion on W, iterated as printed, stays bounded from the four starts with three and "
    "four descents.",
    yang2025("(D.2), Lemma D.5's premise that W stays positive semidefinite", how="a reading of"),
    how_many_run_away, at_most(0, "ours"), on=runs.paths["recursion on W"],
    fails_on=case("the recursion from a start of rank one", runs.paths["rank one"]),
    holds_on=alone, partner="descent-on-u-stays",
    note="It drops a term of second order and leaves the positive semidefinite cone. The text "
    "bounds it for starts that satisfy D.1 to D.5, which these do not.",
    exploratory=True,
)  # fmt: skip
study.claim(
    "descent-on-u-stays",
    "Descent on U at the program's rate stays bounded from the four starts with three and four "
    "descents.",
    yang2025("(4.1) with W = U U^T; corrects (D.2)"),
    how_many_run_away, at_most(0, "derived"), on=runs.paths["descent on U"],
    fails_on=case("the printed recursion from these starts", runs.paths["recursion on W"]),
    holds_on=alone, partner="printed-recursion-stays",
)  # fmt: skip
