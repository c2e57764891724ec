"""The quartic (x^2 - 1)^2 / 4 past the edge of stability: period 2, 4, 8, ..., chaos, escape.

002 Theorem 3.3, Fig. B.5, and the bifurcation diagram. K is the learning rate (mu = 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.records import Headline
from dynascope.engine.bifurcation import Diagram, bifurcation
from dynascope.engine.orbits import Observed, observe
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    compare,
    near,
    share,
    single,
)
from dynascope.studies.oscillation.drawing import diagram_panel
from dynascope.studies.oscillation.functions import QUARTIC
from dynascope.studies.oscillation.scalar_runs import lowest, settled_share, two_steps
from dynascope.theories.doubling import FEIGENBAUM, period_doublings
from dynascope.theories.one_dimension import Flip, flip
from dynascope.theories.quartic import (
    BOUNDED_UNTIL,
    DOUBLING,
    PRINTED_RULE_ENDS,
    SIGN_CHANGES,
    SUPERSTABLE,
    orbit_points,
    printed_rate,
)

RATES = (0.9, 1.6)
FIGURE = {1.05: 2, 1.235: 2, 1.237: 4}  # periods read off Fig. B.5
START = 0.9
SCAN, ONSET = (1.281, 1.6), (1.29, 1.32)  # rates that are judged one by one
ACCUMULATION = 1.302283  # where the doublings end


class Found(NamedTuple):
    """What claims and charts read."""

    edge: Flip
    diagram: Diagram
    doublings: tuple[float, ...]
    seen: dict[float, Observed]  # by learning rate
    scan: dict[float, Observed]  # of rates from SCAN
    onset: dict[float, Observed]  # of rates from ONSET


@dataclass(frozen=True)
class QuarticOrbits(Study):
    """One function from convergence to escape, by closed forms and by many descents."""

    name: ClassVar[str] = "quartic-orbits"
    title: ClassVar[str] = "From one point to two, four, chaos and escape as the rate grows"
    source: ClassVar[str] = "002 Thm. 3.3, Fig. B.5"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"per_column": 20, "starts": 200, "scanned": 20},
        "laptop": {},
        "paper": {"per_column": 4167, "starts": 20_000, "scanned": 200},
    }

    columns: int = 240
    bins: int = 180
    per_column: int = 200  # paper: a million descents
    steps: int = 2000
    starts: int = 2000
    scanned: int = 60  # learning rates in each of SCAN and ONSET
    seed: int = 0

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "The theorem's bound sqrt(4.5) - 1 = 1.1213 is where the orbit is superstable, not "
            "where it ends: it attracts up to sqrt(5) - 1 = 1.2361.",
            "The orbit exists for every K > 1; the printed end 3/2 comes from a lost branch "
            "of a square root, beyond which (3.4) no longer describes the larger point.",
            "Chaos is printed to begin at 1.28, read off a picture; period 4 lasts to 1.2880, and "
            f"the doublings end at {ACCUMULATION:g}.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """The diagram, the doublings, and verdicts of single rates."""
        edge = flip(QUARTIC, 1.0)
        diagram = bifurcation(
            edge.f, RATES, START, (-0.05, 1.35), columns=self.columns, bins=self.bins,
            per_column=self.per_column, steps=self.steps,
        )  # fmt: skip
        single_rates = (0.95, *FIGURE, 1.31, BOUNDED_UNTIL, 2.01)
        seen = {rate: observe(edge.f, rate, START) for rate in single_rates}
        scan, onset = (
            {r: observe(edge.f, r, START) for r in np.linspace(a, b, self.scanned).tolist()}
            for a, b in (SCAN, ONSET)
        )
        return Found(edge, diagram, period_doublings(edge, 7), seen, scan, onset)

    def headline(self, found: Found) -> Headline:
        """The extent of the visited values over the learning rate."""
        d = found.diagram
        spread = np.array([_extent(row, d.values) for row in d.counts])
        return Headline(
            title="Extent of the values that descent visits in the end",
            x_label="learning rate",
            y_label="highest less lowest x",
            x=tuple(d.learning_rates.tolist()),
            y=tuple(spread.tolist()),
            theory=tuple(float(np.ptp(orbit_points(1.0, r))) for r in d.learning_rates),
            note="theory: the orbit of period 2, which attracts up to 1.2361",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "orbit",
        "For 1 < K < 1.1213 every start in (0, 1) ends on the orbit of period 2.",
        "002 Thm. 3.3",
    )
    def orbit(self, found: Found) -> Evidence:
        """Random starts at five rates, against the closed form."""
        return self._settles((1.01, 1.03, 1.05, 1.08, SUPERSTABLE))

    @claim(
        "orbit-until-doubling",
        "They do so up to K = sqrt(5) - 1, beyond the printed bound.",
        "derived; extends 002 Thm. 3.3",
    )
    def orbit_until_doubling(self, found: Found) -> Evidence:
        """Random starts between the printed bound and the doubling."""
        return self._settles((1.13, 1.17, 1.2, 1.22, 1.23))

    def _settles(self, rates: tuple[float, ...]) -> Evidence:
        starts = np.random.default_rng(self.seed).uniform(0.01, 0.99, self.starts)
        words = "K = 1.25, beyond the doubling"
        return compare(
            at_least(0.99),
            share(np.concatenate([settled_share(starts, rate) for rate in rates])),
            (words, share(settled_share(starts, 1.25))),
            f"{self.starts} starts at K = {', '.join(f'{r:.4g}' for r in rates)}, within 1e-9.",
        )

    @claim(
        "equation",
        "Both points of the orbit solve (3.4) as long as K is at most 1.5.",
        "002 (3.4)",
    )
    def equation(self, found: Found) -> Evidence:
        """Worst error of the printed rate, below 1.5 and at 1.9."""
        words = "K = 1.9"
        worst = _printed_error(np.linspace(1.01, PRINTED_RULE_ENDS, 50))
        return compare(at_most(1e-9), single(worst), (words, single(_printed_error([1.9]))))

    @claim(
        "existence-as-printed",
        "The orbit exists only up to K = 1.5.",
        "002 (B.17)",
    )
    def existence_as_printed(self, found: Found) -> Evidence:
        """Largest K at which two steps lead a point of the closed form back exactly."""
        returns = {
            k: _returns(orbit_points(1.0, k)[1], k) for k in np.linspace(1.01, 1.99, 99).tolist()
        }
        last = max(k for k, back in returns.items() if back)
        words = "a point 1% beside the orbit, which never returns, counted as 2"
        control = 1.2 if _returns(1.01 * orbit_points(1.0, 1.2)[1], 1.2) else 2.0
        return compare(at_most(1.5), single(last), (words, single(control)))

    @claim(
        "multiplier",
        "An error of the orbit is multiplied by 9 - 2 (K + 1)^2 in two steps.",
        "derived from 002 Thm. 3.3",
    )
    def multiplier(self, found: Found) -> Evidence:
        """Central differences of two steps, against the formula and against that of K + 0.01."""
        rates = np.linspace(1.01, 1.5, 30)
        right, shifted = (_multiplier_error(rates, shift) for shift in (0.0, 0.01))
        words = "the formula at K + 0.01"
        return compare(at_most(1e-6), single(right), (words, single(shifted)))

    @claim(
        "figure",
        "Descent has period 2 at rates 1.05 and 1.235 and period 4 at 1.237.",
        "002 Fig. B.5",
    )
    def figure(self, found: Found) -> Evidence:
        """Share of the three rates with the printed period."""
        right = [found.seen[rate].period == period for rate, period in FIGURE.items()]
        control = found.seen[1.31].period in FIGURE.values()
        words = "rate 1.31, in chaos"
        return compare(
            at_least(1.0), single(float(np.mean(right))), (words, single(float(control)))
        )

    @claim("doubling", "Period 4 begins at K = sqrt(5) - 1.", "derived; 002 B.12 has it by eye")
    def doubling(self, found: Found) -> Evidence:
        """Where the second iterate's multiplier is -1, by Newton's method on the map."""
        _, second, third, *_ = found.doublings
        words = "the next doubling"
        return compare(near(DOUBLING, 1e-9), single(second), (words, single(third)))

    @claim(
        "feigenbaum",
        "Successive doublings come closer by Feigenbaum's ratio.",
        "universality; the values are ours",
    )
    def feigenbaum(self, found: Found) -> Evidence:
        """Last ratio of the gaps between doublings, and the first."""
        ratios = _ratios(found.doublings)
        listed = ", ".join(f"{r:.4f}" for r in ratios)
        words = "the first ratio, before the law holds"
        expected = near(round(FEIGENBAUM, 6), 0.005)
        return compare(
            expected, single(ratios[-1]), (words, single(ratios[0])), f"Ratios: {listed}."
        )

    @claim("chaos-as-printed", "Every rate above 1.28 is chaotic.", "002 section 3.5, read off")
    def chaos_as_printed(self, found: Found) -> Evidence:
        """Share of scanned rates above 1.28 that are chaotic; with windows and doublings."""
        flags = [seen.verdict == "chaotic" for seen in found.scan.values()]
        below = [found.seen[rate].verdict == "chaotic" for rate in FIGURE]
        words = "rates of Fig. B.5"
        periodic = [f"{r:.4g}: {s.verdict}" for r, s in found.scan.items() if s.period][:6]
        return compare(
            at_least(1.0), single(float(np.mean(flags))),
            (words, single(float(np.mean(below)))), f"Not chaotic: {'; '.join(periodic)}.",
        )  # fmt: skip

    @claim(
        "chaos",
        "The first chaotic rate is where the doublings end, at 1.3023.",
        "derived; corrects 002 section 3.5",
    )
    def chaos(self, found: Found) -> Evidence:
        """Lowest chaotic rate of a fine scan, to three of its steps."""
        chaotic = [rate for rate, seen in found.onset.items() if seen.verdict == "chaotic"]
        past_four = [rate for rate, seen in found.onset.items() if seen.period not in (2, 4)]
        return compare(
            near(ACCUMULATION, 3 * (ONSET[1] - ONSET[0]) / self.scanned),
            single(min(chaotic, default=math.nan)),
            ("the first rate past period 4", single(min(past_four, default=math.nan))),
            f"{len(found.onset)} rates from {ONSET[0]:g} to {ONSET[1]:g}.",
        )

    @claim(
        "diagram",
        "In the diagram descents lie on the predicted orbit wherever it attracts.",
        "002 Thm. 3.3 over the bifurcation diagram",
    )
    def diagram(self, found: Found) -> Evidence:
        """Share of visits within one bin of the orbit, and of that at a 3% larger rate."""
        shares = [_visits_on_orbit(found.diagram, factor) for factor in (1.0, 1.03)]
        words = "the orbit of a rate 3% larger"
        return compare(at_least(0.99), single(shares[0]), (words, single(shares[1])))

    @claim(
        "positive",
        "Iterates stay positive forever if and only if K < 3 sqrt(3) / 2 - 1.",
        "002 appendix B, proof of Thm. 3.3",
    )
    def positive(self, found: Found) -> Evidence:
        """Lowest iterate just below and just above the bound."""
        below, above = (lowest(SIGN_CHANGES + side) for side in (-1e-3, 1e-3))
        return compare(at_least(0.0), single(below), ("just above", single(above)))

    @claim("bounded", "Descent stays bounded if K is at most 2.", "002 appendix B")
    def bounded(self, found: Found) -> Evidence:
        """The exponent at K = 2 is log 3, and 2.01 escapes."""
        at, beyond = found.seen[BOUNDED_UNTIL], found.seen[2.01]
        control = single(float(beyond.verdict != "diverges"))
        return compare(
            at_least(1.0), single(float(at.verdict != "diverges")), ("K = 2.01", control),
            f"At K = 2 the Lyapunov exponent is {at.lyapunov:.4f} (log 3 = {math.log(3):.4f}); "
            f"2.01 escapes after {beyond.steps} steps.",
        )  # fmt: skip

    # --- charts --------------------------------------------------------------------------

    @chart
    def bifurcation_diagram(self, found: Found) -> Chart:
        """The diagram with the predicted orbit and thresholds over it."""
        marked = ((SUPERSTABLE, "Thm. 3.3 ends: 1.1213"), (ACCUMULATION, "chaos: 1.3023"))
        panel = diagram_panel(found.diagram, found.edge, found.doublings[:3], marked)
        return Chart(
            "bifurcation", "Where descent on (x^2 - 1)^2 / 4 ends",
            f"{self.columns * self.per_column:,} descents of {self.steps:,} steps. Dashed: the "
            "orbit in closed form, up to where it loses its stability; grey: beyond.",
            (panel,),
        )  # fmt: skip

    @chart
    def three_rates(self, found: Found) -> Chart:
        """Fig. B.5."""
        panels = []
        for rate in FIGURE:
            last = found.seen[rate].last[:40]
            marks: list[Mark] = [Points(np.arange(40.0), last, "iterates, settled")]
            for k, x in enumerate(orbit_points(1.0, rate)):
                marks.append(Line((0, 39), (x, x), "" if k else "orbit of period 2", "theory"))
            panels.append(Panel(tuple(marks), f"rate {rate:g}", "step, after 20,000", "x"))
        return Chart(
            "three-rates", "Period 2, period 2, period 4",
            "At 1.237 the orbit of period 2 (dashed) has lost its stability to one of period 4.",
            tuple(panels),
        )  # fmt: skip

    @chart
    def doublings(self, found: Found) -> Chart:
        """Ratios of the gaps between doublings."""
        ratios = _ratios(found.doublings)
        marks = (
            Points(np.arange(2.0, 2 + len(ratios)), ratios, "ratio of successive gaps"),
            Reference("y", FEIGENBAUM, "Feigenbaum's constant"),
        )
        return Chart(
            "feigenbaum", "Doublings come closer by one universal ratio",
            "Each doubling is a root of the map's own equations, to rounding.",
            (Panel(marks, "", "doubling", "ratio"),),
        )  # fmt: skip


def _returns(x: float, rate: float) -> bool:
    return abs(two_steps(x, rate) - x) < 1e-12


def _printed_error(rates: Any) -> float:
    """Largest distance of the rate that (3.4) gives for a point of the orbit from the true one."""
    errors = [abs(printed_rate(x, 1.0) - k) for k in rates for x in orbit_points(1.0, k)]
    return float(max(errors))


def _multiplier_error(rates: np.ndarray, shift: float) -> float:
    worst = 0.0
    for k in rates.tolist():
        x = orbit_points(1.0, k)[0]
        slope = (two_steps(x + 1e-5, k) - two_steps(x - 1e-5, k)) / 2e-5
        worst = max(worst, abs(slope - (9 - 2 * (k + shift + 1) ** 2)))
    return worst


def _ratios(doublings: tuple[float, ...]) -> list[float]:
    gaps = np.diff(doublings)
    return (gaps[:-1] / gaps[1:]).tolist()


def _extent(counts: np.ndarray, values: np.ndarray) -> float:
    visited = values[counts > 0]
    return float(np.ptp(visited)) if visited.size else math.nan


def _visits_on_orbit(diagram: Diagram, factor: float) -> float:
    """Share of visits within a bin of the orbit at `factor` times the rate, where it is stable."""
    width = diagram.values[1] - diagram.values[0]
    shares = []
    for rate, counts in zip(diagram.learning_rates, diagram.counts, strict=True):
        if 1.01 < rate < 1.23:
            points = orbit_points(1.0, rate * factor)
            close = np.abs(diagram.values[:, None] - points).min(axis=1) < 1.5 * width
            shares.append(counts[close].sum() / counts.sum())
    return float(np.mean(shares))
