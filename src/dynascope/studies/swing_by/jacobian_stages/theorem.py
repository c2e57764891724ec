"""What appendix D asks of a setting, and what its lemmas are worth on runs that satisfy it."""

from dataclasses import dataclass, replace

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.probes.curves import bump
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.measures import exact
from dynascope.studies.nodes import case
from dynascope.studies.swing_by.events import SMALL_RISE, planted_curve
from dynascope.studies.swing_by.jacobian_stages import runs
from dynascope.studies.swing_by.jacobian_stages.runs import Settings, study
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by import assumptions
from dynascope.theories.swing_by.assumptions import Constants, find_constants
from dynascope.theories.swing_by.lemmas import LemmaCheck, LemmaConstants, verify_lemmas
from dynascope.theories.swing_by.schur import factor_jacobian

FIGURES = {
    "Fig. 2": IdentityMapping((1.0, 2.0), (0.05,) * 2),
    "Fig. 5": IdentityMapping((1.0, 1.5), (0.05,) * 2),
    "Fig. 8": IdentityMapping((1.0, 1.5, 2.2), (0.05,) * 3),
    "Fig. 9": IdentityMapping((1.0, 1.5, 2.2, 2.7), (0.05, 0.05, 0.05, 0.5)),
    "Fig. 10": IdentityMapping((0.7, 1.7, 3.0), (0.05,) * 3),
}
CLEAN = ("D.1", "D.2", "D.3", "D.4", "D.5", "Cor D.2", "D.6", "D.7", "D.8", "D.8 time")
STRENGTHS = (0.25, 1.0)
SHAPES = {  # of W(0); nothing is its own in a rank-one start, hardly anything in the last
    "correlated": ((2.0, 1.0), (1.0, 2.0)),
    "rank one": ((1.0, 1.0), (1.0, 1.0)),
    "nearly rank one": ((1 + 1e-6, 1.0), (1.0, 1 + 1e-6)),
    "opposed": ((2.0, -1.0), (-1.0, 2.0)),  # the first with one axis turned around
    "hardly correlated": ((2.0, 1e-13), (1e-13, 2.0)),
    "too large": ((2e78, 1e78), (1e78, 2e78)),
}


@study.finding
def constants(s: Settings) -> dict[str, dict[str, Constants]]:
    """The mildest constants of D.1 to D.5 for each figure, with A and as in the program."""
    narrow = {n: replace(t, scales=(0.05,) * len(t.means)) for n, t in FIGURES.items()}
    weak = find_constants(signal(IdentityMapping((0.1, 0.4), (0.05,) * 2)))
    return {
        "weak and far apart": {"weak": weak},
        "planted": {"an ordinary start": replace(weak, log10_omega=-3.0)},
        "text": {n: find_constants(signal(t)) for n, t in FIGURES.items()},
        "program": {n: find_constants(signal(t.as_in("code"))) for n, t in narrow.items()},
    }


@dataclass(frozen=True)
class LemmaRun:
    """What the lemmas are worth on a run of descent on U at the largest rate of D.2."""

    constants: LemmaConstants  # the mildest
    allowed: bool  # whether D.1 to D.5 hold for this start, taken literally
    checks: dict[str, LemmaCheck]  # every lemma on every step, by name

    @property
    def largest_minor(self) -> float:
        """The largest minor entry of the run, from the worst gap of D.8."""
        return float(np.exp(self.constants.edge - self.checks["D.8"].worst_gap))


@study.compute(each=lambda s: tuple(SHAPES), reads=(), seconds=lambda s: 3.0)
def lemmas(s: Settings, name: str) -> LemmaRun:
    """Every lemma on every step, from W(0) = omega times a shape."""
    c = LemmaConstants.mildest(STRENGTHS)
    start, rate = c.omega * np.array(SHAPES[name]), assumptions.learning_rate_bound(STRENGTHS, c.K)
    beta = max(c.beta, np.abs(start).max() / np.abs(start).min())  # D.1 takes the start as it is
    asked = assumptions.check_assumptions(STRENGTHS, start, rate, c.P, beta=beta)
    checks = verify_lemmas(factor_jacobian(start), STRENGTHS, c, rate)
    return LemmaRun(c, all(a.holds for a in asked), {check.name: check for check in checks})


text, program = constants["text"], constants["program"]
far_apart = constants["weak and far apart"]
correlated, rank_one = lemmas["correlated"], lemmas["rank one"]


def blocked(figures: dict[str, Constants]) -> list[str]:
    """The figures that no choice of constants can save, but for the one that shows a failure."""
    return [name for name, c in figures.items() if name != "Fig. 10" and not c.feasible]


study.claim(
    "theorem-covers-figures",
    "The assumptions of the theorem can be met in the settings of Figs. 2, 5, 8 and 9.",
    yang2025("assumptions D.1 to D.5, E.4", how="a reading of"),
    lambda figures: exact(len(blocked(figures))), at_most(0, "ours"), on=text,
    fails_on=case("A squared, as in the program", program),
    holds_on=case("signals that differ by a factor 11", far_apart),
    note=lambda figures: f"{', '.join(blocked(figures))} violate D.5: signals must differ by more "
    "than a factor 3. The text calls the assumptions common in practice, not those of its figures; "
    "Fig. 10 is meant to break them.",
    exploratory=True,
    measures="Number of figures whose settings cannot meet the theorem's assumptions.",
)  # fmt: skip


