"""Stages of the Jacobian: which entries grow, which are suppressed, when, and what is proved.

001 Figs. 4 and 5, section 4.2, lemmas D.1 to D.8 under assumptions D.1 to D.5; 000 appendix D.
Index 1 is the weak concept and 2 the strong one, as in appendices D and E; the main text
counts the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.records import Headline
from dynascope.core.spec import static_field
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, LogSpaced
from dynascope.models import TiedLinear
from dynascope.probes import Growth, InputJacobian, Noise, Suppression, TestLoss
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    compare,
    not_applicable,
    share,
    single,
)
from dynascope.studies.swing_by import entry_claims, law_claims, stage_charts, theorem_claims
from dynascope.studies.swing_by.events import double_events, identity_gap, peaks, times_to_half
from dynascope.studies.swing_by.starts import correlated, signal
from dynascope.studies.swing_by.theorem import LemmaRun, lemma_runs
from dynascope.studies.swing_by.theorem_claims import SIZES
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer
from dynascope.theories.entry_flow import suppression_threshold
from dynascope.theories.stages import largest_dips

AXIS = "model.initial_jacobian"
CORRELATIONS = (0.5, 0.7, 0.9, 0.95, 0.99)  # at the reference size
STRONG_MEANS = (1.1, 1.25, 1.5, 2.0, 3.0, 4.0)  # beside a weak mean of 1
LAW_SCALES = (0.02, 0.1)
LAW_MEANS = ((1.0, 2.0), (1.0, 1.5, 2.2), (1.0, 1.5, 2.2, 2.7))


Times = tuple[np.ndarray, np.ndarray, np.ndarray]  # measured, by Schur, naive: (seed, d) each


class Found(NamedTuple):
    """What claims and charts read."""

    runs: dict[str, xr.Dataset]
    theory: xr.Dataset  # over the reference run
    random: dict[str, np.ndarray]  # events of the random starts of Fig. 5
    dips: dict[float, np.ndarray]  # of both major entries, by correlation
    at_peak: np.ndarray  # W at the peak of |w12|, (signals, 2, 2)
    law: dict[tuple[int, float], Times]  # by dimension and scale
    lemmas: dict[str, LemmaRun]


@dataclass(frozen=True)
class JacobianStages(Study):
    """Growth, suppression and noise of Jacobian entries, against text, theorem and Schur law."""

    name: ClassVar[str] = "jacobian-stages"
    title: ClassVar[str] = "Stages of the Jacobian: growth, suppression, second growth"
    source: ClassVar[str] = "001 Figs. 4, 5, section 4.2, app. D; 000 app. D"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 100, "law_seeds": 60},
        "laptop": {},
        "paper": {"seeds": 1500, "law_seeds": 300},
    }

    task: IdentityMapping = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05))
    size: float = static_field(0.01)  # of the reference start's diagonal
    correlation: float = static_field(0.9)  # of its two rows
    seeds: int = 300  # random starts of Fig. 5
    law_seeds: int = 100  # random starts for the Schur law
    learning_rate: float = static_field(0.002)  # of the reference, in paper time

    def notes(self) -> tuple[str, ...]:
        """Where text, program and derivation differ, and what is wrong in the proofs."""
        return (
            "Time is true gradient-flow time; growth, suppression and noise are per paper time, "
            "which runs twice as fast. The step from (D.1) to (D.2) loses that factor 2.",
            "All three terms include the half that the braces under (D.5) and (D.6) leave outside.",
            "The main text sorts concepts from strong to weak, appendices D and E from weak to "
            "strong; here the first is the weak one.",
            "001 puts every minor entry into two groups, 000 into at most two: 000 is right.",
            "The main text's first group is said to be led by w_k1 mu_k on its way to 1; it is "
            "w_k1 mu_1 on its way to mu_k.",
            "Corollary D.1 needs P squared. With it, D.4 and D.5 exclude each other.",
            "The time t_0 in the proof of D.8 has 1/kappa where kappa belongs, and (D.74) should "
            "start from w_ii(t_0) and count t* - t_0.",
            "Slips that change no result: (D.13) to (D.15) lack the step size in the noise term; "
            "(D.36) mixes i, j with i, i; (D.38) has a_i + a_j for 2 a_i; (D.45) lacks a_i; (D.46) "
            "has a step size too many; (D.60) loses a factor 1/5; K at most 10 means at least 10; "
            "(D.12) calls S what is -S; 000 has 4 a_i/K where 2 a_i/K is right, and o(omega) "
            "where Theta(omega) is.",
            "000 reads Lemma D.4 as a rate lambda a_i exp(-2 lambda a_i t) at w_ii = lambda; the "
            "rate there is 2 a_i lambda (1 - lambda).",
            "The lemmas speak of descent on W, which leaves the positive semidefinite cone; they "
            "are held against descent on U, where D.5's premise is true.",
            "Random starts of Fig. 5 use A, as the text says, and the program's start.",
        )

    def plan(self) -> dict[str, Experiment]:
        """The reference with its terms, other starts, other signals, random starts, the law."""
        terms = (TestLoss(), InputJacobian(), Growth(), Suppression(), Noise())
        few = (TestLoss(), InputJacobian())
        starts = tuple(correlated(w, c) for w, c in self._starts())
        signals = tuple((self.task.means[0], m) for m in STRONG_MEANS)
        law = {f"law {len(m)}": self._law(m) for m in LAW_MEANS}
        return {
            "reference": self._from(correlated(self.size, self.correlation), terms),
            "starts": self._from(correlated(self.size, self.correlation), few, (AXIS, starts)),
            "signals": self._from(correlated(1e-4, 0.9), few, ("task.means", signals)),
            "random": self._random(),
            **law,
        }

    def _starts(self) -> tuple[tuple[float, float], ...]:
        return (*((self.size, c) for c in CORRELATIONS), *((w, 0.98) for w in SIZES))

    def _from(self, start: tuple, probes: tuple, *over: tuple[str, tuple]) -> Experiment:
        model = TiedLinear(width=2, initial_jacobian=start)
        return Experiment(
            self.task, model, GradientDescent(self.learning_rate / 2), probes, steps=15_000,
            record=Evenly(5001), dtype="float64", over=over,
        )  # fmt: skip

    def _random(self) -> Experiment:
        task = IdentityMapping(means=(1.0, 1.5), scales=(0.05,) * 3)
        return Experiment(
            task, TiedLinear(3, 0.2, "uniform"), GradientDescent(0.005),
            (TestLoss(), InputJacobian()), steps=3000, record=Evenly(601),
            seeds=tuple(range(self.seeds)), dtype="float64",
        )  # fmt: skip

    def _law(self, means: tuple[float, ...]) -> Experiment:
        d = len(means)
        scales = (0.05,) * (d - 1) + (0.5 if d == 4 else 0.05,)  # as in the caption of Fig. 9
        # A small rate: at 0.01 the strongest direction is late by 1 % from the steps alone.
        return Experiment(
            IdentityMapping(means, scales), TiedLinear(d, 0.1, "uniform"),
            GradientDescent(0.00125), (InputJacobian(),), steps=20_000,
            record=LogSpaced(500, 100.0), seeds=tuple(range(self.law_seeds)), dtype="float64",
            over=(("model.init_scale", LAW_SCALES),),
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Theory over the reference, events of random starts, dips, peaks, the law, lemmas."""
        plan = self.plan()
        reference = plan["reference"]
        theory = SymmetricTwoLayer().predict(
            reference.task, reference.model, like=runs["reference"]
        )
        dips = largest_dips(runs["starts"]["input_jacobian"].values[:, 0])
        tasks = {n: e.task for n, e in plan.items() if isinstance(e.task, IdentityMapping)}
        law = {
            (len(m), scale): times_to_half(runs[f"law {len(m)}"].isel({"model.init_scale": k}),
                                           signal(tasks[f"law {len(m)}"]))
            for m in LAW_MEANS
            for k, scale in enumerate(LAW_SCALES)
        }  # fmt: skip
        return Found(
            runs,
            theory,
            double_events(runs["random"]),
            dict(zip(CORRELATIONS, dips, strict=False)),
            peaks(runs["signals"]["input_jacobian"].values[:, 0]),
            law,
            lemma_runs(),
        )

    def headline(self, found: Found) -> Headline:
        """The weak major entry of the reference: it dips before it grows."""
        run, theory = (r.isel(seed=0) for r in (found.runs["reference"], found.theory))
        shown = run["time"].values <= 1.3
        y, predicted = (r["input_jacobian"].values[shown, 0, 0] for r in (run, theory))
        return Headline(
            title=f"Weak major entry w11, rows correlated at {self.correlation:g}",
            x_label="gradient-flow time",
            y_label="w11",
            x=tuple(run["time"].values[shown].tolist()),
            y=tuple(y.tolist()),
            theory=tuple(predicted.tolist()),
            note=f"it falls by {found.dips[0.9][0]:.0%} (by {found.dips[0.99][0]:.0%} at "
            "correlation 0.99) where the text has it grow throughout",
        )

    # --- claims ------------------------------------------------------------------------------

    entry_counts = entry_claims.counts
    two_groups = entry_claims.two_groups
    irrelevant = entry_claims.irrelevant

    @claim(
        "order-of-growth",
        "Major entries grow in the order of signal strength, strongest first.",
        "001 section 4.2.1",
    )
    def order(self, found: Found) -> Evidence:
        """Share of starts in three dimensions; the order of their initial sizes must miss."""
        half = found.law[3, 0.1][0]
        start = np.diagonal(found.runs["law 3"]["input_jacobian"].values[1, :, 0], axis1=1, axis2=2)
        measured, by_size = (share(np.all(np.diff(x) < 0, axis=1)) for x in (half, -start))
        return compare(at_least(0.9), measured, ("the order of their initial sizes", by_size))

    @claim(
        "minor-entry-peaks-and-falls",
        "The minor entry w12 peaks while w22 is still growing (below 0.95), then falls to less "
        "than a tenth of its peak.",
        "001 section 4.2.1, Fig. 5",
    )
    def minor_peaks(self, found: Found) -> Evidence:
        """Share of random starts; the major entry w11 must not fall."""
        e = found.random
        control = (
            "w11 in place of w12",
            share((e["w22 at peak 11"] < 0.95) & (e["left 11"] < 0.1)),
        )
        return compare(
            at_least(0.9), share((e["w22 at peak 12"] < 0.95) & (e["left 12"] < 0.1)), control
        )

    @claim(
        "loss-follows-entries",
        "The test loss rises while w12 is suppressed: after the peak of w12 and before w11 "
        "reaches one half.",
        "001 section 4.2.1, Fig. 5",
    )
    def loss_follows(self, found: Found) -> Evidence:
        """Share of the rises; the growth of w22 is not when it rises."""
        e = found.random
        rises = np.isfinite(e["rise start"])
        if not rises.any():
            return not_applicable("No start of this run has a rising test loss; take more seeds.")
        start, end = e["rise start"][rises], e["rise end"][rises]
        inside = (start >= e["peak 12"][rises]) & (end <= e["half 11"][rises])
        early = end <= e["half 22"][rises]
        return compare(at_least(0.9), share(inside), ("before w22 reaches one half", share(early)))

    @claim("strongest-never-dips", "The strongest major entry never falls.", "001 section 4.2.1")
    def strongest(self, found: Found) -> Evidence:
        """Largest dip over all starts and signals; the weak entry must dip."""
        paths = [found.runs[n]["input_jacobian"].values for n in ("starts", "signals", "random")]
        worst = max(float(largest_dips(p)[..., 1].max()) for p in paths)
        return compare(
            at_most(1e-10), single(worst), ("the weak entry", single(found.dips[0.9][0]))
        )

    @claim("majors-never-dip", "Every major entry grows monotonically.", "001 section 4.2.1")
    def majors(self, found: Found) -> Evidence:
        """Dip of the weak entry at correlation 0.9; at 0.99 it is deeper still."""
        return compare(
            at_most(1e-10),
            single(found.dips[0.9][0]),
            ("rows correlated at 0.99", single(found.dips[0.99][0])),
            "While w12 is large, noise outweighs growth: w11 first falls by "
            f"{found.dips[0.9][0]:.0%}, at 0.99 by {found.dips[0.99][0]:.0%}.",
        )

    @claim(
        "three-terms",
        "Growth less suppression less noise is the rate of change of every entry, per paper time, "
        "to 1 % of the largest rate.",
        "001 (4.3), (D.2) to (D.6)",
    )
    def three_terms(self, found: Found) -> Evidence:
        """Largest gap to the run's own differences; per true time it must miss."""
        run = found.runs["reference"].isel(seed=0)
        total = (run["growth"] - run["suppression"] - run["noise"]).values[1:-1]
        change = np.gradient(run["input_jacobian"].values, run["time"].values, axis=0)[1:-1]
        gap, true_gap = (float(np.abs(c - total).max() / np.abs(c).max())
                         for c in (change / 2, change))  # fmt: skip
        control = ("the rate per true time", single(true_gap))
        return compare(at_most(0.01), single(gap), control)

    @claim(
        "theory-over-simulation",
        "The exact flow follows every simulated entry within 0.01.",
        "001 (4.3), with the factor 2 that its derivation drops",
    )
    def theory_over_simulation(self, found: Found) -> Evidence:
        """Largest gap of an entry; the flow read at the printed clock must miss."""
        measured, predicted = (
            x["input_jacobian"].values[0] for x in (found.runs["reference"], found.theory)
        )
        half = predicted[: len(predicted) // 2 + 1]  # the printed clock has got only so far
        printed = np.abs(measured[::2] - half).max()
        control = ("the same flow read at the printed clock", single(printed))
        return compare(at_most(0.01), single(np.abs(measured - predicted).max()), control)

    @claim(
        "peak-identity",
        "For two concepts w12 peaks exactly when w11 (3 a1 + a2) + w22 (3 a2 + a1) = 2 (a1 + a2), "
        "here to 1 %.",
        "derived from 001 (4.3) for d = 2",
    )
    def identity(self, found: Found) -> Evidence:
        """Worst ratio over signals and starts; half-way to the peak it must miss."""
        a = signal(self.task)
        starts = peaks(found.runs["starts"]["input_jacobian"].values[: len(CORRELATIONS), 0])
        gaps = [identity_gap(w, a) for w in starts]
        gaps += [identity_gap(w, b) for w, b in zip(found.at_peak, self._signals(), strict=True)]
        run = found.runs["reference"]["input_jacobian"].values[0]
        early = run[np.abs(run[:, 0, 1]).argmax() // 2]
        control = ("half-way to the peak", single(identity_gap(early, a)))
        return compare(at_most(0.01), single(max(gaps)), control)

    def _signals(self) -> list[np.ndarray]:
        pairs = [(self.task.means[0], m) for m in STRONG_MEANS]
        return [signal(IdentityMapping(m, self.task.scales)) for m in pairs]

    @claim(
        "suppression-threshold",
        "Suppression starts when the strong entry passes 2 (a2 + a1) / (3 a2 + a1), to 0.01, "
        "for signals that differ by a factor 2 or more.",
        "derived from 001 (4.3); replaces the level 0.8 of lemma D.7",
    )
    def threshold(self, found: Found) -> Evidence:
        """Worst gap of w22 at the peak of w12; the printed level must miss."""
        rows = [
            (w[1, 1], float(suppression_threshold(a[1], a[0])))
            for w, a in zip(found.at_peak, self._signals(), strict=True)
            if a[1] >= 2 * a[0]
        ]
        gap, printed = (max(abs(w - level) for w, level in pairs)
                        for pairs in (rows, [(w, 0.8) for w, _ in rows]))  # fmt: skip
        return compare(at_most(0.01), single(gap), ("the printed level 0.8", single(printed)))

    @claim(
        "suppression-needs-a-factor-3",
        "Only signals that differ by more than a factor 3 suppress the minor entry.",
        "001 section 4.2.1 and lemma D.7, taken as a condition",
    )
    def needs_factor(self, found: Found) -> Evidence:
        """Share of closer signals that suppress it all the same."""
        run = np.abs(found.runs["signals"]["input_jacobian"].values[:, 0, :, 0, 1])
        suppressed = run[:, -1] < 0.01 * run.max(axis=1)
        close = np.array([a[1] < 3 * a[0] for a in self._signals()])
        return compare(
            at_most(0),
            single(suppressed[close].mean()),
            ("signals that differ by more", single(suppressed[~close].mean())),
            "Every difference suppresses in the end; a factor 3 is where it starts below 0.8.",
        )

    covers = theorem_claims.covers
    ordinary = theorem_claims.ordinary
    printed_rate = theorem_claims.printed_rate
    fades = theorem_claims.fades
    lemmas_hold = theorem_claims.lemmas_hold
    suffice = theorem_claims.suffice
    noise_printed = theorem_claims.noise_printed
    noise_squared = theorem_claims.noise_squared
    schur_small = law_claims.schur_small
    schur_large = law_claims.schur_large

    # --- charts ------------------------------------------------------------------------------

    @chart
    def stages(self, found: Found) -> Chart:
        """Fig. 5: entries and loss with the stages, theory over simulation."""
        return stage_charts.stages(found.runs["reference"], found.theory, signal(self.task))

    @chart
    def terms(self, found: Found) -> Chart:
        """Growth, suppression and noise of three entries."""
        return stage_charts.terms(found.runs["reference"])

    @chart
    def dips(self, found: Found) -> Chart:
        """The weak entry for several correlations, and where suppression starts."""
        levels = [(a[1] / a[0], w[1, 1])
                  for w, a in zip(found.at_peak, self._signals(), strict=True)]  # fmt: skip
        return stage_charts.dips(found.runs["starts"], CORRELATIONS, levels)

    @chart
    def regime(self, found: Found) -> Chart:
        """Where the theorem lives: size of start against peak of the minor entry."""
        starts = found.runs["starts"].isel({"seed": 0, AXIS: slice(len(CORRELATIONS), None)})
        return stage_charts.regime(starts, SIZES, signal(self.task), found.lemmas["correlated"])

    @chart
    def law(self, found: Found) -> Chart:
        """Predicted against measured times."""
        return stage_charts.law(found.law)

    @chart
    def kinds(self, found: Found) -> Chart:
        """Fig. 4: the kinds of entries."""
        return stage_charts.kinds(dimension=5, concepts=3)
