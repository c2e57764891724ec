"""What is read off the curves: agreement, gains past the critical rate, the table."""

from __future__ import annotations

import numpy as np

from dynascope.core.records import Measured
from dynascope.studies.catapult.generalization_runs import Panel
from dynascope.studies.comparisons import average, single

EDGE = 0.05  # rates so near to critical take longer than a run to show what they do


def comparable(panel: Panel) -> bool:
    """Whether some rate is below critical for every seed, and some rate above for every seed.

    The seeds share their learning rates; in a narrow network their critical rates differ.
    """
    return bool((panel.ratio.max(axis=1) < 1).any() and (panel.ratio.min(axis=1) > 1).any())


def difference(panel: Panel, rates: np.ndarray) -> float:
    """Spread of the three best losses over their smallest, seeds averaged, at width 2,000."""
    best = np.array([c.best[rates].mean(axis=1) for c in panel.curves.values()])
    spread = (best.max(axis=0) - best.min(axis=0)) / best.min(axis=0)
    return float(spread.max() * (panel.setting.width / 2000) ** 0.5)


def share_below(panels: list[Panel], kind: str) -> float:
    """Share of runs that trained if and only if their rate was below critical."""
    agree = [(p.curves[kind].trained == (p.ratio < 1))[np.abs(p.ratio - 1) > EDGE] for p in panels]
    return float(np.mean(np.concatenate(agree)))


def value(measured: Measured) -> float:
    """The number, or minus infinity where there is none."""
    return -np.inf if measured.value is None else measured.value


def below(panel: Panel, kind: str) -> np.ndarray:
    """(seeds,) the smallest of the best test losses at rates below critical."""
    return panel.curves[kind].best[panel.ratio.max(axis=1) < 1].min(axis=0)


def gains(panel: Panel, kind: str, rates: np.ndarray) -> list[tuple[float, Measured]]:
    """At each of some rates where every seed trained: the ratio, and what the loss falls by."""
    curve, before = panel.curves[kind], below(panel, kind)
    chosen = np.flatnonzero(rates & curve.trained.all(axis=1))
    return [(float(panel.ratio[i].mean()), average(1 - curve.best[i] / before)) for i in chosen]


def linear_gain(panel: Panel) -> Measured:
    """The most any seed of the linear model shows past critical before it diverges."""
    past = panel.ratio.min(axis=1) > 1
    return single(np.max(1 - panel.curves["linear"].best[past] / below(panel, "linear")))


def table(panel: Panel) -> str:
    """Best test losses of the three models at every rate."""

    def cell(kind: str, row: int) -> str:
        curve = panel.curves[kind]
        return f"{curve.best[row].mean():.3f}" if curve.trained[row].all() else "diverges"

    rows = [
        f"{ratio:.2f}: {cell('linear', i)} / {cell('quadratic', i)} / {cell('network', i)}"
        for i, ratio in enumerate(panel.ratio.mean(axis=1))
    ]
    head = "Best test loss (linear / quadratic / network) by rate over critical rate: "
    return head + "; ".join(rows) + f". Critical rate {panel.critical.mean():.3g}."
