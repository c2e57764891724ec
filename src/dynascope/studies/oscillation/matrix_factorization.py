"""Matrix factorisation past the edge of stability: one direction oscillates, if the next lets it.

002 Observations 1 and 2, Remark 3, Theorem B.3, Figs. 3.2, 3.3, B.3, candidate models (3.10) to
(3.12). K and b are the learning rate times the two largest singular values of the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import bisect

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points, Reference
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
from dynascope.studies.oscillation.factor_runs import (
    Descents,
    descend,
    generic,
    hessian,
    line_derivatives,
    spectra,
    top_values,
    two_step_radius,
)
from dynascope.theories.factorization import neimark_sacker_line
from dynascope.theories.quartic import DOUBLING, quartic_orbit

SHAPES = ((3, 4, 5), (6, 2, 3), (2, 7, 2))  # of X Y: m x k times k x n
ALPHA = 0.8  # of the quasi-symmetric start
TRACES = (0.95, 1.05, 1.1, 1.15, 1.2, 1.26, 1.35)  # strengths whose spectra are followed
PERIODS = {1.1: 2, 1.2: 2, 1.26: 4, 1.35: None}


class Found(NamedTuple):
    """What claims and charts read."""

    strengths: np.ndarray  # (columns,) of the map
    others: np.ndarray  # (rows,) of the map
    escaped: dict[str, np.ndarray]  # (rows, columns) by kind of start
    traces: dict[float, np.ndarray]  # (looks, seeds, 2): top values of Y and Z
    rows: dict[float, float]  # largest difference of u1^T Y and u1^T Z, by strength
    quasi: dict[float, np.ndarray]  # by alpha: settled top lengths over sigma_1, (2, 2)
    minimisers: list[tuple[np.ndarray, np.ndarray]]


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
            "quasi": self._quasi(targets),
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
        quasi = {alpha: self._figure_b3(alpha) for alpha in (1.0, ALPHA)}
        return Found(strengths, others, escaped, traces, rows, quasi, self._minimisers())

    def _quasi(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts near (alpha X0, X0 / alpha)."""
        factor = np.sqrt(targets)
        noise = generic(len(targets), self.dimension, self.seed + 1, 0.02)
        return ALPHA * factor + noise[0], factor / ALPHA + noise[1]

    def _settled(self, strength: float, other: float) -> tuple[Descents, np.ndarray]:
        """Descents from all seeds on one spectrum, after all steps."""
        target = spectra(np.full(self.seeds, strength), np.full(self.seeds, other), self.dimension)
        start = generic(self.seeds, self.dimension, self.seed + 2)
        return descend(target, *start, self.steps), target

    def _figure_b3(self, alpha: float) -> np.ndarray:
        """Lengths of u1^T Y and u1^T Z over sigma_1 in two settled steps, (2, 2).

        Unlike s_max they do not depend on how close the second singular value is.
        """
        random = np.random.default_rng(self.seed + 3)
        factor = random.normal(size=(1, 8, 8))
        factor *= math.sqrt(1.02) / np.linalg.norm(factor[0], 2)  # K = 1.02
        noise = 2e-3 * random.normal(size=(2, 1, 8, 8))
        target = factor @ factor.swapaxes(1, 2)
        found = descend(target, alpha * factor + noise[0], factor / alpha + noise[1], 6000)
        top = np.linalg.eigh(target[0])[1][:, -1]
        after = descend(target, found.y, found.z, 1)
        pair = [[np.linalg.norm(top @ w[0]) for w in state[:2]] for state in (found, after)]
        return np.array(pair) / math.sqrt(1.02)

    def _minimisers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        random = np.random.default_rng(self.seed + 4)
        return [(random.normal(size=(m, k)), random.normal(size=(k, n))) for m, k, n in SHAPES]

    def headline(self, found: Found) -> Headline:
        """Where escape begins, by strength."""
        edge = [_first_escape(column, found.others) for column in found.escaped["generic"].T]
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
            right.append(abs(_criticality_ratio(x, y, top) - 1))
            wrong.append(abs(_criticality_ratio(x, y, random.normal(size=len(top))) - 1))
        return compare(at_most(1e-9), single(max(right)), ("random directions", single(min(wrong))))

    @claim(
        "orbit",
        "From small generic starts both factors end on the same orbit of period 2 if "
        "1 < K < 1.236 and K + b < 2.",
        "002 Obs. 1, to the doubling instead of 1.121",
    )
    def orbit(self, found: Found) -> Evidence:
        """Share of seeds whose top singular values are on the closed form's points."""
        flags = [_on_orbit(found.traces[k], k) for k in TRACES if 1 < k < DOUBLING]
        control = _on_orbit(found.traces[1.26], 1.26)
        words = "K = 1.26, beyond the doubling"
        return compare(at_least(0.8), share(np.concatenate(flags)), (words, share(control)))

    @claim(
        "quasi-symmetric",
        "Starts near (alpha X0, X0 / alpha) end on the balanced orbit, for alpha = 1 and 0.8.",
        "002 Obs. 2, Fig. B.3",
    )
    def quasi_symmetric(self, found: Found) -> Evidence:
        """Worst relative distance of both top directions from sigma_1 {0.9226, 1.0626}."""
        worst = max(_orbit_error(seen, 1.02) for seen in found.quasi.values())
        shifted = min(_orbit_error(seen, 1.05) for seen in found.quasi.values())
        return compare(at_most(1e-6), single(worst), ("the orbit of K = 1.05", single(shifted)))

    @claim(
        "line",
        "The orbit loses its stability at b = 2 - K.",
        "derived; makes 002 Obs. 1 exact",
    )
    def line(self, found: Found) -> Evidence:
        """Where the numerical two-step Jacobian's radius passes 1, at K = 1.1."""
        orbit = quartic_orbit(1.1, 1.0)
        assert orbit is not None  # 1.1 is past the edge
        crossing = bisect(lambda b: two_step_radius(1.1, b, orbit.points[0]) - 1, 0.7, 0.99)
        words = "where the minimum would lose it: b = 1"
        return compare(near(0.9, 1e-3), single(crossing), (words, single(1.0)))

    @claim(
        "map",
        "No descent escapes while K + b < 2.",
        "002 Fig. 3.2 (a), Obs. 1",
    )
    def map(self, found: Found) -> Evidence:
        """Share of generic starts that escape below the line, and more than 0.1 above it."""
        below, above = (_escapes(found, "generic", side) for side in (-0.02, 0.1))
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
        k, b = np.meshgrid(found.strengths, found.others)
        met = np.maximum(k / ALPHA**2 + b * ALPHA**2, b / ALPHA**2 + k * ALPHA**2) <= 2
        inside = found.escaped["quasi"][met]
        above = _escapes(found, "quasi", 0.1)
        return compare(
            at_most(0.0), single(inside.mean()), ("K + b > 2.1", single(above.mean())),
            f"{met.sum()} cells meet (3.9); {(~found.escaped['quasi'] & ~met).sum()} others stay "
            "bounded too: sufficient, not tight.",
        )  # fmt: skip

    @claim(
        "separable-model",
        "All directions may oscillate at once, as a sum of functions of one variable each does.",
        "002 (3.10), after Ma et al.",
    )
    def separable_model(self, found: Found) -> Evidence:
        """Target I at K = 1.02, 1.05, 1.1: share that stays bounded."""
        kept = ~np.concatenate([self._identity(k) for k in (1.02, 1.05, 1.1)])
        words = "K = 2.1, where even one direction escapes"
        return compare(at_least(0.99), share(kept), (words, share(~self._identity(2.1))),
                       "Two equal strengths have K + b = 2K > 2.")  # fmt: skip

    @claim(
        "cross-terms",
        "The cross terms between directions alone forbid a second one to oscillate.",
        "002 (3.11), (3.12)",
    )
    def cross_terms(self, found: Found) -> Evidence:
        """X X^T with target I has them too: share that escapes at K = 1.05."""
        past, before = (self._symmetric_escapes(k) for k in (1.05, 0.9))
        words = "K = 0.9, where nothing oscillates"
        return compare(at_least(0.99), share(past), (words, share(before)),
                       "It is the difference of Y and Z that forbids it.")  # fmt: skip

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

    def _identity(self, strength: float) -> np.ndarray:
        target = np.broadcast_to(strength * np.eye(3), (self.seeds, 3, 3))
        return descend(target, *generic(self.seeds, 3, self.seed + 6), self.steps).escaped

    def _symmetric_escapes(self, strength: float) -> np.ndarray:
        """Descent on ||X X^T - C||^2 / 4 is that of Y = Z, step by step."""
        target = np.broadcast_to(strength * np.eye(3), (self.seeds, 3, 3))
        x, _ = generic(self.seeds, 3, self.seed + 7)
        return descend(target, x, x, min(self.steps, 1500)).escaped

    # --- charts --------------------------------------------------------------------------

    @chart
    def escape_map(self, found: Found) -> Chart:
        """Fig. 3.2."""
        ends = np.array([found.strengths[0], found.strengths[-1]])
        titles = {"generic": "small generic starts", "quasi": f"quasi-symmetric, alpha = {ALPHA:g}"}
        panels = []
        for kind, title in titles.items():
            marks: list[Mark] = [
                Heat(found.strengths, found.others, 1.0 - found.escaped[kind],
                     "bounded (1) or escaped (0)"),
                Line(ends, [neimark_sacker_line(k) for k in ends], "K + b = 2", "theory"),
            ]  # fmt: skip
            if kind == "quasi":
                k = found.strengths[found.strengths < 1.2]
                bound = (2 - k / ALPHA**2) / ALPHA**2
                marks.append(Line(k, np.clip(bound, 0.2, 1.0), "(3.9)", "control"))
            panels.append(Panel(tuple(marks), title, "K = eta sigma_1^2", "b = eta sigma_2^2"))
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
        curve = np.linspace(1.0005, DOUBLING, 60)
        orbits = [quartic_orbit(1.0, k) for k in curve]
        lines = [Line(curve, [o.points[j] for o in orbits if o],
                      "" if j else "orbit in closed form", "theory") for j in (0, 1)]  # fmt: skip
        marks: tuple[Mark, ...] = (
            Points(x, y, "last 10 steps"),
            *lines,
            Reference("x", DOUBLING, "period 4 begins"),
        )
        return Chart(
            "top-singular-value", "The largest singular value of Y follows the quartic",
            "In units of its value at the balanced minimum; one seed.",
            (Panel(marks, "", "K", "s_max(Y) / sigma_1"),),
        )  # fmt: skip


