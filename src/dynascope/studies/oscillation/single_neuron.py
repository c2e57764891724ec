"""One ReLU neuron past the edge of stability: it turns to its teacher, then oscillates.

002 Theorem 3.5, Proposition 4, Fig. B.2, appendix B.9. K is the learning rate over the dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.records import Headline
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.models import Neurons
from dynascope.probes import Loss, NeuronWeights
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    near,
    share,
    single,
)
from dynascope.studies.oscillation.drawing import above_rounding, orbit_lines, trace_panels
from dynascope.studies.oscillation.neuron_runs import (
    Facts,
    facts,
    gradient_error,
    hessian_error,
    map_error,
    on_orbit,
    periods,
    settled,
)
from dynascope.tasks import TeacherStudent
from dynascope.theories.neuron import (
    Neuron,
    decay_factors,
    deviation_bound,
    reduced_descent,
)

FIGURE = 1.1  # K of Fig. B.2
START = (0.1, 0.0, 0.1)  # of Fig. B.2: v and the two parts of w
DIMENSIONS = (2, 5, 20)
SLOW = 0.2  # a strength far below the edge, for controls
THEOREM, BEYOND, DOUBLED = (1.02, 1.05, 1.1), (1.13, 1.17, 1.2, 1.23), 1.25


class Found(NamedTuple):
    """What claims and charts read."""

    proof: Facts  # over the theorem's grid
    slow: Facts  # the same at K = SLOW
    large: Facts  # the same from larger starts
    trace: Neuron  # population, Fig. B.2's start, by step
    sampled: np.ndarray  # v, w_x, w_y on points, (seeds, steps + 1, 3)
    ends: dict[float, Neuron]  # by K: the last 512 steps from many angles


@dataclass(frozen=True)
class SingleNeuron(Study):
    """The theorem's bound on a grid, the proof's stages one by one, the orbit, and 1000 points."""

    name: ClassVar[str] = "single-neuron"
    title: ClassVar[str] = "A neuron turns to its teacher and then oscillates, layers balanced"
    source: ClassVar[str] = "002 Thm. 3.5, Prop. 4, Fig. B.2"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 8},
        "laptop": {},
        "paper": {"strengths": 40, "seeds": 200},
    }

    strengths: int = 20
    sizes: int = 10
    angles: int = 50
    steps: int = 400
    points: int = 1000
    seeds: int = 32
    seed: int = 0

    def plan(self) -> dict[str, Experiment]:
        """Fig. B.2: the loss on points instead of the population."""
        experiment = Experiment(
            TeacherStudent(neurons=1, dimension=2, points=self.points),
            Neurons(start=(START,)),
            GradientDescent(2 * FIGURE),
            (Loss(), NeuronWeights()),
            steps=100,
            seeds=tuple(range(self.seeds)),
            dtype="float64",
        )
        return {"points": experiment}

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "T1 of the theorem is read as its printed bound; with the measured length of the "
            "first stage the bound on the part across holds as well.",
            "The proof names both four and eight steps from the first stage to the basin, and its "
            "table of intervals does not follow from its own rules: here the descents themselves "
            "are followed, on a grid.",
            "The theorem ends at K = 1.1; the orbit attracts up to sqrt(5) - 1 = 1.2361, from "
            "obtuse angles too.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Descents over the theorem's grid and its controls, long ones, and the runs."""
        strengths = np.linspace(1.0, 1.1, self.strengths + 1)[1:]
        sizes = np.linspace(0.0, 0.1, self.sizes + 1)[1:]
        angles = np.linspace(0.0, np.pi / 2, self.angles)
        trace = reduced_descent(Neuron(*np.array(START)), FIGURE, 100)
        return Found(
            facts(strengths, sizes, angles, self.steps),
            facts(np.array([SLOW]), sizes, angles, self.steps),
            facts(strengths, 5 * sizes, angles, self.steps),
            trace,
            runs["points"]["neuron_weights"].values[:, :, 0],
            {k: settled(k) for k in (*THEOREM, *BEYOND, DOUBLED)},
        )

    def headline(self, found: Found) -> Headline:
        """The part across the teacher, and the theorem's bound on it."""
        across = found.trace.across[:31]
        bound = deviation_bound(np.arange(31), FIGURE, START[0])
        return Headline(
            title=f"Part of w across the teacher, K = {FIGURE:g}",
            x_label="step",
            y_label="w_y",
            x=tuple(np.arange(31.0).tolist()),
            y=tuple(across.tolist()),
            theory=tuple(np.where(np.isfinite(bound), bound, np.nan).tolist()),
            note="theory: the bound of Theorem 3.5, which begins at step 8 and is far from tight",
        )

    # --- claims: the system ----------------------------------------------------------------

    @claim(
        "gradient",
        "The population's gradient has the printed closed form, in any dimension.",
        "002 section 3.5",
    )
    def gradient(self, found: Found) -> Evidence:
        """Largest difference to a million sampled points, and with a teacher turned by 0.1."""
        right, turned = (max(gradient_error(d, t, self.seed) for d in (2, 5)) for t in (0, 0.1))
        return compare(
            at_most(3e-3), single(right), ("a teacher turned by 0.1 rad", single(turned)),
            "A million points in 2 and in 5 dimensions.",
        )  # fmt: skip

    @claim(
        "sharpness",
        "At a minimiser the Hessian's eigenvalues are (|w|^2 + v^2) / d, v^2 / d and 0.",
        "002 (3.5)",
    )
    def sharpness(self, found: Found) -> Evidence:
        """Worst error against differences of the gradient, and of the flattest minimiser's."""
        right, flattest = (
            max(hessian_error(d, v) for d in DIMENSIONS for v in values)
            for values in ((0.7, 1.0, 1.6), (None,))
        )
        words = "eigenvalues of the flattest minimiser, at v = 1.6"
        return compare(at_most(1e-6), single(right), (words, single(flattest)))

    @claim(
        "three-numbers",
        "Descent in any dimension is that of three numbers, and the dimension drops out.",
        "002 (B.58) to (B.61)",
    )
    def three_numbers(self, found: Found) -> Evidence:
        """Largest difference over 100 steps in 2, 5 and 20 dimensions."""
        right, other = (
            max(map_error(d, FIGURE, k, self.seed) for d in DIMENSIONS)
            for k in (FIGURE, FIGURE + 0.001)
        )
        words = "three numbers at a K larger by 0.001"
        return compare(at_most(1e-12), single(right), (words, single(other)))

    # --- claims: the theorem and its proof ---------------------------------------------------

    @claim(
        "deviation",
        "For 1 < K <= 1.1 and starts of at most 0.1 the part across the teacher stays below "
        "0.1 (1 - 0.03 K)^(t - T1 - 4).",
        "002 Thm. 3.5",
    )
    def deviation(self, found: Found) -> Evidence:
        """Number of violations over grid and steps."""
        return compare(
            at_most(0.0), single(found.proof.violations),
            (f"K = {SLOW:g}", single(found.slow.violations)),
            f"{found.proof.checks:,} checks; at worst {found.proof.worst.max():.3f} of the bound.",
        )  # fmt: skip

    @claim(
        "first-stage",
        "The part across grows for at most log_2.56(1.35 / (pi beta^2)) steps.",
        "002 Thm. 3.5, T1",
    )
    def first_stage(self, found: Found) -> Evidence:
        """Printed length less measured length, at worst."""
        return compare(
            at_least(0.0), single(found.proof.spare_steps),
            (f"K = {SLOW:g}", single(found.slow.spare_steps)),
        )  # fmt: skip

    @claim(
        "growth",
        "In the first stage every step multiplies v w_x by 2.56 and w_x by 1.55 at least.",
        "002 appendix B.9, facts 2 and 5",
    )
    def growth(self, found: Found) -> Evidence:
        """The smaller of both factors over its bound."""
        seen, slow = (min(f.fit_growth / 2.56, f.along_growth / 1.55)
                      for f in (found.proof, found.slow))  # fmt: skip
        return compare(
            at_least(1.0), single(seen), (f"K = {SLOW:g}", single(slow)),
            f"Smallest factors: {found.proof.fit_growth:.2f} and {found.proof.along_growth:.2f}.",
        )  # fmt: skip

    @claim(
        "stage-end",
        "The first stage ends with w_y <= 0.44, v - w_x in [-0.017, 0.17], w_y / w_x <= 2.7 ever "
        "after its first step, and v w_x <= 0.668 one step later.",
        "002 appendix B.9, stage 1",
    )
    def stage_end(self, found: Found) -> Evidence:
        """Share of descents that end it in this box."""
        seen, large = (_in_box(f) for f in (found.proof, found.large))
        across, imbalance, _ = found.proof.ends.T
        return compare(
            at_least(1.0), single(seen), ("starts up to 0.5", single(large)),
            f"Measured: w_y <= {across.max():.3f}, v - w_x in [{imbalance.min():.1e}, "
            f"{imbalance.max():.3f}], w_y / w_x <= {found.proof.tilt:.2f}, "
            f"v w_x <= {found.proof.entries.max():.3f}.",
        )  # fmt: skip

    @claim(
        "basin",
        "From T1 + 4 on v w_x stays between 0.181 and 1.5.",
        "002 appendix B.9, stage 2",
    )
    def basin(self, found: Found) -> Evidence:
        """Lowest value over grid and steps; the highest is in the note."""
        low, high = found.proof.settled
        return compare(
            between(0.181, 1.5), single(low), (f"K = {SLOW:g}", single(found.slow.settled[0])),
            f"From {low:.3f} to {high:.3f}.",
        )  # fmt: skip

    # --- claims: what it settles on ------------------------------------------------------------

    @claim(
        "orbit",
        "For 1 < K <= 1.1 it ends with w_y = 0 and v = w_x on the quartic's orbit of period 2.",
        "002 Prop. 4",
    )
    def orbit(self, found: Found) -> Evidence:
        """Share of starts, acute and obtuse, within 1e-9 of both points."""
        return self._settles(found, THEOREM)

    @claim(
        "orbit-beyond",
        "It does so up to K = 1.23, beyond the theorem.",
        "derived; extends 002 Prop. 4",
    )
    def orbit_beyond(self, found: Found) -> Evidence:
        """The same at larger K."""
        return self._settles(found, BEYOND)

    def _settles(self, found: Found, strengths: tuple[float, ...]) -> Evidence:
        flags = np.concatenate([on_orbit(found.ends[k], k) for k in strengths])
        words = f"K = {DOUBLED:g}, beyond the doubling"
        return compare(
            at_least(0.9), share(flags), (words, share(on_orbit(found.ends[DOUBLED], DOUBLED))),
            f"{len(flags)} starts at K = {', '.join(f'{k:g}' for k in strengths)}.",
        )  # fmt: skip

    @claim("period-four", f"At K = {DOUBLED:g} the neuron has period 4.", "002 Thm. 3.3's cascade")
    def period_four(self, found: Found) -> Evidence:
        """Share of starts with period 4, and at the largest K with period 2."""
        doubled, before = (periods(found.ends[k]) == 4 for k in (DOUBLED, BEYOND[-1]))
        words = f"K = {BEYOND[-1]:g}"
        return compare(at_least(0.8), share(doubled), (words, share(before)))

    @claim(
        "rate-across",
        "On the orbit two steps multiply the part across the teacher by |1 - K|.",
        "derived from 002 (B.60)",
    )
    def rate_across(self, found: Found) -> Evidence:
        """The factor along the settled population trace."""
        return self._rate(found.trace.across, 0, 18)

    @claim(
        "rate-imbalance",
        "They multiply the imbalance v - w_x by 3 - 2K, so the part across dies first.",
        "derived; 002 Fig. B.2",
    )
    def rate_imbalance(self, found: Found) -> Evidence:
        """The factor along the settled population trace."""
        return self._rate(found.trace.imbalance, 1, 60)

    def _rate(self, values: np.ndarray, which: int, at: int) -> Evidence:
        expected = float(decay_factors(FIGURE)[which])
        early = abs(values[4] / values[2])
        return compare(
            near(expected, 0.005), single(abs(values[at + 2] / values[at])),
            ("steps 2 to 4, before it has settled", single(early)),
        )  # fmt: skip

    @claim(
        "three-phases",
        "From a start across the teacher w_y rises to step 3, then falls.",
        "002 Fig. B.2",
    )
    def three_phases(self, found: Found) -> Evidence:
        """The step at which it is largest, in the population."""
        slow = reduced_descent(Neuron(*np.array(START)), SLOW, 100).across.argmax()
        peak = found.trace.across.argmax()
        return compare(near(3, 0), single(float(peak)), (f"K = {SLOW:g}", single(float(slow))))

    @claim(
        "points",
        "On 1000 points w_y stops at a residual, which the population does not have.",
        "002 Fig. B.2",
    )
    def points_left(self, found: Found) -> Evidence:
        """Mean |w_y| over the last 50 steps, over seeds."""
        left = np.abs(found.sampled[:, -50:, 2]).mean(axis=1)
        exact = single(found.trace.across[-50:].mean())
        return compare(at_least(1e-6), average(left), ("the population", exact))

    # --- charts --------------------------------------------------------------------------------

    @chart
    def figure_b2(self, found: Found) -> Chart:
        """Fig. B.2."""
        return Chart(
            "figure-b2", "The neuron turns first, then its layers balance",
            "In the population w_y dies by |1 - K| = 0.1 and the imbalance by 3 - 2K = 0.8 every "
            "two steps; on points both stop at a residual.",
            trace_panels(found.trace, found.sampled[0], f"{self.points:,} points"),
        )  # fmt: skip

    @chart
    def bound(self, found: Found) -> Chart:
        """How far from tight the theorem is."""
        kept = np.arange(min(self.steps, 120) + 1)
        marks = (
            Line(kept, above_rounding(found.proof.worst[kept]), "worst of the theorem's grid"),
            Line(kept, above_rounding(found.slow.worst[kept]), f"K = {SLOW:g}", "control"),
            Reference("y", 1.0, "the bound"),
        )
        return Chart(
            "bound", "The part across the teacher over the bound of Theorem 3.5",
            "Inside the theorem's range it never comes near the bound; far below the edge of "
            "stability it breaks it.",
            (Panel(marks, "", "step", "w_y / bound", "linear", "log"),),
        )  # fmt: skip

    @chart
    def orbits(self, found: Found) -> Chart:
        """Where v ends, over K."""
        x = np.concatenate([np.full(8, k) for k in found.ends])
        y = np.concatenate([ends.output[-8:, 0] for ends in found.ends.values()])
        marks: list[Mark] = [Points(x, y, "v, last 8 steps")]
        marks += [*orbit_lines(DOUBLED), Reference("x", 1.1, "Thm. 3.5 ends")]
        return Chart(
            "orbits", "The neuron follows the quartic's orbit beyond the theorem",
            f"Period 2 up to K = {BEYOND[-1]:g}; at {DOUBLED:g} it has doubled.",
            (Panel(tuple(marks), "", "K", "v"),),
        )  # fmt: skip


def _in_box(seen: Facts) -> float:
    """Share of descents that end the first stage inside the proof's box."""
    across, imbalance, _ = seen.ends.T
    inside = (across <= 0.44) & (imbalance >= -0.017) & (imbalance <= 0.17)
    entered = seen.entries <= 0.668
    return float(min(inside.mean(), entered.mean(), seen.tilt <= 2.7))
