"""Balance: past the edge of stability two factors of (x y - mu)^2 / 2 become equal.

002 Theorem 3.4, Proposition 3, Lemma B.2, Fig. B.4; Fig. 3.4 with Propositions 5 to 7. K is
the learning rate, mu = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Path, Points, Reference
from dynascope.core.records import Headline
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
from dynascope.theories.balance import (
    factor_step,
    imbalance_ratio,
    in_stable_set,
    product_sharpness,
    stable_sum,
    stays_positive,
)
from dynascope.theories.quartic import orbit_points

START = (1.5, 0.7)  # works for both rates of Fig. 3.4, which does not give its own
PAST, BEFORE = 1.08, 0.95  # rates of Fig. 3.4
FIGURE = (1.05, 1.25)  # rates of Fig. B.4: period 2 and period 4
RATES = (1.02, 1.1, 1.2, 1.3, 1.4, 1.49)
BEYOND = 1.55
FAR = (1.6, 1.75, 1.9)  # rates at which the remark after the theorem allows unbalanced orbits


class Found(NamedTuple):
    """What claims and charts read."""

    ratios: dict[float, np.ndarray]  # two-step ratios of |x - y| by rate
    paths: dict[float, np.ndarray]  # (steps + 1, 2) from START by rate
    safe: dict[float, tuple[np.ndarray, np.ndarray]]  # Lemma B.2 by rate: promised, kept
    ends: dict[float, np.ndarray]  # (starts, 2) after a long descent, by rate
    minimisers: np.ndarray  # (points, 2) with x y = 1
    far: dict[float, np.ndarray]  # |x - y| in the end of every bounded descent, by rate


@dataclass(frozen=True)
class Balance(Study):
    """Why a large rate makes factors equal, where that ends, and what the stable set forgets."""

    name: ClassVar[str] = "balance"
    title: ClassVar[str] = "Past the edge of stability two factors become equal"
    source: ClassVar[str] = "002 Thm. 3.4, Props. 3, 5, 6, 7, Lemma B.2, Figs. 3.4, B.4"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"states": 100_000, "starts": 5_000},
        "laptop": {},
        "paper": {"states": 2_000_000, "starts": 100_000},
    }

    states: int = 400_000
    starts: int = 20_000
    steps: int = 3000
    seed: int = 0

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            "Propositions 5 and 6 forget that every x = y < 1 / sqrt(2) has no slope along its "
            "top eigenvector and a sharpness 1 - x^2; they hold for minimisers.",
            f"Figs. 3.4 and B.4 do not give their starts; ours is {START}.",
            "Lemma B.2 is right as stated; two constants in its proof are not.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Ratios over random states, paths, Lemma B.2, ends of long descents."""
        random = np.random.default_rng(self.seed)
        x, y = random.uniform(0.02, 3.0, size=(2, self.states))
        x, y = x[x * y > 1], y[x * y > 1]
        ratios = {}
        for rate in (*RATES, 1.5, BEYOND, 1.6, 1.7):
            ratio, positive = imbalance_ratio(x, y, 1.0, rate)
            ratios[rate] = ratio[positive]
        paths = {rate: _path(rate, 200) for rate in (*FIGURE, PAST, BEFORE, 0.2)}
        starts = random.uniform(0.3, 2.0, size=(2, self.starts))
        safe = {rate: self._lemma(starts, rate) for rate in (1.02, 1.1, 1.2)}
        promised = starts[:, stays_positive(starts[0], starts[1], 1.0, 1.1)]
        ends = {rate: self._ends(promised, rate) for rate in (1.05, 1.1, 1.25)}
        along = np.exp(np.linspace(-0.7, 0.7, 2001))
        minimisers = np.stack([along, 1 / along], axis=1)
        far = {rate: self._gaps(starts, rate) for rate in (*FAR, 0.95)}
        return Found(ratios, paths, safe, ends, minimisers, far)

    def _gaps(self, starts: np.ndarray, rate: float) -> np.ndarray:
        """How unequal the factors of every bounded descent are in the end."""
        x, y = starts
        with np.errstate(over="ignore", invalid="ignore"):  # those that escape may overflow
            for _ in range(self.steps):
                x, y = factor_step(x, y, 1.0, rate)
            bounded = np.abs(x) + np.abs(y) < 1e3  # false for what is not finite
        return np.abs(x - y)[bounded]

    def _lemma(self, starts: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """Which starts the lemma promises positivity, and which keep it."""
        x, y = starts
        kept = np.ones(x.shape, bool)
        with np.errstate(over="ignore", invalid="ignore"):  # those that escape may overflow
            for _ in range(300):
                x, y = factor_step(x, y, 1.0, rate)
                kept &= (x > 0) & (y > 0)
        return stays_positive(starts[0], starts[1], 1.0, rate), kept

    def _ends(self, starts: np.ndarray, rate: float) -> np.ndarray:
        x, y = starts
        for _ in range(self.steps):
            x, y = factor_step(x, y, 1.0, rate)
        return np.stack([x, y], axis=1)

    def headline(self, found: Found) -> Headline:
        """The larger factor less the smaller one, at rate 1.05."""
        path = found.paths[1.05][:120]
        gap = np.abs(path[:, 0] - path[:, 1])
        fit = gap[-1] * (3 - 2 * 1.05) ** ((np.arange(len(gap)) - len(gap) + 1) / 2)
        return Headline(
            title="|x - y| at rate 1.05, past the edge of stability",
            x_label="step",
            y_label="|x - y|",
            x=tuple(np.arange(len(gap), dtype=float).tolist()),
            y=tuple(gap.tolist()),
            theory=tuple(fit.tolist()),
            note="theory: the factor 3 - 2K of two steps, fitted at the end only",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "two-steps",
        "For 1 < K < 1.5 two steps from x y > 1 bring positive factors closer, whatever they are.",
        "002 Thm. 3.4",
    )
    def two_steps(self, found: Found) -> Evidence:
        """Largest two-step ratio of |x - y| over random states; beyond 1.5 it exceeds 1."""
        worst = max(found.ratios[rate].max() for rate in RATES)
        count = sum(found.ratios[rate].size for rate in RATES)
        words = f"K = {BEYOND:g}"
        return compare(
            at_most(1 - 1e-9), single(worst), (words, single(found.ratios[BEYOND].max())),
            f"{count:,} states that stay positive. Ratios near 1 belong to x y near 1. At K = 1.5 "
            f"the largest is {found.ratios[1.5].max():.5f}, at {BEYOND:g} some exceed 1.",
        )  # fmt: skip

    @claim(
        "balanced-orbit",
        "For 1 < K < 1.121 both factors end on the same orbit of period 2.",
        "002 Prop. 3",
    )
    def balanced_orbit(self, found: Found) -> Evidence:
        """Share of starts that satisfy Lemma B.2 and end on x = y = delta."""
        flags = np.concatenate([_on_orbit(found.ends[rate], rate) for rate in (1.05, 1.1)])
        words = "K = 1.25, where period 4 has taken over"
        return compare(
            at_least(0.99), share(flags), (words, share(_on_orbit(found.ends[1.25], 1.25)))
        )

    @claim(
        "beyond",
        "Beyond K = 1.5 too every descent that stays bounded balances its factors.",
        "measured; 002 Remark 5 allows unbalanced orbits there",
    )
    def beyond(self, found: Found) -> Evidence:
        """Share of bounded descents that end balanced, past the theorem and before the edge."""
        balanced = np.concatenate([found.far[rate] < 1e-6 for rate in FAR])
        before = found.far[0.95] < 1e-6
        return compare(
            at_least(0.99), share(balanced), ("K = 0.95", share(before)),
            f"{balanced.size:,} bounded descents at K = {', '.join(f'{r:g}' for r in FAR)}; the "
            "theorem's step-wise argument ends at 1.5, the balancing does not.",
        )  # fmt: skip

    @claim(
        "rate-of-balance",
        "On the orbit of period 2 two steps multiply |x - y| by 3 - 2K.",
        "derived from 002 Thm. 3.4",
    )
    def rate_of_balance(self, found: Found) -> Evidence:
        """The factor along the settled path at K = 1.05, and that at 1.08."""
        measured = {rate: _decay(found.paths[rate]) for rate in (1.05, PAST)}
        words = f"K = {PAST:g}, whose factor is {3 - 2 * PAST:.2f}"
        return compare(
            near(0.9, 1e-3), single(measured[1.05]), (words, single(measured[PAST]))
        )  # fmt: skip

    @claim(
        "period-four",
        "At K = 1.25 the factors balance too, though the orbit has period 4.",
        "002 Fig. B.4",
    )
    def period_four(self, found: Found) -> Evidence:
        """|x - y| in the end, and without the large rate."""
        gap = float(np.abs(np.subtract(*found.paths[1.25][-1])))
        control = float(np.abs(np.subtract(*found.paths[0.2][-1])))
        return compare(at_most(1e-9), single(gap), ("K = 0.2", single(control)))

    @claim(
        "positivity",
        "The condition of the lemma keeps both factors positive forever.",
        "002 Lemma B.2",
    )
    def positivity(self, found: Found) -> Evidence:
        """Share of promised starts that break it, and of all others."""
        promised = np.concatenate([p for p, _ in found.safe.values()])
        kept = np.concatenate([k for _, k in found.safe.values()])
        broken, others = (~kept[promised]).mean(), (~kept[~promised]).mean()
        return compare(
            at_most(0.0), single(broken), ("starts without the promise", single(others)),
            f"{promised.sum():,} promised starts; {kept[~promised].mean():.0%} of the others stay "
            "positive too: the condition is sufficient, not necessary.",
        )  # fmt: skip

    @claim(
        "stable-set-as-printed",
        "For eta > 1 no point x, y > 0 has sharpness below 2 / eta and no slope along the top "
        "eigenvector.",
        "002 Prop. 5",
    )
    def stable_set_as_printed(self, found: Found) -> Evidence:
        """Share of points of the diagonal below 1 / sqrt(2) that are in the set."""
        diagonal = np.linspace(0.05, 0.7, 14)
        inside = in_stable_set(diagonal, diagonal, PAST)
        before = _stable(found, BEFORE)
        return compare(
            at_most(0.0), single(inside.mean()),
            (f"minimisers at eta = {BEFORE:g}", single(before.mean())),
            "Counterexample: (0.5, 0.5) at eta = 1.08 has sharpness 0.75 < 1.85.",
        )  # fmt: skip

    @claim(
        "stable-set",
        "For eta > 1 no minimiser is in the stable set.",
        "corrects 002 Prop. 5",
    )
    def stable_set(self, found: Found) -> Evidence:
        """Share of minimisers in the set, past and before the edge."""
        past, before = (_stable(found, rate).mean() for rate in (PAST, BEFORE))
        words = f"eta = {BEFORE:g}, before the edge"
        return compare(at_most(0.0), single(past), (words, single(before)))

    @claim(
        "stable-minimisers-as-printed",
        "For eta < 1 every point of the stable set has x y = 1 and x + y < sqrt(2 + 2 / eta).",
        "002 Prop. 6",
    )
    def stable_minimisers_as_printed(self, found: Found) -> Evidence:
        """Share of the diagonal below 1 / sqrt(2) that is in the set and not on x y = 1."""
        diagonal = np.linspace(0.05, 0.7, 14)
        forgotten = in_stable_set(diagonal, diagonal, BEFORE) & (diagonal**2 != 1)
        beyond = _stable(found, BEFORE) & (found.minimisers.sum(axis=1) >= stable_sum(0.99))
        words = "minimisers beyond the bound of eta = 0.99"
        return compare(at_most(0.0), single(forgotten.mean()), (words, single(beyond.mean())))

    @claim(
        "stable-minimisers",
        "For eta < 1 a minimiser is in the stable set if x + y < sqrt(2 + 2 / eta), and only then.",
        "002 Prop. 6, for minimisers",
    )
    def stable_minimisers(self, found: Found) -> Evidence:
        """Share of minimisers on the predicted side, and with the bound of another rate."""
        x, y = found.minimisers.T
        inside = in_stable_set(x, y, BEFORE)
        right, wrong = ((inside == (x + y < stable_sum(rate))).mean() for rate in (BEFORE, 0.8))
        words = "the bound of eta = 0.8"
        return compare(at_least(1.0), single(right), (words, single(wrong)))

    @claim(
        "many-factors",
        "For n factors and eta > 1 no minimiser is stable: its sharpness is at least 2.",
        "002 Prop. 7",
    )
    def many_factors(self, found: Found) -> Evidence:
        """Lowest sharpness over random minimisers with 2 to 8 factors."""
        random = np.random.default_rng(self.seed + 1)
        lowest, free = np.inf, np.inf
        for n in range(2, 9):
            logs = random.normal(size=(5000, n))
            balanced = np.exp(logs - logs.mean(axis=1, keepdims=True))
            lowest = min(lowest, product_sharpness(balanced).min())
            free = min(free, product_sharpness(np.exp(logs)).min())
        words = "the same sum where the product is not 1"
        return compare(at_least(2.0), single(lowest), (words, single(free)))

    @claim(
        "two-rates",
        "Before the edge descent ends at a minimiser in the stable set.",
        "002 Fig. 3.4",
    )
    def two_rates(self, found: Found) -> Evidence:
        """Sum of the factors in the end at rate 0.95, and at a rate far below."""
        last = {rate: found.paths[rate][-1] for rate in (BEFORE, 0.2)}
        orbit = ", ".join(f"{x:.4f}" for x in sorted(found.paths[PAST][-2:, 0]))
        return compare(
            at_most(stable_sum(BEFORE)), single(last[BEFORE].sum()),
            ("rate 0.2, from the same start", single(last[0.2].sum())),
            f"At 0.95 it ends at ({last[BEFORE][0]:.4f}, {last[BEFORE][1]:.4f}); at 1.08 on the "
            f"balanced orbit {orbit}.",
        )  # fmt: skip

    # --- charts --------------------------------------------------------------------------

    @chart
    def decay(self, found: Found) -> Chart:
        """Fig. B.4."""
        panels = []
        for rate in FIGURE:
            path = found.paths[rate][:161]
            gap = np.abs(path[:, 0] - path[:, 1])
            marks: list[Mark] = [Line(np.arange(len(gap)), np.maximum(gap, 1e-17), "|x - y|")]
            if rate == 1.05:
                slope = gap[100] * (3 - 2 * rate) ** ((np.arange(161) - 100) / 2)
                marks.append(Line(np.arange(161), slope, "factor 3 - 2K", "theory"))
            panels.append(Panel(tuple(marks), f"K = {rate:g}", "step", "|x - y|", "linear", "log"))
        return Chart(
            "decay", "The factors become equal while their product oscillates",
            "At 1.05 the product has period 2, at 1.25 period 4; |x - y| decays in both.",
            tuple(panels),
        )  # fmt: skip

    @chart
    def bound(self, found: Found) -> Chart:
        """Largest ratio by rate."""
        rates = sorted(found.ratios)
        marks = (
            Points(rates, [found.ratios[r].max() for r in rates], "largest over random states"),
            Line(rates, [abs(3 - 2 * r) for r in rates], "on the orbit: |3 - 2K|", "theory"),
            Reference("y", 1.0), Reference("x", 1.5, "Thm. 3.4 ends"),
        )  # fmt: skip
        return Chart(
            "two-step-ratio", "By how much two steps multiply |x - y|",
            "Below 1 for every state up to K = 1.5 (close to 1 only near x y = 1), and not beyond.",
            (Panel(marks, "", "K", "two-step ratio"),),
        )  # fmt: skip

    @chart
    def plane(self, found: Found) -> Chart:
        """Fig. 3.4."""
        x = np.linspace(0.6, 1.7, 60)
        stable = found.minimisers[_stable(found, BEFORE)]
        panels = []
        for rate in (PAST, BEFORE):
            path = found.paths[rate][:60]
            marks: list[Mark] = [
                Line(x, 1 / x, "minimisers", "control"),
                Path(path[:, 0], path[:, 1], label="descent"),
            ]
            if rate < 1:
                marks.append(Line(stable[:, 0], stable[:, 1], "stable minimisers", "theory"))
            panels.append(Panel(tuple(marks), f"rate {rate:g}", "x", "y", equal=True))
        return Chart(
            "plane", "Past the edge descent swings across the minimisers and balances",
            "Before the edge it stops inside the stable stretch of x y = 1.", tuple(panels),
        )  # fmt: skip


def _stable(found: Found, rate: float) -> np.ndarray:
    """Which minimisers are in the stable set."""
    return in_stable_set(found.minimisers[:, 0], found.minimisers[:, 1], rate)


def _path(rate: float, steps: int) -> np.ndarray:
    states = [np.array(START)]
    for _ in range(steps):
        x, y = states[-1]
        states.append(np.array(factor_step(x, y, 1.0, rate)))
    return np.array(states)


def _decay(path: np.ndarray) -> float:
    """Two-step factor of |x - y| where the path has settled and nothing is rounded yet."""
    gap = np.abs(path[:, 0] - path[:, 1])
    return float(gap[102] / gap[100])


def _on_orbit(ends: np.ndarray, rate: float) -> np.ndarray:
    """Whether both factors are on the same point of the orbit, within 1e-6."""
    close = np.abs(ends[:, :, None] - orbit_points(1.0, rate)).min(axis=2).max(axis=1) < 1e-6
    return close & (np.abs(ends[:, 0] - ends[:, 1]) < 1e-6)
