"""How the factors become equal, by how much two steps help, and paths in the plane."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Path, Points, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.oscillation.balance import runs
from dynascope.studies.oscillation.balance.claims import Paths, Ratios
from dynascope.studies.oscillation.balance.runs import (
    BEFORE,
    FIGURE,
    MINIMISERS,
    PAST,
    Settings,
    study,
)
from dynascope.studies.oscillation.drawing import above_rounding
from dynascope.theories.oscillation.balance import in_stable_set


def _gap(path: np.ndarray, fitted_at: int) -> tuple[np.ndarray, np.ndarray]:
    """|x - y| by step, and the factor 3 - 2K of two steps at K = 1.05, fitted at one step."""
    gap = np.abs(path[:, 0] - path[:, 1])
    return gap, gap[fitted_at] * (3 - 2 * 1.05) ** ((np.arange(len(gap)) - fitted_at) / 2)


@study.chart(runs.paths[1.05], headline=True)
def headline(s: Settings, path: np.ndarray) -> Chart:
    """The larger factor less the smaller one, at rate 1.05."""
    gap, fit = _gap(path[:120], 119)
    return headline_chart(
        "|x - y| at rate 1.05, past the edge of stability", ("step", np.arange(120)),
        ("|x - y|", gap), ("theory", fit),
        note="theory: the factor 3 - 2K of two steps, fitted at the end only", y_scale="log",
    )  # fmt: skip


@study.chart(runs.paths)
def decay(s: Settings, paths: Paths) -> Chart:
    """Fig. B.4."""
    panels = []
    for rate in FIGURE:
        gap, slope = _gap(paths[rate][:161], 100)
        marks = [Line(np.arange(161), above_rounding(gap), "|x - y|")]
        if rate == 1.05:
            marks.append(Line(np.arange(161), slope, "factor 3 - 2K", "theory"))
        panels.append(Panel(tuple(marks), f"K = {rate:g}", "step", "|x - y|", "linear", "log"))
    return Chart(
        "decay", "The factors become equal while their product oscillates",
        "At 1.05 the product has period 2, at 1.25 period 4; |x - y| decays in both.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.ratios)
def bound(s: Settings, ratios: Ratios) -> Chart:
    """Largest ratio by rate."""
    rates = sorted(ratios)
    marks = (
        Points(rates, [ratios[r].largest for r in rates], "largest over random states"),
        Line(rates, [abs(3 - 2 * r) for r in rates], "on the orbit: |3 - 2K|", "theory"),
        Reference("y", 1.0), Reference("x", 1.5, "Thm. 3.4 ends"),
    )  # fmt: skip
    return Chart(
        "two-step-ratio", "By how much two steps multiply |x - y|",
        "Below 1 for every state up to K = 1.5 (close to 1 only near x y = 1), and not beyond.",
        (Panel(marks, "", "K", "two-step ratio"),),
    )  # fmt: skip


@study.chart(runs.paths)
def plane(s: Settings, paths: Paths) -> Chart:
    """Fig. 3.4."""
    along = np.linspace(0.6, 1.7, 60)
    line = Line(along, 1 / along, "minimisers", "control")
    x, y = MINIMISERS
    inside = in_stable_set(x, y, BEFORE)
    stable = Line(x[inside], y[inside], "stable minimisers", "theory")
    panels = []
    for rate, more in ((PAST, []), (BEFORE, [stable])):
        path = Path(paths[rate][:60, 0], paths[rate][:60, 1], label="descent")
        panels.append(Panel((line, path, *more), f"rate {rate:g}", "x", "y", equal=True))
    return Chart(
        "plane", "Past the edge descent swings across the minimisers and balances",
        "Before the edge it stops inside the stable stretch of x y = 1.", tuple(panels),
    )  # fmt: skip
