"""What appendix D asks of a setting, and what its lemmas are worth on runs that satisfy it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.assumptions import (
    Constants,
    check_assumptions,
    find_constants,
    learning_rate_bound,
)
from dynascope.theories.lemmas import LemmaCheck, LemmaConstants, verify_lemmas
from dynascope.theories.schur import factor_jacobian

FIGURES = {
    "Fig. 2": IdentityMapping((1.0, 2.0), (0.05,) * 2),
    "Fig. 5": IdentityMapping((1.0, 1.5), (0.05,) * 2),
    "Fig. 8": IdentityMapping((1.0, 1.5, 2.2), (0.05,) * 3),
    "Fig. 9": IdentityMapping((1.0, 1.5, 2.2, 2.7), (0.05, 0.05, 0.05, 0.5)),
    "Fig. 10": IdentityMapping((0.7, 1.7, 3.0), (0.05,) * 3),
}
CLEAN = ("D.1", "D.2", "D.3", "D.4", "D.5", "Cor D.2", "D.6", "D.7", "D.8", "D.8 time")


def figure_constants(squared: bool = False) -> dict[str, Constants]:
    """The mildest constants of D.1 to D.5 for each figure, with A or as in the program."""
    found = {}
    for name, task in FIGURES.items():
        narrow = replace(task, scales=(0.05,) * len(task.means)).as_in("code")
        found[name] = find_constants(signal(narrow if squared else task))
    return found


@dataclass(frozen=True)
class LemmaRun:
    """A run of descent on U at the largest rate of D.2, from W(0) = omega times a shape."""

    strengths: tuple[float, float]
    shape: tuple[tuple[float, float], tuple[float, float]]

    @cached_property
    def constants(self) -> LemmaConstants:
        """The mildest constants for these signal strengths."""
        return LemmaConstants.mildest(self.strengths)

    @property
    def start(self) -> np.ndarray:
        """W(0)."""
        return self.constants.omega * np.array(self.shape)

    @property
    def rate(self) -> float:
        """The step size, in paper time."""
        return learning_rate_bound(self.strengths, self.constants.K)

    @property
    def allowed(self) -> bool:
        """Whether D.1 to D.5 hold for this start, taken literally."""
        c = self.constants
        found = check_assumptions(self.strengths, self.start, self.rate, c.P, beta=c.beta)
        return all(a.holds for a in found)

    @cached_property
    def checks(self) -> dict[str, LemmaCheck]:
        """Every lemma on every step, by name."""
        weights = factor_jacobian(self.start)
        found = verify_lemmas(weights, self.strengths, self.constants, self.rate)
        return {c.name: c for c in found}

    def violations(self) -> int:
        """Violated steps of all lemmas but the noise corollary."""
        return sum(self.checks[name].violations for name in CLEAN)

    def decades(self, name: str) -> float:
        """The worst gap of a lemma in powers of ten; negative where it is violated."""
        return self.checks[name].worst_gap / np.log(10)

    def largest_minor(self) -> float:
        """The largest minor entry of the run, from the worst gap of D.8."""
        return float(np.exp(self.constants.edge - self.checks["D.8"].worst_gap))


def lemma_runs() -> dict[str, LemmaRun]:
    """A correlated start, and two that satisfy D.1 to D.5 although nothing is their own."""
    strengths = (0.25, 1.0)
    almost = 1 + 1e-6
    return {
        "correlated": LemmaRun(strengths, ((2.0, 1.0), (1.0, 2.0))),
        "rank one": LemmaRun(strengths, ((1.0, 1.0), (1.0, 1.0))),
        "nearly rank one": LemmaRun(strengths, ((almost, 1.0), (1.0, almost))),
    }
