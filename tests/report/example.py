"""An example study with every kind of mark, for the tests of this package and for the eye.

The numbers are made by the closed forms below and claim nothing about any study. Run this
file with a folder as its argument to get the report, the pictures and the terminal text.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path as FilePath

import numpy as np

from dynascope.core.charts import (
    Bars,
    Chart,
    Graph,
    Heat,
    Line,
    Panel,
    Path,
    Points,
    Reference,
    Span,
    picture_grid,
)
from dynascope.core.records import Claim, Control, Measured, StudyResult

TIME = np.linspace(0.0, 12.0, 241)


def swing(time: np.ndarray = TIME) -> np.ndarray:
    """A loss that goes 2.4 -> 0.3177 -> 0.3949 -> 0: two falls with a bump between them."""
    knots = ((0.0, 2.4), (2.5, 0.3177), (4.2, 0.3949), (12.0, 0.0))
    y = np.zeros_like(time)
    for (a, low), (b, high) in pairwise(knots):
        part = np.clip((time - a) / (b - a), 0, 1)
        smooth = part * part * (3 - 2 * part)
        y = np.where((time >= a) & (time <= b), low + (high - low) * smooth, y)
    return y


def curves() -> Chart:
    growth = [1 / (1 + np.exp(-(TIME - 3 * k) * 1.6)) for k in (1, 2, 3)]
    entries = []
    for k, curve in enumerate(growth):
        noisy = curve + 0.015 * np.sin(17 * TIME + k)
        name = f"concept {k + 1}"
        entries.append(Line(TIME, noisy, name, "measured", k, curve - 0.06, curve + 0.06))
        entries.append(Line(TIME, curve, f"{name}, theory", "theory", k))
    stages = tuple(Span(4.0 * k, 4.0 * k + 4, f"stage {k + 1}") for k in range(3))
    loss = np.where(TIME < 9, np.exp(-1.3 * TIME), np.nan)  # a lane that diverged at 9
    decay = (
        Line(TIME, np.exp(-TIME) + 1e-7, "small start", "measured", 0),
        Line(TIME, np.exp(-TIME), "small start, theory", "theory", 0),
        Line(TIME, loss, "diverged at 9", "measured", 1),
        Line(TIME, 0.5 + 0 * TIME, "large start", "control"),
        Reference("x", 6.0, "learning time"),
        Reference("y", 1e-3, "tolerance"),
    )
    return Chart(
        "curves",
        "Concepts are learned one after the other",
        "Left: each measured entry (solid, band: two standard deviations over 64 seeds) lies under "
        "its theory (dashed); the stages are shaded. Right: the loss falls exponentially, one "
        "lane diverges and its curve ends there, and the control with a large start never falls.",
        (
            Panel((*stages, *entries), "Entries of the Jacobian", "time", "entry"),
            Panel(decay, "Loss", "time", "training loss", y_scale="log"),
        ),
    )


def paths() -> Chart:
    turn = np.linspace(0, 1, 120)
    out = np.stack([turn**0.5 * 1.2 - 0.2 * turn**4, 2 * turn**2, 0.4 * np.sin(np.pi * turn)])
    plane = (
        Path(out[0], out[1], label="output", group=0),
        Path(out[0] * 0.97, out[1] * 1.02, label="theory", role="theory", group=0),
        Path(turn, 2 * turn, label="linear model", role="control"),
        Points([1, 0], [0, 2], "training clusters", "measured", 1),
        Points([1], [2], "test point", "theory"),
    )
    space = (
        Path(*out, label="output", group=0),
        Path([1.0], [2.0], [0.0], "test point", "measured", 1),
    )
    lanes = tuple(
        Path(
            out[0] * s,
            out[1] * s**2,
            label="seeds" if s == 0.8 else "",
            group=0,
            arrows=bool(s > 1.09),
        )
        for s in np.linspace(0.8, 1.1, 9)
    )
    return Chart(
        "paths",
        "The output swings by a training cluster",
        "The path first heads for the cluster on the x axis and only then turns to the test point.",
        (
            Panel(plane, "In the plane", "first concept", "second concept", equal=True),
            Panel(space, "In space", "first", "second", "linear", "linear"),
            Panel(lanes, "Nine seeds", "first concept", "second concept"),
        ),
    )


def fields() -> Chart:
    rates, scales = np.logspace(-3, 0, 25), np.logspace(-4, -1, 19)
    phase = np.log10(rates[None, :] / scales[:, None] ** 0.5)
    holes = np.where((rates[None, :] > 0.5) & (scales[:, None] > 0.03), np.nan, 10**phase)
    names = tuple("abcdefgh")
    angle = np.arange(8) * np.pi / 4
    edges = (*((i, (i + 1) % 8) for i in range(8)), (0, 4), (1, 5), (2, 6))
    graph = Graph(np.cos(angle), np.sin(angle), np.arange(8) ** 1.5, names, edges, "learning time")
    log = {"x_scale": "log", "y_scale": "log"}
    labels = {"x_label": "learning rate", "y_label": "initial scale"}
    return Chart(
        "fields",
        "Where the phases meet",
        "The white line is the predicted border; grey cells diverged. Middle: zero is white.",
        (
            Panel(
                (Heat(rates, scales, holes, "ratio", contours=(1, 5)),), "Phases", **labels, **log
            ),
            Panel((Heat(rates, scales, phase, "log ratio", True, (0,)),), "Sign", **labels, **log),
            Panel((graph,), "Order of learning"),
        ),
    )


def shares() -> Chart:
    depths = ("1 layer", "2 layers", "4 layers")
    share, theory = np.array([0.02, 0.55, 0.93]), np.array([0.0, 0.5, 0.95])
    bars = (
        Bars(depths, share, "small start", "measured", 0, share - 0.02, share + 0.05),
        Bars(depths, theory, "small start, theory", "theory", 0),
        Bars(depths, share / 2, "default start", "measured", 1),
        Bars(depths, [0.0, 0.02, 0.03], "shuffled", "control"),
        Reference("y", 0.9, "the claim's bound"),
    )
    widths = np.array([2, 4, 8, 16, 32, 64])
    points = (
        Points(
            widths, 1 - 1 / widths, "measured", "measured", 0, 0.9 - 1 / widths, 1.05 - 1 / widths
        ),
        Line(widths, 1 - 1.05 / widths, "theory", "theory", 0),
        Points(widths, 0.1 + 0 * widths, "control", "control"),
    )
    many = tuple(Line(TIME, np.exp(-TIME / (k + 1)), f"width {2**k}") for k in range(8))
    return Chart(
        "shares",
        "How often it happens, by depth and width",
        "Dashed outlines are the theory; each stands over its measured bar. Error bars are 95% "
        "intervals. The legend with eight entries stands below its panel.",
        (
            Panel(bars, "By depth", "", "share of seeds"),
            Panel(points, "By width", "width", "share of seeds", x_scale="log"),
            Panel(many, "Eight widths", "time", "loss"),
        ),
    )


def sheet() -> Chart:
    """Discs that turn from red to blue and shrink, in three rows of eight."""
    at = np.linspace(-1, 1, 16)
    far = np.hypot(at[:, None] + 0.1, at)
    pictures = np.empty((3, 8, 16, 16, 3))
    for row in range(3):
        for column, t in enumerate(np.linspace(0, 1, 8)):
            colour = np.array([0.8 - 0.6 * t, 0.2, 0.2 + 0.6 * t])
            inside = (far < 0.8 - 0.5 * t + 0.05 * row)[..., None]
            pictures[row, column] = np.where(inside, colour, 0.9)
    grid = picture_grid(pictures, ("a", "b", "c"), tuple(map(str, range(8))))
    panel = Panel((grid,), "Three discs", "step", "picture", equal=True)
    return Chart("sheet", "A sample sheet", "Discs turn blue and shrink.", (panel,))


def claims() -> tuple[Claim, ...]:
    large = Control(
        "the same with a large start (scale 1)", Measured(0.02, 0.13, 64, 0.0, 0.052), "fails"
    )
    return (
        Claim(
            "swing-by/second-descent",
            "The test loss falls, rises and falls again in at least nine of ten seeds.",
            "section 3.1, figure 2c",
            Measured(0.97, 0.17, 64, 0.93, 1.0),
            {"low": 0.9, "high": None},
            "holds",
            large,
            "Counted by the descent detector with a rise of at least 1%.",
        ),
        Claim(
            "swing-by/final-rate",
            "The terminal rate of the test loss is that of the slowest entry.",
            "theorem 4.1",
            Measured(3.21e-5, 1.4e-7, 64, 3.2e-5, 3.22e-5),
            {"value": 4e-5},
            "fails",
            Control("rate of the fastest entry", Measured(2e-3, 1e-5, 64), "holds"),
            "The printed flow has half the true rate; see the notes.",
        ),
        Claim(
            "swing-by/depth",
            "Deeper models swing by more often.",
            "figure 5",
            Measured(None),
            "a share that grows with depth",
            "undecided",
            Control("one layer", Measured(0.0, None, 8), "fails"),
        ),
        Claim(
            "swing-by/outside",
            "Outside of the assumptions nothing is claimed.",
            "appendix D",
            Measured(1.0),
            {"low": 0.0, "high": 2.0},
            "not_applicable",
            None,
        ),
    )


def headline() -> Chart:
    theory = swing() * (1 + 0.03 * np.sin(TIME))
    marks = (Line(TIME, swing(), "measured", group=0), Line(TIME, theory, "theory", "theory", 0))
    title = "Test loss of the tied linear model, d = 3, seed 0"
    panel = Panel(marks, "", "time", "test loss")
    return Chart("headline", title, "62 of 64 seeds swing by.", (panel,))


def example() -> StudyResult:
    task = {"spec": "tasks.IdentityMapping", "means": [1.0, 2.0], "scales": [0.05, 0.05]}
    model = {"spec": "models.TiedLinear", "width": 3, "init_scale": 0.01, "rotate": False}
    settings = {"task": task, "model": model, "steps": 4000, "stop": {"float": "inf"}, "key": None}
    return StudyResult(
        "swing-by",
        "Swing-by: the test loss falls, rises and falls again",
        "yang2025 section 3.1 and figure 2c",
        "laptop",
        "0123456789abcdef",
        settings,
        (
            "The printed flow lacks a factor 2; time is the true gradient-flow time.",
            "Scales are standard deviations, as in the program; the text prints variances.",
        ),
        claims(),
        (headline(), curves(), paths(), fields(), shares(), sheet()),
        "headline",
        ("run-1", "run-2"),
        73.4,
        {"versions": {"dynascope": "0.1.0", "jax": "0.10.2"}, "device": "cpu, 2 cores", "seed": 0},
    )


if __name__ == "__main__":
    from dynascope import report

    folder = FilePath(sys.argv[1])
    for chart in (*example().charts[1:], report.with_close_up(headline())):
        report.save(chart, folder / f"{chart.name}.png")
    page = report.page(example(), "dynascope run swing-by --scale laptop")
    (folder / "report.html").write_text(page, encoding="utf-8")
    print(report.text_plot(headline(), 100, 18))
