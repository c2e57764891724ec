"""The catapult of one training example: a quadratic model as a map of two numbers.

004 Theorems 3.3.1, 3.3.4, B.3.1, B.7.1, their lemmas and propositions, Figs. 3.1 and 3.2a,
and what holds exactly beside them. v is the learning rate times the first tangent kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.records import Headline
from dynascope.engine import Experiment
from dynascope.studies.base import Study
from dynascope.studies.catapult import map_charts, map_equilibria, map_lemmas, map_regimes
from dynascope.studies.catapult.map_regimes import CHECKED, band, distances
from dynascope.studies.catapult.weights import WeightPath, descend, draw
from dynascope.theories import QuadraticMap, phase_diagram
from dynascope.theories.quadratic_map import Outcome
from dynascope.theories.quadratic_phases import PhaseDiagram

SIDES = {"below": (0.0, 2.0), "between": (2.0, 4.0), "past": (4.0, 6.0)}


class Found(NamedTuple):
    """What claims and charts read."""

    followed: dict[float, tuple[QuadraticMap, WeightPath]]  # by v
    rates: dict[str, np.ndarray]  # random rates of each side, epsilon away from its ends
    seen: dict[str, Outcome]
    by_width: PhaseDiagram
    by_label: PhaseDiagram
    edge_rates: np.ndarray  # where descent begins to diverge, for
    edge_widths: np.ndarray
    distances: dict[float, np.ndarray]  # by v, for each of `path_widths`


@dataclass(frozen=True)
class QuadraticMapStudy(Study):
    """Monotone, catapult or divergence: what decides, and how high and how late the peak is."""

    name: ClassVar[str] = "quadratic-map"
    title: ClassVar[str] = "The catapult in two numbers: what a learning rate will do"
    source: ClassVar[str] = (
        "004 Thms. 3.3.1, 3.3.4, B.3.1, B.7.1, Lemmas 3.3.2, 3.3.3, section 3.3, Figs. 3.1, 3.2a"
    )
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"columns": 120, "rows": 40, "draws": 2000, "path_widths": (100, 1000, 10_000)},
        "laptop": {},
        "paper": {"columns": 1000, "rows": 300, "draws": 100_000},
    }

    columns: int = 360  # of the phase diagrams
    rows: int = 120
    steps: int = 400
    narrow: float = 100.0  # width of the diagram over labels
    draws: int = 20_000
    path_widths: tuple[int, ...] = (100, 1000, 10_000, 100_000)
    seed: int = 0

    def plan(self) -> dict[str, Experiment]:
        """Nothing to train: the descent is a map of two numbers."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "The loss is half the squared error, as in the chapter's text; epsilon is read as "
            "log m / sqrt m.",
            "(3.12) is used as a product; as printed it divides by g - y.",
            "w keeps the sign of (g - y) y: without it (3.13), (3.14) are another map.",
            "|w(0)| is C sqrt(C_u) / m; the proofs of B.3.1 and 3.3.2 print smaller orders.",
            "The order Omega(...) of Theorem 3.3.1 has no constant; slopes in the width decide.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Descents in their weights, random starts on each side, two phase diagrams."""
        start = draw(500, 7, self.seed)
        maps = {v: start.map(v, 0.8) for v in CHECKED}
        followed = {v: (m, descend(start, m, 100)) for v, m in maps.items()}
        rates, seen = {}, {}
        for side, (low, high) in SIDES.items():
            rates[side], seen[side] = self._side(low, high)
        base = QuadraticMap(1.0, self.narrow, label=1.0)
        v = np.linspace(0.05, 5.0, self.columns)
        widths, labels = np.logspace(1.5, 6, self.rows), np.linspace(-3, 3, self.rows)
        by_width = phase_diagram(base, {"learning_rate": v, "width": widths}, self.steps)
        by_label = phase_diagram(base, {"learning_rate": v, "label": labels}, self.steps)
        edge = base.divergence_rate(width=widths[::4])
        return Found(
            followed, rates, seen, by_width, by_label, edge, widths[::4],
            distances(self.path_widths, self.seed),
        )  # fmt: skip

    def _side(self, low: float, high: float) -> tuple[np.ndarray, Outcome]:
        """Random starts with a rate epsilon away from both ends of a regime."""
        rng = np.random.default_rng(self.seed)
        width = 10 ** rng.uniform(3, 8, self.draws)
        margin = band(width)
        v = low + margin + (high - low - 2 * margin) * rng.uniform(0, 1, self.draws)
        label, output = rng.uniform(-1, 1, self.draws), rng.normal(0, 0.5, self.draws)
        base = QuadraticMap(1.0, 1.0)
        return v, base.outcome(4000, learning_rate=v, width=width, label=label, output=output)

    def headline(self, found: Found) -> Headline:
        """The peak loss over the learning rate at one width."""
        v = np.linspace(0.1, 3.95, 120)
        seen = QuadraticMap(1.0, 1e4, label=1.0).outcome(self.steps, learning_rate=v)
        said = [
            QuadraticMap(r, 1e4, label=1.0).predicted_peak()[0] if 2.01 < r < 4 else 0.245
            for r in v.tolist()
        ]
        return Headline(
            title="Highest loss on the way, width 10,000, label 1",
            x_label="learning rate x first kernel",
            y_label="log10 of the peak loss",
            x=tuple(v.tolist()),
            y=tuple(np.log10(seen.peak_loss).tolist()),
            theory=tuple(np.log10(np.maximum(said, 0.245)).tolist()),
            note="theory: the slow limit's closed form; past 4 descent diverges",
        )

    # --- claims --------------------------------------------------------------------------

    update_equations = map_regimes.update_equations
    reduced_map = map_regimes.reduced_map
    regimes = map_regimes.regimes
    monotone_below = map_regimes.monotone_below
    kernel_drift = map_regimes.kernel_drift
    kernel_bound_as_printed = map_lemmas.kernel_bound_as_printed
    kernel_bound = map_lemmas.kernel_bound
    loss_rate = map_lemmas.loss_rate
    bounded_path = map_regimes.bounded_path
    path_grows = map_regimes.path_grows
    peak_grows = map_regimes.peak_grows
    peak_lower_bound = map_regimes.peak_lower_bound
    comes_back = map_regimes.comes_back
    slightly_above = map_regimes.slightly_above
    increasing_phase = map_lemmas.increasing_phase
    stays_below_four = map_lemmas.stays_below_four
    kernel_falls_as_printed = map_lemmas.kernel_falls_as_printed
    kernel_falls = map_lemmas.kernel_falls
    falls_below_three = map_lemmas.falls_below_three
    keeps_falling = map_lemmas.keeps_falling
    comes_back_lower = map_lemmas.comes_back_lower
    ends_below_two = map_equilibria.ends_below_two
    multipliers = map_equilibria.multipliers
    equilibria_as_printed = map_equilibria.equilibria_as_printed
    equilibria = map_equilibria.equilibria
    unstable = map_equilibria.unstable
    diverges_past_four = map_regimes.diverges_past_four
    growth_as_printed = map_regimes.growth_as_printed
    growth = map_regimes.growth
    largest_rate = map_regimes.largest_rate
    largest_rate_exact = map_regimes.largest_rate_exact
    largest_rate_slope = map_regimes.largest_rate_slope
    interval = map_regimes.interval
    product_law = map_equilibria.product_law
    peak_bound = map_equilibria.peak_bound
    chaos_at_four = map_equilibria.chaos_at_four
    realisable = map_equilibria.realisable
    time_to_peak = map_equilibria.time_to_peak
    peak_prediction = map_equilibria.peak_prediction
    initial_kernel = map_regimes.initial_kernel

    # --- charts --------------------------------------------------------------------------

    three_regimes = map_charts.three_regimes
    phases_by_width = map_charts.phases_by_width
    phases_by_label = map_charts.phases_by_label
    peaks = map_charts.peaks
