"""Slopes with intervals, gaps under their bound, kernel drift."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel, Reference, Scale
from dynascope.probes.slopes import Slope
from dynascope.studies.headlines import headline_chart
from dynascope.studies.linearity.linearity_width.claims import RATE, connected
from dynascope.studies.linearity.linearity_width.family import GRID, HIDDEN, Curve, Family
from dynascope.studies.linearity.linearity_width.runs import Settings, curves, families, study
from dynascope.studies.nodes import together

SHOWN = ("fully connected", "dropped", "convolutional", "narrow layer", "tanh output")
present = together(**{name: node for name, node in families.items() if name != HIDDEN})


@study.chart(connected, headline=True)
def headline(s: Settings, seen: Family) -> Chart:
    """The Hessian norm of the fully connected network."""
    norms = seen.norms[:, :, 0].mean(axis=1)
    return headline_chart(
        "Spectral norm of the output's Hessian, fully connected, three layers",
        ("width", seen.widths), ("norm", norms),
        ("1/sqrt(width)", norms[0] * (seen.widths / seen.widths[0]) ** -0.5),
        note="over it 1/sqrt(width) from the first point on, without the logarithms",
        x_scale="log", y_scale="log",
    )  # fmt: skip


@study.chart(present)
def slopes(s: Settings, families: dict[str, Family]) -> Chart:
    """Hessian norms over width for a few architectures, slopes with intervals for all."""
    marks: list[Mark] = []
    for group, name in enumerate(n for n in SHOWN if n in families):
        seen = families[name]
        marks.append(_over_seeds(seen.widths, seen.norms[:, :, 0], name, group))
    first = families["fully connected"]
    guide = 1.3 * np.exp(np.log(first.norms[0, :, 0]).mean())
    law = guide * (first.widths / first.widths[0]) ** -0.5
    marks.append(Line(first.widths, law, "1/sqrt(width)", "theory"))
    bars = _bars({n: f.slope() for n, f in families.items() if f.norms.all()})
    return Chart(
        "slopes", "How fast the Hessian norm falls with width",
        "Left: means over seeds, bands from the smallest to the largest. Right: slopes with 95 % "
        f"intervals over seeds; from {RATE.low} to {RATE.high} counts as the rate -1/2.",
        (Panel(tuple(marks), "Hessian norm of the output", "width", "norm", "log", "log"),
         Panel((bars, Reference("y", -0.5, "-1/2")), "Slopes in log-log", "", "slope")),
    )  # fmt: skip


@study.chart(curves)
def gap(s: Settings, curves: dict[tuple[int, int], Curve]) -> Chart:
    """|f - f_lin| along the direction that curves most, under its bound."""
    marks: list[Mark] = []
    for group, place in enumerate(sorted({0, len(s.widths) // 2, len(s.widths) - 1})):
        m = s.widths[place]
        gaps, bounds = (v[1:] for v in curves[m, 0])
        marks.append(Line(GRID[1:], gaps, f"width {m}", group=group))
        marks.append(Line(GRID[1:], bounds, f"bound, {m}", "theory", group=group))
    panel = Panel(tuple(marks), "", "distance R from the start", "|f - f_lin|", "log", "log")
    return Chart(
        "gap", "The distance to the linear model stays below half the Hessian norm times R squared",
        "One start per width, along the Hessian's top eigenvector: as long as the curvature does "
        "not change on the way, gap and bound are the same.",
        (panel,),
    )  # fmt: skip


@study.chart(present, families[HIDDEN])
def drift(s: Settings, families: dict[str, Family], hidden: Family) -> Chart:
    """Fig. 2.2 and what it hides: the kernel's change, by architecture and by inputs."""
    two, dropped, marks = families["two layers"], families["dropped"], []
    for group, name in enumerate(("dropped", "two layers", "narrow layer")):
        seen = families[name]
        x = seen.widths if name == "two layers" else seen.m
        marks.append(_over_seeds(x, seen.drift, name, group))
    for group, (power, words) in enumerate(((-0.5, "1/sqrt(m)"), (-1.0, "1/m"))):
        law = two.drift[0].mean() * (two.widths / two.widths[0]) ** power
        marks.append(Line(two.widths, law, words, "theory", group=group))
    by_inputs = (
        _over_seeds(dropped.m, dropped.drift, f"{s.inputs} inputs", 0),
        _over_seeds(hidden.m, hidden.drift, "more inputs than m", 1),
    )
    bars = _bars({n: f.slope("drift") for n, f in families.items() if f.drift.all()})
    lines = (Reference("y", -0.5, "-1/2"), Reference("y", -1.0, "-1"))
    axes: tuple[str, str, Scale, Scale] = ("m", "max |K_t - K_0| / |K_0|", "log", "log")
    return Chart(
        "drift", "How far training moves the tangent kernel",
        "Left: past small widths the change falls faster than 1/sqrt(m); in the middle its slopes "
        "against the width, with 95 % intervals over seeds. Right: concatenated inputs that "
        "outnumber the hidden vertices hide m.",
        (Panel(tuple(marks), "By architecture", *axes),
         Panel((bars, *lines), "Slopes in log-log", "", "slope"),
         Panel(by_inputs, "The network of Fig. 2.2, by inputs", *axes)),
    )  # fmt: skip


def _bars(fits: dict[str, Slope]) -> Bars:
    lows, highs = [f.low for f in fits.values()], [f.high for f in fits.values()]
    return Bars(tuple(fits), [f.value for f in fits.values()], group=0, low=lows, high=highs)


def _over_seeds(x: np.ndarray, values: np.ndarray, name: str, group: int) -> Line:
    """Geometric means over seeds, in a band from the smallest to the largest."""
    middle = np.exp(np.log(values).mean(axis=1))
    return Line(x, middle, name, group=group, low=values.min(axis=1), high=values.max(axis=1))