def largest_start(figures: dict[str, Constants], name: str) -> Measured:
    """The largest start that D.3 to D.5 allow in a figure, as a power of ten."""
    return exact(figures[name].log10_omega or 0.0)


study.claim(
    "theorem-at-ordinary-starts",
    "Where the assumptions of the theorem can be met, they allow starts of ordinary size (1e-6 or "
    "larger).",
    yang2025("section 4.2, assumptions D.3 to D.5"), largest_start, at_least(-6, "ours"),
    on=(text, "Fig. 2"), fails_on=case("Fig. 10", text, "Fig. 10"),
    holds_on=case("planted constants", constants["planted"], "an ordinary start"),
    note=lambda figures, _: " and ".join(
        f"{name} needs entries of at most 1e{largest_start(figures, name).value:.0f}"
        for name in ("Fig. 2", "Fig. 10")) + ".",
)  # fmt: skip
study.claim(
    "theorem-at-the-programs-rate",
    "The learning rate 0.01 of the authors' program is within the theorem's bound.",
    yang2025("assumption D.2, with the rate of the authors' program", how="a reading of"),
    lambda figures: exact(np.max([c.learning_rate for c in figures.values()])),
    at_least(0.01, "ours"), on=text, fails_on=case("A squared, as in the program", program),
    holds_on=case("signals of at most 0.08", far_apart),
    note="No rate is printed for the symmetric model; 0.1 in F.1 is that of the MLPs.",
    exploratory=True,
    measures="Largest learning rate that the theorem allows in any figure's setting.",
)  # fmt: skip


@study.finding(runs.by["size"][1e-6])
def planted_fall(s: Settings, run: Run) -> Run:
    """A test loss that only falls."""
    return planted_curve(run, 0.0)


study.claim(
    "swing-by-fades-with-the-start",
    "Towards the theorem's regime the swing-by disappears: at size 1e-6 the rise is below "
    "0.2 % of the first loss.",
    yang2025("section 4.2 (theorem and figures taken together)"),
    lambda run: exact(bump(run["test_loss"].values).max()), at_most(SMALL_RISE, "ours"),
    on=runs.by["size"][1e-6], fails_on=case("size 1e-2", runs.by["size"][1e-2]),
    holds_on=case("a planted loss that only falls", planted_fall),
    measures="Largest rise of the test loss, as a share of its first value.",
)  # fmt: skip
study.claim(
    "lemmas-hold",
    "On a correlated start that satisfies D.1 to D.5, lemmas D.1 to D.8 and corollary D.2 "
    "hold at every step.",
    yang2025("lemmas D.1 to D.8"),
    lambda run: exact(sum(run.checks[name].violations for name in CLEAN)), at_most(0, "printed"),
    on=correlated, fails_on=case("the rank-one start", rank_one),
    holds_on=case("the same start with one axis turned around", lemmas["opposed"]),
    measures="Number of steps at which a lemma is violated.",
)  # fmt: skip


def decades(run: LemmaRun, lemma: str) -> Measured:
    """The worst gap of a lemma in powers of ten; negative where it is violated."""
    return exact(run.checks[lemma].worst_gap / np.log(10))


study.claim(
    "assumptions-suffice",
    "Assumptions D.1 to D.5 are enough for lemma D.3: every major entry grows from the start.",
    yang2025("lemma D.3"), decades, at_least(0, "printed"), on=(rank_one, "D.3"),
    fails_on=case("a nearly rank-one start", lemmas["nearly rank one"], "D.3"),
    holds_on=case("a start with directions of their own", correlated, "D.3"),
    note="Missing is that every direction has something of its own: Schur complements of "
    "the order of omega.",
)  # fmt: skip
study.claim(
    "noise-corollary",
    "Noise stays below the bound of corollary D.1, which has P to the first power.",
    yang2025("corollary D.1"), decades, at_least(0, "printed"), on=(correlated, "Cor D.1"),
    fails_on=case("the rank-one start", rank_one, "Cor D.1"),
    holds_on=case("minor entries 1e13 times smaller: hardly any noise", lemmas["hardly correlated"],
                  "Cor D.1"),
    partner="noise-corollary-squared",
)  # fmt: skip
study.claim(
    "noise-corollary-squared",
    "With P squared in place of P, the bound of corollary D.1 on the noise holds.",
    yang2025("corollary D.1, corrected"), decades, at_least(0, "derived"),
    on=(correlated, "Cor D.1 with P^2"),
    fails_on=case("a start 1e78 times too large for D.4", lemmas["too large"],
                  "Cor D.1 with P^2"),
    holds_on=case("minor entries 1e13 times smaller: hardly any noise", lemmas["hardly correlated"],
                  "Cor D.1 with P^2"),
    partner="noise-corollary",
)  # fmt: skip
