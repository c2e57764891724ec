"""Charts of `linearity-width`: slopes with intervals, gaps under their bound, kernel drift."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel, Reference
from dynascope.studies.comparisons import Bound
from dynascope.studies.linearity.findings import GRID, Family
from dynascope.studies.slopes import Slope

SHOWN = ("fully connected", "dropped", "convolutional", "narrow layer", "tanh output")


def draw_slopes(families: dict[str, Family], rate: Bound) -> Chart:
    """Hessian norms over width for a few architectures, slopes with intervals for all."""
    marks: list[Mark] = []
    for group, name in enumerate(n for n in SHOWN if n in families):
        seen = families[name]
        norms = np.exp(np.log(seen.norms[:, :, 0]).mean(axis=1))
        ends = seen.norms[:, :, 0].min(axis=1), seen.norms[:, :, 0].max(axis=1)
        marks.append(Line(seen.widths, norms, name, group=group, low=ends[0], high=ends[1]))
    first = families["fully connected"]
    guide = 1.3 * np.exp(np.log(first.norms[0, :, 0]).mean())
    law = guide * (first.widths / first.widths[0]) ** -0.5
    marks.append(Line(first.widths, law, "1/sqrt(width)", "theory"))
    curves = Panel(tuple(marks), "Hessian norm of the output", "width", "norm", "log", "log")
    fits = {n: f.slope() for n, f in families.items() if f.norms.all()}
    slopes = Panel((_bars(fits), Reference("y", -0.5, "-1/2")), "Slopes in log-log", "", "slope")
    return Chart(
        "slopes", "How fast the Hessian norm falls with width",
        "Left: means over seeds, bands from the smallest to the largest. Right: slopes with 95 % "
        f"intervals over seeds; from {rate.low} to {rate.high} counts as the rate -1/2.",
        (curves, slopes),
    )  # fmt: skip


def draw_gaps(curves: dict[int, tuple[np.ndarray, np.ndarray]]) -> Chart:
    """|f - f_lin| along the direction that curves most, under its bound."""
    radii = np.array(GRID[1:])
    marks: list[Mark] = []
    chosen = [m for i, m in enumerate(curves) if i in (0, len(curves) // 2, len(curves) - 1)]
    for group, m in enumerate(chosen):
        gaps, bounds = (v[0, 1:] for v in curves[m])
        marks.append(Line(radii, gaps, f"width {m}", group=group))
        marks.append(Line(radii, bounds, f"bound, {m}", "theory", group=group))
    panel = Panel(tuple(marks), "", "distance R from the start", "|f - f_lin|", "log", "log")
    return Chart(
        "gap", "The distance to the linear model stays below half the Hessian norm times R squared",
        "One start per width, along the Hessian's top eigenvector: as long as the curvature does "
        "not change on the way, gap and bound are the same.",
        (panel,),
    )  # fmt: skip


def draw_drift(families: dict[str, Family], hidden: Family, m: np.ndarray) -> Chart:
    """The kernel's largest relative change in training, by architecture and by inputs."""
    marks: list[Mark] = []
    for group, name in enumerate(("dropped", "two layers", "narrow layer")):
        seen = families[name]
        marks.append(_drift_line(seen.widths if name == "two layers" else m, seen, name, group))
    two = families["two layers"]
    for group, (power, words) in enumerate(((-0.5, "1/sqrt(m)"), (-1.0, "1/m"))):
        law = two.drift[0].mean() * (two.widths / two.widths[0]) ** power
        marks.append(Line(two.widths, law, words, "theory", group=group))
    left = Panel(tuple(marks), "By architecture", "m", "max |K_t - K_0| / |K_0|", "log", "log")
    right = Panel(
        (
            _drift_line(m, families["dropped"], "10 inputs", 0),
            _drift_line(m, hidden, "more inputs than m", 1),
        ),
        "The network of Fig. 2.2, by inputs", "m", "max |K_t - K_0| / |K_0|", "log", "log",
    )  # fmt: skip
    fits = {n: f.drift_slope() for n, f in families.items() if f.drift.all()}
    lines = (Reference("y", -0.5, "-1/2"), Reference("y", -1.0, "-1"))
    middle = Panel((_bars(fits), *lines), "Slopes in log-log", "", "slope")
    return Chart(
        "drift", "How far training moves the tangent kernel",
        "Left: past small widths the change falls faster than 1/sqrt(m); in the middle its slopes "
        "against the width, with 95 % intervals over seeds. Right: concatenated inputs that "
        "outnumber the hidden vertices hide m.",
        (left, middle, right),
    )  # fmt: skip


def _bars(fits: dict[str, Slope]) -> Bars:
    lows, highs = [f.low for f in fits.values()], [f.high for f in fits.values()]
    return Bars(tuple(fits), [f.value for f in fits.values()], group=0, low=lows, high=highs)


def _drift_line(m: np.ndarray, seen: Family, name: str, group: int) -> Line:
    middle = np.exp(np.log(seen.drift).mean(axis=1))
    ends = seen.drift.min(axis=1), seen.drift.max(axis=1)
    return Line(m, middle, name, group=group, low=ends[0], high=ends[1])
