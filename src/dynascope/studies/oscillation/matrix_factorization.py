"""Matrix factorisation past the edge of stability: one direction oscillates, if the next lets it.

002 Observations 1 and 2, Remark 3, Theorem B.3, Figs. 3.2, 3.3, B.3, candidate models (3.10) to
(3.12). K and b are the learning rate times the two largest singular values of the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from scipy.optimize import bisect

from dynascope.core.charts import Chart, Mark, Panel, Points, Reference
from dynascope.core.records import Headline
from dynascope.probes.orbits import period
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
from dynascope.studies.oscillation.candidates import by_edges
from dynascope.studies.oscillation.drawing import orbit_lines
from dynascope.studies.oscillation.factor_charts import edge_panels, escape_panel, quasi_panels
from dynascope.studies.oscillation.factor_findings import (
    Found,
    allowed,
    condition,
    escapes,
    first_escape,
)
from dynascope.studies.oscillation.factor_runs import (
    Descents,
    criticality_ratio,
    descend,
    generic,
    hessian,
    on_orbit,
    orbit_error,
    quasi_run,
    spectra,
    top_values,
    two_step_radius,
)
from dynascope.theories.factorization import neimark_sacker_line
from dynascope.theories.quartic import DOUBLING, orbit_points

SHAPES = ((3, 4, 5), (6, 2, 3), (2, 7, 2))  # of X Y: m x k times k x n
ALPHA = 0.8  # of the quasi-symmetric start
TRACES = (0.95, 1.05, 1.1, 1.15, 1.2, 1.26, 1.35)  # strengths whose spectra are followed
PERIODS = {1.1: 2, 1.2: 2, 1.26: 4, 1.35: None}


@dataclass(frozen=True)
class MatrixFactorization(Study):
    """Where factorised descent converges, oscillates or escapes, over two singular values."""

    name: ClassVar[str] = "matrix-factorization"
    title: ClassVar[str] = "The second singular value decides whether the first may oscillate"
    source: ClassVar[str] = "002 Obs. 1, 2, Thm. B.3, Figs. 3.2, 3.3, B.3"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"grid": 12, "steps": 1500, "seeds": 4},
        "laptop": {},
        "paper": {"grid": 48, "steps": 10_000, "seeds": 50},
    }

    grid: int = 24
    dimension: int = 4
    steps: int = 4000
    seeds: int = 10
    seed: int = 0

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ, and what the document does not say."""
        return (
            "Fig. 3.2 gives neither grid nor dimension, start or steps: ours are a "
            f"{self.grid} x {self.grid} grid, dimension {self.dimension}, normal entries of "
            f"variance 0.09 / dimension, {self.steps:,} steps.",
            "The bound K + b < 2 of Observation 1 is exactly the line on which the orbit of "
            "period 2 loses its stability to a pair of multipliers on the unit circle; a little "
            "beyond it the motion is bounded, so escape begins above the line.",
            "In Observation 1 the orbit's points have to be read in units of sigma_1.",
            "Fig. 3.3 reads the end of s_max(Y) = s_max(Z) as 1.38; that depends on the second "
            "singular value. What stays equal is the top direction of Y and Z.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """The map for two kinds of starts, traces over the strength, minimisers."""
        strengths = np.linspace(1.0, 1.6, self.grid)
        others = np.linspace(0.2, 1.0, self.grid)
        k, b = (v.ravel() for v in np.meshgrid(strengths, others))
        targets = spectra(k, b, self.dimension)
        starts = {
            "generic": generic(len(k), self.dimension, self.seed),
            "quasi": self._quasi(targets, ALPHA),
            "symmetric": self._quasi(targets, 1.0),
        }
        escaped = {
            kind: descend(targets, *start, self.steps).escaped.reshape(len(others), -1)
            for kind, start in starts.items()
        }
        traces, rows = {}, {}
        for strength in TRACES:
            found, target = self._settled(strength, 0.3)
            traces[strength] = top_values(found, target, 512)
            rows[strength] = float(np.abs(found.y[:, 0] - found.z[:, 0]).max())
        quasi = {alpha: quasi_run(alpha, self.seed + 3) for alpha in (1.0, ALPHA)}
        edges = {
            k: by_edges(k, self.dimension, self.seeds, self.steps, self.seed + 6)
            for k in (0.9, 1.05)
        }
        return Found(strengths, others, escaped, traces, rows, quasi, edges, self._minimisers())

    def _quasi(self, targets: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Starts near (alpha X0, X0 / alpha)."""
        factor = np.sqrt(targets)
        noise = generic(len(targets), self.dimension, self.seed + 1, 0.02)
        return alpha * factor + noise[0], factor / alpha + noise[1]

    def _settled(self, strength: float, other: float) -> tuple[Descents, np.ndarray]:
        """Descents from all seeds on one spectrum, after all steps."""
        target = spectra(np.full(self.seeds, strength), np.full(self.seeds, other), self.dimension)
        start = generic(self.seeds, self.dimension, self.seed + 2)
        return descend(target, *start, self.steps), target

    def _minimisers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        random = np.random.default_rng(self.seed + 4)
        return [(random.normal(size=(m, k)), random.normal(size=(k, n))) for m, k, n in SHAPES]

    def headline(self, found: Found) -> Headline:
        """Where escape begins, by strength."""
        edge = [first_escape(column, found.others) for column in found.escaped["generic"].T]
        return Headline(
            title="Second strength b at which descent from a small start begins to escape",
            x_label="K, strength of the first direction",
            y_label="b",
            x=tuple(found.strengths.tolist()),
            y=tuple(edge),
            theory=tuple(min(1.0, neimark_sacker_line(k)) for k in found.strengths),
            note="theory: the line b = 2 - K; between the two motion is bounded",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "sharpness",
        "At a minimiser X Y = C the sharpness is s_max(X)^2 + s_max(Y)^2.",
        "002 Remark 3",
    )
    def sharpness(self, found: Found) -> Evidence:
        """Worst relative error against the dense Hessian, over three shapes."""
        errors, wrong = [], []
        for x, y in found.minimisers:
            top = np.linalg.eigvalsh(hessian(x, y))[-1]
            a, b = np.linalg.norm(x, 2), np.linalg.norm(y, 2)
            errors.append(abs((a**2 + b**2) / top - 1))
            wrong.append(abs(2 * np.linalg.norm(x @ y, 2) / top - 1))
        words = "2 sigma_1 of the target, which holds for balanced factors only"
        return compare(at_most(1e-9), single(max(errors)), (words, single(min(wrong))))

    @claim(
        "top-direction",
        "Along the top eigenvector 3 f3^2 - f2 f4 = 96 ||dX Y + X dY||^2 ||dX dY||^2 > 0.",
        "002 Thm. B.3",
    )
    def top_direction(self, found: Found) -> Evidence:
        """Ratio of both sides for the dense Hessian's eigenvector, and for a random direction."""
        random = np.random.default_rng(self.seed + 5)
        right, wrong = [], []
        for x, y in found.minimisers:
            top = np.linalg.eigh(hessian(x, y))[1][:, -1]
            right.append(abs(criticality_ratio(x, y, top) - 1))
            wrong.append(abs(criticality_ratio(x, y, random.normal(size=len(top))) - 1))
        return compare(at_most(1e-9), single(max(right)), ("random directions", single(min(wrong))))

    @claim(
        "orbit",
        "From small generic starts both factors end on the same orbit of period 2 if "
        "1 < K < 1.236 and K + b < 2.",
        "002 Obs. 1, to the doubling instead of 1.121",
    )
    def orbit(self, found: Found) -> Evidence:
        """Share of seeds whose top singular values are on the closed form's points."""
        flags = [on_orbit(found.traces[k], k) for k in TRACES if 1 < k < DOUBLING]
        control = on_orbit(found.traces[1.26], 1.26)
        words = "K = 1.26, beyond the doubling"
        return compare(at_least(0.8), share(np.concatenate(flags)), (words, share(control)))

    @claim(
        "quasi-symmetric",
        "Starts near (alpha X0, X0 / alpha) end on the balanced orbit, for alpha = 1 and 0.8.",
        "002 Obs. 2, Fig. B.3",
    )
    def quasi_symmetric(self, found: Found) -> Evidence:
        """Worst relative distance of both top directions from sigma_1 {0.9226, 1.0626}."""
        worst = max(orbit_error(run.settled, 1.02) for run in found.quasi.values())
        shifted = min(orbit_error(run.settled, 1.05) for run in found.quasi.values())
        return compare(at_most(1e-6), single(worst), ("the orbit of K = 1.05", single(shifted)))

    @claim(
        "line",
        "The orbit loses its stability at b = 2 - K.",
        "derived; makes 002 Obs. 1 exact",
    )
    def line(self, found: Found) -> Evidence:
        """Where the numerical two-step Jacobian's radius passes 1, at K = 1.1."""
        right, other = (_line_crossing(k) for k in (1.1, 1.05))
        words = "K = 1.05, whose line is at 0.95"
        return compare(near(0.9, 1e-3), single(right), (words, single(other)))

    @claim(
        "map",
        "No descent escapes while K + b < 2.",
        "002 Fig. 3.2 (a), Obs. 1",
    )
    def map(self, found: Found) -> Evidence:
        """Share of generic starts that escape below the line, and more than 0.1 above it."""
        below, above = (escapes(found, "generic", side) for side in (-0.02, 0.1))
        return compare(
            at_most(0.0), single(below.mean()), ("K + b > 2.1", single(above.mean())),
            f"{below.size} cells with K + b < 1.98.",
        )  # fmt: skip

    @claim(
        "quasi-map",
        "From quasi-symmetric starts the condition (3.9) keeps descent from escaping.",
        "002 Fig. 3.2 (b), (3.9)",
    )
    def quasi_map(self, found: Found) -> Evidence:
        """Share of starts that meet (3.9) and escape, and of all with K + b > 2.1."""
        return condition(found, "quasi", ALPHA)

    @claim(
        "symmetric-map",
        "From symmetric starts, alpha = 1, the same condition is K + b <= 2, and keeps it too.",
        "002 Fig. 3.2 (c), (3.9)",
    )
    def symmetric_map(self, found: Found) -> Evidence:
        """Share of starts that meet it and escape, and of all with K + b > 2.1."""
        return condition(found, "symmetric", 1.0)

    @claim(
        "separable-model",
        "All directions of a factorisation may oscillate at once, as those of a separable sum do.",
        "002 (3.10), after Ma et al.",
    )
    def separable_model(self, found: Found) -> Evidence:
        """Target K I, all cross terms: share that stays bounded; without them all do."""
        kept, free = ~found.edges[1.05].asymmetric[-1], ~found.edges[1.05].asymmetric[0]
        words = "K = 2.1, where even one direction escapes"
        alone = ~by_edges(2.1, 2, self.seeds, 100, self.seed + 6).asymmetric[0]
        return compare(
            at_least(0.99), share(kept), (words, share(alone)),
            f"Two equal strengths have K + b = 2K > 2. Without cross terms {free.mean():.0%} stay.",
        )  # fmt: skip

    @claim(
        "cross-terms",
        "The cross terms between directions alone forbid a second one to oscillate.",
        "002 (3.11), (3.12)",
    )
    def cross_terms(self, found: Found) -> Evidence:
        """X X^T with target K I has them too: share that escapes at K = 1.05."""
        past, before = (found.edges[k].symmetric[1:] for k in (1.05, 0.9))
        words = "K = 0.9, where nothing oscillates"
        return compare(at_least(0.99), share(past), (words, share(before)))

    @claim(
        "more-edges",
        "A model with more cross terms allows fewer eigenvalues of the Hessian beyond 2 / eta.",
        "002 section 3.6.2, after (3.12)",
    )
    def more_edges(self, found: Found) -> Evidence:
        """Eigenvalues beyond it at which X X^T stays bounded: with all edges less with none."""
        past, before = (allowed(found.edges[k]) for k in (1.05, 0.9))
        return compare(
            at_most(-1.0), single(past[-1] - past[0]),
            ("K = 0.9, where none is beyond it", single(before[-1] - before[0])),
            f"By number of edges, 0 where any escapes: {', '.join(f'{n:.0f}' for n in past)}.",
        )  # fmt: skip

    @claim(
        "edge-and-asymmetry",
        "Together they do: with Y and Z apart a single cross term makes every descent escape.",
        "derived; corrects 002 (3.12)",
    )
    def edge_and_asymmetry(self, found: Found) -> Evidence:
        """Share that escapes with at least one edge, and without any, at K = 1.05."""
        seen = found.edges[1.05]
        return compare(
            at_least(0.9), share(seen.asymmetric[1:]), ("no edge", share(seen.asymmetric[0])),
            "With Y = Z none escapes, whatever the edges.",
        )  # fmt: skip

    @claim(
        "periods",
        "The largest singular value of Y has period 2, then 4, then none, as K grows.",
        "002 Fig. 3.3",
    )
    def periods(self, found: Found) -> Evidence:
        """Share of seeds with the period of the quartic's cascade."""
        flags = [period(found.traces[k][:, s, 0], tolerance=1e-6) == p
                 for k, p in PERIODS.items() for s in range(self.seeds)]  # fmt: skip
        before = [period(found.traces[0.95][:, s, 0], tolerance=1e-6) == 2
                  for s in range(self.seeds)]  # fmt: skip
        return compare(at_least(0.8), share(np.array(flags)), ("K = 0.95", share(np.array(before))))

    @claim(
        "balance",
        "Past the edge the top directions of Y and Z become equal.",
        "002 Fig. 3.3 (1), (5)",
    )
    def balance(self, found: Found) -> Evidence:
        """Largest difference of u1^T Y and u1^T Z past the edge, and before it."""
        past = max(v for k, v in found.rows.items() if k > 1)
        return compare(at_most(1e-9), single(past), ("K = 0.95", single(found.rows[0.95])))

    # --- charts --------------------------------------------------------------------------

    @chart
    def escape_map(self, found: Found) -> Chart:
        """Fig. 3.2."""
        titles = {
            "generic": ("small generic starts", None),
            "quasi": (f"quasi-symmetric, alpha = {ALPHA:g}", ALPHA),
            "symmetric": ("symmetric, alpha = 1", None),
        }
        panels = [
            escape_panel(found.strengths, found.others, found.escaped[kind], title, alpha)
            for kind, (title, alpha) in titles.items()
        ]
        return Chart(
            "map", "Where factorised descent escapes",
            "From small starts nothing escapes below the dashed line. Above it, for K up to 1.27, "
            "motion stays bounded: there the orbit is lost to quasi-periodic motion first.",
            tuple(panels),
        )  # fmt: skip

    @chart
    def top_singular_values(self, found: Found) -> Chart:
        """Fig. 3.3."""
        x = np.concatenate([np.full(10, k) for k in TRACES])
        y = np.concatenate([found.traces[k][-10:, 0, 0] / math.sqrt(k) for k in TRACES])
        marks: tuple[Mark, ...] = (
            Points(x, y, "last 10 steps"),
            *orbit_lines(DOUBLING),
            Reference("x", DOUBLING, "period 4 begins"),
        )
        return Chart(
            "top-singular-value", "The largest singular value of Y follows the quartic",
            "In units of its value at the balanced minimum; one seed.",
            (Panel(marks, "", "K", "s_max(Y) / sigma_1"),),
        )  # fmt: skip

    @chart
    def figure_b3(self, found: Found) -> Chart:
        """Fig. B.3."""
        return Chart(
            "quasi-symmetric", "Flat and sharp starts end on the same orbit",
            "K = 1.02, even and odd steps as two curves. From alpha = 0.8 the top directions of Y "
            "and Z differ at first; they become equal on the orbit (dashed) of alpha = 1.",
            quasi_panels(found.quasi),
        )  # fmt: skip

    @chart
    def candidate_models(self, found: Found) -> Chart:
        """The models (3.10) to (3.12)."""
        return Chart(
            "candidate-models", "What forbids a second direction to oscillate",
            "Target K I with K = 1.05. Cross terms alone do not (X X^T), nor does Y apart from Z "
            "alone (no edge); both together do.",
            edge_panels(found.edges[1.05]),
        )  # fmt: skip


def _line_crossing(strength: float) -> float:
    """The b at which the orbit's numerical two-step Jacobian has a radius of 1."""
    low = float(orbit_points(strength, 1.0)[0])
    return float(bisect(lambda b: two_step_radius(strength, b, low) - 1, 0.7, 0.99))
