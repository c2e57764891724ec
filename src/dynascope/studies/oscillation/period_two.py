"""Period 2: which minima are left for a stable oscillation, and how large it is.

002 Theorem 3.1, Lemma 3.2, Propositions 1 and 2 with their corollaries, Fig. B.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.records import Headline
from dynascope.engine.orbits import observe
from dynascope.numerics.iteration import steps
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, share, single
from dynascope.studies.oscillation.functions import (
    FITTED,
    QUARTIC,
    Amplitudes,
    amplitudes,
    loss_of,
)
from dynascope.theories.fitting import COUNTEREXAMPLES, Composition, compose_jets, fit_condition
from dynascope.theories.one_dimension import Flip, flip

FIGURE_RATE = 1.01  # of Fig. B.1; both functions have their limit at 1
FAR = 0.2  # an excess at which a law for small ones must be wrong
STEEP = "x**2+x**4"  # subcritical: 3 f3^2 - f2 f4 = -48
FIFTH = "x**2/2+x**5/120-x**6/720"  # f3 = f4 = 0, f5 = 1, f6 = -1


class Found(NamedTuple):
    """What claims and charts read."""

    fits: dict[str, Amplitudes]  # of (g - y)^2 by the name of g, over `kappas` and FAR
    quartic: Flip
    sine: Flip
    jets: list[Composition]  # random pairs


@dataclass(frozen=True)
class PeriodTwo(Study):
    """Supercritical minima oscillate, with a known amplitude; the composition rule is wrong."""

    name: ClassVar[str] = "period-two"
    title: ClassVar[str] = "Past the edge of stability descent settles on an orbit of period 2"
    source: ClassVar[str] = "002 Thm. 3.1, Lemma 3.2, Props. 1, 2, Fig. B.1"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"kappas": (0.001, 0.01), "pairs": 500},
        "laptop": {},
        "paper": {"kappas": (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), "pairs": 100_000},
    }

    kappas: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03)
    pairs: int = 10_000
    seed: int = 0

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "The condition 3 f3^2 - f2 f4 > 0 says that the flip bifurcation at 2 / f2 is "
            "supercritical. So the orbit also attracts, and f3 != 0 is not needed.",
            "Proposition 2 is false as printed; its claim and that of the corrected rule are both "
            "judged. The corollary for log has a wrong sign in g''' but a right conclusion.",
            "Fig. B.1 does not give its starts; ours are 0.1 below the minimum.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Amplitudes of all named functions, the two of Fig. B.1, random compositions."""
        excesses = (*self.kappas, FAR)
        fits = {name: amplitudes(loss_of(g, at), at, excesses) for name, (g, at) in FITTED.items()}
        jets = np.random.default_rng(self.seed).normal(size=(self.pairs, 2, 3))
        pairs = [compose_jets(inner, outer) for inner, outer in jets]
        return Found(fits, flip(QUARTIC, 1.0), flip("2*sin(x)", -1.5), pairs)

    def headline(self, found: Found) -> Headline:
        """Half-amplitude of the quartic's orbit against the excess."""
        edge = found.quartic
        kappas = np.linspace(1e-3, 0.2, 25)
        orbits = [edge.orbit(1 + k) for k in kappas]
        seen = [observe(edge.f, 1 + k, 0.9).points for k in kappas]
        return Headline(
            title="(x^2 - 1)^2 / 4: distance of the two points that descent settles on",
            x_label="learning rate over its limit, less 1",
            y_label="distance",
            x=tuple(kappas.tolist()),
            y=tuple(p[-1] - p[0] for p in seen),
            theory=tuple(o.points[1] - o.points[0] for o in orbits if o),
            note="the orbit found without simulation lies under the measured points",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "rate-for-a-point",
        "Every point just below a supercritical minimum lies on an orbit of period 2, at a rate "
        "between the limit and the printed bound.",
        "002 Thm. 3.1",
    )
    def rate_for_a_point(self, found: Found) -> Evidence:
        """Points of the quartic, by the return of two steps; a subcritical minimum refuses."""
        return compare(
            at_least(1.0),
            single(_bracketed(found.quartic, np.linspace(0.8, 0.999, 40))),
            (f"{STEEP}, subcritical", single(_bracketed(flip(STEEP, 0.1), -_DISTANCES))),
            "Share of 40 points whose rate is inside the bracket and whose second iterate is back "
            "within 1e-9.",
        )

    @claim(
        "higher-order",
        "Where the third derivative vanishes, the lowest one that does not decides in its place.",
        "002 Lemma 3.2, Cor. 1",
    )
    def higher_order(self, found: Found) -> Evidence:
        """Fourth order (sine) and fifth order; cosh has the wrong sign at fourth order."""
        fifth = flip(FIFTH, 0.1)
        good = [_bracketed(found.sine, found.sine.minimum - _DISTANCES)]
        good.append(_bracketed(fifth, fifth.minimum - _DISTANCES))
        cosh = flip("(exp(x)+exp(-x))/2", 0.3)
        control = _bracketed(cosh, cosh.minimum - _DISTANCES)
        return compare(at_least(1.0), single(min(good)), ("cosh, f4 > 0", single(control)))

    @claim(
        "attracts",
        "The orbit is not only there, it attracts.",
        "derived: the condition of 002 Thm. 3.1 is that of a supercritical flip",
    )
    def attracts(self, found: Found) -> Evidence:
        """Largest two-step multiplier at small excess over the named functions."""
        worst = max(
            abs(fit.edge.multiplier(fit.edge.stability_limit * (1 + self.kappas[0])) or math.inf)
            for fit in found.fits.values()
        )
        steep = flip(STEEP, 0.1)
        control = steep.multiplier(steep.stability_limit * (1 - self.kappas[0])) or 0.0
        words = f"{STEEP}, whose orbit lies before the limit"
        return compare(at_most(1 - 1e-6), single(worst), (words, single(control)))

    @claim(
        "amplitude",
        "Near onset half the distance of the two points is sqrt(6 kappa f2^2 / (3 f3^2 - f2 f4)).",
        "derived from the expansion 002 (B.6)",
    )
    def amplitude(self, found: Found) -> Evidence:
        """Worst relative error over the named functions at kappa = 0.001, and far off."""
        at = self.kappas.index(0.001) if 0.001 in self.kappas else 0
        near, far = ([_error(f, k) for f in found.fits.values()] for k in (at, len(self.kappas)))
        words = f"the same law at kappa = {FAR:g}, where it does best"
        return compare(at_most(0.01), single(max(near)), (words, single(min(far))))

    @claim(
        "fitting",
        "Descent on (g - y)^2 oscillates stably past its limit for every g that is named.",
        "002 Prop. 1, Cors. 2 to 8",
    )
    def fitting(self, found: Found) -> Evidence:
        """Share of the named functions that settle on an orbit of period 2."""
        settles = [math.isfinite(f.simulated[k]) for f in found.fits.values() for k in (0, 1)]
        holds = [fit_condition(g, at).holds for g, at in FITTED.values()]
        line = flip("(2*x-1)**2", 0.3)
        control = observe(line.f, 1.01 * line.stability_limit, 0.4).period == 2
        return compare(
            at_least(1.0),
            single(float(np.mean([*settles, *holds]))),
            ("g linear, where g' g''' = 6 g''^2 = 0", single(float(control))),
        )

    @claim(
        "composition-as-printed",
        "If two functions satisfy Proposition 1, so does one after the other.",
        "002 Prop. 2",
    )
    def composition_as_printed(self, found: Found) -> Evidence:
        """Random pairs to which the rule applies; the two counterexamples are in the note."""
        asked = [c.whole.holds for c in found.jets if c.printed]
        settles = [
            f"{outer} after {inner}: {_outcome(inner, outer, at)}"
            for inner, outer, at in COUNTEREXAMPLES
        ]
        others = [c.whole.holds for c in found.jets if not c.printed]
        return compare(
            at_least(1.0),
            single(float(np.mean(asked))),
            ("pairs of which one does not satisfy it", share(np.array(others))),
            f"Share of {len(asked)} random pairs. Counterexamples: {'; '.join(settles)}.",
        )

    @claim(
        "composition-corrected",
        "If two functions satisfy Proposition 1 and g' g'' f'' >= 0, so does g after f.",
        "derived; corrects 002 Prop. 2",
    )
    def composition_corrected(self, found: Found) -> Evidence:
        """Random pairs with the right sign; with the wrong sign some fail."""
        right = [c.whole.holds for c in found.jets if c.corrected]
        wrong = [c.whole.holds for c in found.jets if c.printed and not c.corrected]
        return compare(
            at_least(1.0),
            single(float(np.mean(right))),
            ("the wrong sign", single(float(np.mean(wrong)))),
            f"Share of {len(right)} random pairs.",
        )

    @claim(
        "two-functions",
        "At rate 1.01 (x^2 - 1)^2 / 4 and 2 sin x settle on the orbits that theory gives.",
        "002 Fig. B.1",
    )
    def two_functions(self, found: Found) -> Evidence:
        """Largest distance of a simulated point from its prediction."""
        seen = [_miss(edge, FIGURE_RATE) for edge in (found.quartic, found.sine)]
        control = _miss(found.quartic, FIGURE_RATE, 0.99)
        words = "the points of rate 0.99, before the limit"
        return compare(at_most(1e-9), single(max(seen)), (words, single(control)))

    # --- charts --------------------------------------------------------------------------

    @chart
    def figure_b1(self, found: Found) -> Chart:
        """Two descents past the limit."""
        return Chart(
            "two-functions", "Descent at rate 1.01, just past the limit 1",
            "Both begin 0.1 below the minimum and end on two points (dashed: predicted).",
            (_descent_panel(found.quartic), _descent_panel(found.sine)),
        )  # fmt: skip

    @chart
    def law(self, found: Found) -> Chart:
        """All amplitudes on one curve."""
        excess = (*self.kappas, FAR)
        marks: list[Mark] = [
            Points(excess, np.array(fit.simulated) / fit.edge.length, name, group=k)
            for k, (name, fit) in enumerate(found.fits.items())
        ]
        ends = (min(excess) / 1.5, 1.5 * FAR)
        marks.append(Line(ends, np.sqrt(ends), "sqrt(kappa)", "theory"))
        x_label = "excess kappa of the learning rate"
        whole = Panel(tuple(marks), "", x_label, "half-amplitude / length", "log", "log")
        ratios = [
            Line(excess, np.array(fit.simulated) / fit.law, name, group=k)
            for k, (name, fit) in enumerate(found.fits.items())
        ]
        ratio = Panel((*ratios, Reference("y", 1.0)), "", x_label, "simulated / law", "log")
        return Chart(
            "amplitude", "One law for the amplitude of every function",
            "Each half-amplitude in units of its function's own length, "
            "sqrt(6 f2^2 / (3 f3^2 - f2 f4)). Near onset all lie on the dashed line.",
            (whole, ratio),
        )  # fmt: skip

    @chart
    def rates(self, found: Found) -> Chart:
        """Theorem 3.1 for the quartic."""
        points = np.linspace(0.8, 0.999, 60)
        rates = [found.quartic.rate_for(x) for x in points]
        marks = (
            Line(points, [r.learning_rate for r in rates if r], "rate for the point"),
            Line(points, [r.bound or np.nan for r in rates if r], "printed bound", "theory"),
            Reference("y", 1.0, "limit 2 / f''"),
        )
        return Chart(
            "rate-for-a-point", "Which learning rate puts a point on an orbit of period 2",
            "The rate lies between the limit and the printed bound for every point.",
            (Panel(marks, "(x^2 - 1)^2 / 4", "point below the minimum", "learning rate"),),
        )  # fmt: skip