def _criticality_ratio(x: np.ndarray, y: np.ndarray, direction: np.ndarray) -> float:
    """3 f3^2 - f2 f4 over 96 ||dX Y + X dY||^2 ||dX dY||^2."""
    dx, dy = direction[: x.size].reshape(x.shape), direction[x.size :].reshape(y.shape)
    f2, f3, f4 = line_derivatives(x, y, dx, dy)
    first, second = dx @ y + x @ dy, dx @ dy
    return (3 * f3**2 - f2 * f4) / (96 * (first**2).sum() * (second**2).sum())


def _on_orbit(trace: np.ndarray, strength: float) -> np.ndarray:
    """Whether Y and Z of each seed are on the orbit's two points, within 1e-6, (seeds,)."""
    orbit = quartic_orbit(strength, 1.0)
    points = np.array(orbit.points if orbit else (0.0, 0.0))
    pair = np.sort(trace[-2:], axis=0)  # (2, seeds, 2)
    return (np.abs(pair - points[:, None, None]) < 1e-6).all(axis=(0, 2))


def _orbit_error(seen: np.ndarray, strength: float) -> float:
    orbit = quartic_orbit(1.0, strength)
    points = np.array(orbit.points if orbit else (0.0, 0.0))
    return float(np.abs(np.sort(seen[-2:], axis=0) / points[:, None] - 1).max())


def _escapes(found: Found, kind: str, side: float) -> np.ndarray:
    """Which descents escaped, of those with K + b below 2 + side (or above, if positive)."""
    k, b = np.meshgrid(found.strengths, found.others)
    total = k + b - 2
    return found.escaped[kind][total < side if side < 0 else total > side]


def _first_escape(column: np.ndarray, others: np.ndarray) -> float:
    places = np.flatnonzero(column)
    return float(others[places[0]]) if len(places) else float(others[-1])
