"""Shares against width and depth with their predictions; rises and peaks against the start."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.models import TiedLinear
from dynascope.probes import bump
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import shares_as
from dynascope.studies.swing_by.swing_by_width import claims, runs
from dynascope.studies.swing_by.swing_by_width.runs import SIZES, Settings, gaussian, study
from dynascope.theories.swing_by import width_odds


@study.chart(claims.low, runs.odds["width"], headline=True)
def headline(s: Settings, shares: dict[TiedLinear, Measured], odds: dict) -> Chart:
    """Share of seeds that swing by against the width, with the prediction."""
    widths = [model.width for model in shares]
    return headline_chart(
        f"Share of Gaussian starts that swing by, dimension 2, {s.seeds} seeds",
        ("log2 of the width", np.log2(widths)), ("share", [m.value for m in shares.values()]),
        ("theory", list(odds.values())),
        note="prediction: chance that two random rows have a cosine above the critical one",
    )  # fmt: skip


@study.chart(runs.by_start, runs.rows["gaussian"])
def width(s: Settings, shares: dict[int, dict[TiedLinear, Measured]], rows: np.ndarray) -> Chart:
    """Shares against width with the prediction, and the correlations behind it."""
    grid = np.unique(np.geomspace(2, 64, 40).round().astype(int))
    low = {model.width: m for model, m in shares[2].items()}
    high = {2: shares[64][gaussian(2, 1e-4)], 64: shares[64][gaussian(64)]}
    odds = [runs.law(s.task, int(w)) for w in grid]
    swinging = (shares_as(Points, tuple(low), low.values(), "dimension 2", 0),
                shares_as(Points, tuple(high), high.values(), "dimension 64", 1),
                Line(grid, odds, "P(cosine > critical)", "theory", 0))  # fmt: skip
    widths = (2, 3, 4, 8, 16, 64)
    starts = [rows[..., :w] @ rows[..., :w].transpose(0, 2, 1) for w in widths]
    seen = [np.abs(width_odds.initial_correlation(w)[:, 0, 1]).mean() for w in starts]
    cosines = [width_odds.mean_absolute_cosine(int(w)) for w in grid]
    correlated = (
        Points(widths, seen, "starts of two rows", group=0),
        Line(grid, cosines, "random directions", "theory", 0),
        Line(grid, np.sqrt(2 / (np.pi * grid)), "sqrt(2 / (pi width))", "reference"),
    )
    return Chart(
        "width", "Width decides, not dimension",
        "Left: share of Gaussian starts whose test loss rises, with 95 % intervals, and "
        "the chance that two rows start correlated above the critical value; 64 dimensions "
        "are shown from small starts. Right: why: rows of wide matrices are nearly orthogonal.",
        (Panel(swinging, "Starts that swing by", "width", "share", "log"),
         Panel(correlated, "Correlation of two rows", "width", "mean |cosine|", "log")),
    )  # fmt: skip


@study.chart(runs.starts)
def starts(s: Settings, run: Run) -> Chart:
    """Rise against correlation for several sizes, and rise and peak against size."""
    rises, peak, power = claims.rises(run), claims.peaks(run), claims.exponent(s.task)
    marks: list[Mark] = [  # gaps where a log axis would only show round-off
        Line(runs.CORRELATIONS, np.where(rise > 1e-5, rise, np.nan), f"size {size:g}", group=k)
        for k, (size, rise) in enumerate(zip(SIZES[:5], rises[:5], strict=True))
    ]
    critical = width_odds.critical_correlation(s.task.means, s.task.scales, 0.01)
    marks += [Reference("x", critical, f"critical at size 0.01: {critical:.2f}"),
              Reference("y", runs.SMALL_RISE, "0.2 %")]  # fmt: skip
    law, rise = peak[-1] * np.divide(SIZES, SIZES[-1]) ** power, rises[:, -1]
    falls = (
        Points(SIZES, peak, "peak of w_12", group=0),
        Line(SIZES, law, f"size^{power:.3f}", "theory", 0),
        Points(SIZES, np.where(rise > 1e-12, rise, np.nan), "rise of the test loss", group=1),
    )
    correlation = "correlation of the rows"
    return Chart(
        "starts", "Correlated, and not too small",
        "Left: for sizes from 0.1 to 0.0001 the rise passes 0.2 % near a correlation of 0.53; "
        "above, smaller starts rise less. Right, at correlation 0.98: the minor entry that "
        "carries the swing-by peaks at a power of the size, so that nothing is left to see "
        "where the theorem applies.",
        (Panel(tuple(marks), "Rise of the test loss", correlation, "rise", y_scale="log"),
         Panel(falls, "Against the size of the start", "size", "", "log", "log")),
    )  # fmt: skip


@study.chart(runs.networks, claims.default, runs.flow_odds)
def depth(s: Settings, run: Run, shares: dict[int, Measured], odds: dict[int, float]) -> Chart:
    """Shares against depth, and the examples with the largest rises at depth 4."""
    swinging = shares_as(Points, tuple(shares), shares.values(), "default start", 0)
    flow = Line(tuple(odds), tuple(odds.values()), "exact flow, other draws", "theory")
    times, losses = run["time"].values, run["test_loss"].values[s.depths.index(4), 0]
    first, early = losses[:, 0], times < 60
    largest = np.argsort(np.where(first > np.median(first), bump(losses), 0.0))[-3:][::-1]
    examples = tuple(Line(times[early], losses[seed][early], f"seed {seed}", group=i)
                     for i, seed in enumerate(largest))  # fmt: skip
    return Chart(
        "depth", "Deeper networks swing by more often",
        "Left: share of linear networks with two inputs and hidden width 2 whose test loss "
        f"rises by more than {runs.CLEAR_RISE:.0%}, with 95 % intervals, and the share of "
        "other draws whose exact flow does. Right: three of the largest rises at depth 4.",
        (Panel((swinging, flow), "Starts that swing by", "depth", "share"),
         Panel(examples, "Depth 4", "gradient-flow time", "test loss")),
    )  # fmt: skip