_DISTANCES = np.linspace(0.02, 0.2, 10)


def _bracketed(edge: Flip, points: np.ndarray) -> float:
    """Share of distances from the minimum at which the theorem holds on one side or the other."""
    sides = [(x, 2 * edge.minimum - x) for x in points.tolist()]
    return float(np.mean([any(_in_bracket(edge, x) for x in both) for both in sides]))


def _in_bracket(edge: Flip, x: float) -> bool:
    """Whether a point returns after two steps at a rate inside the printed bracket."""
    rate = edge.rate_for(x)
    if rate is None or rate.bound is None:
        return False
    back = abs(float(steps(edge.f, x, rate.learning_rate, 2)) - x) < 1e-9
    return back and edge.stability_limit < rate.learning_rate < rate.bound


def _error(fit: Amplitudes, k: int) -> float:
    """Relative error of the law; infinite where descent settles on no orbit."""
    if not math.isfinite(fit.simulated[k]):
        return math.inf
    return abs(fit.law[k] / fit.simulated[k] - 1)


def _outcome(inner: str, outer: str, at: float) -> str:
    """What descent does to a composed function at three small excesses."""
    whole = outer.replace("x", f"({inner})")
    if inner == "exp(x)":  # log(exp(x)) is x, and no rounding should hide that
        whole = "x"
    edge = flip(loss_of(whole, at), at)
    seen = [
        observe(edge.f, edge.stability_limit * (1 + k), at - 0.01).verdict
        for k in (0.001, 0.01, 0.05)
    ]
    return ", ".join(seen)


def _miss(edge: Flip, rate: float, simulated_rate: float | None = None) -> float:
    seen = observe(edge.f, simulated_rate or rate, edge.minimum - 0.1).points
    orbit = edge.orbit(rate)
    if orbit is None or not seen:
        return math.inf
    return max(abs(seen[0] - orbit.points[0]), abs(seen[-1] - orbit.points[1]))


def _descent_panel(edge: Flip) -> Panel:
    states = [edge.minimum - 0.1]
    for _ in range(250):
        states.append(float(steps(edge.f, states[-1], FIGURE_RATE, 1)))
    orbit = edge.orbit(FIGURE_RATE)
    marks: list[Mark] = [Points(np.arange(251.0), states, "iterates")]
    for k, x in enumerate(orbit.points if orbit else ()):
        marks.append(Line((0, 250), (x, x), "" if k else "predicted", "theory"))
    return Panel(tuple(marks), edge.function, "step", "x")
