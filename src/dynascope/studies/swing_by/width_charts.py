"""Charts of the width study, and the starts it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.records import Measured
from dynascope.models import MLP, TiedLinear
from dynascope.probes.curves import bump
from dynascope.studies.base import chart
from dynascope.theories.swing_by_odds import (
    CRITICAL_CORRELATION,
    initial_correlation,
    mean_absolute_cosine,
    probability_of_swing_by,
)

if TYPE_CHECKING:
    from dynascope.studies.swing_by.swing_by_width import Found, SwingByWidth

SMALL_RISE = 0.002  # of the first loss (ledger, "bump")
CLEAR_RISE = 0.01  # for networks with default initialisation
CORRELATIONS = tuple(np.linspace(0.3, 0.98, 35).round(2).tolist())
SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-12)  # of w_11 and w_22 at the start
START_SIZES = (1.0, 0.3)  # factors on the default start of deep networks


def gaussian(width: int, size: float = 0.005) -> TiedLinear:
    """U with width x variance = size, the mean of w_11 at the start."""
    return TiedLinear(width, (size / width) ** 0.5)


def deep(depth: int) -> MLP:
    """Two inputs, hidden width 2, no offsets, default start."""
    return MLP(depth, 2, "linear", bias=False)


@chart
def width_chart(study: SwingByWidth, found: Found) -> Chart:
    """Shares against width with the prediction, and the correlations behind it."""
    grid = np.unique(np.geomspace(2, 64, 40).round().astype(int))
    odds = [probability_of_swing_by(int(w)) for w in grid]
    marks: list[Mark] = [
        _dots(found.by_width, "dimension 2", 0),
        _dots({2: found.high["0.0001"], 64: found.high["width 64"]}, "dimension 64", 1),
        Line(grid, odds, "P(cosine > 0.53)", "theory", 0),
    ]
    widths = (2, 3, 4, 8, 16, 64)
    cosines = _cosines(found.rows["gaussian"], widths)
    cosine = [mean_absolute_cosine(int(w)) for w in grid]
    rows: list[Mark] = [
        Points(widths, cosines, "starts of two rows", group=0),
        Line(grid, cosine, "random directions", "theory", 0),
        Line(grid, np.sqrt(2 / (np.pi * grid)), "sqrt(2 / (pi width))", "reference"),
    ]
    return Chart(
        "width",
        "Width decides, not dimension",
        "Left: share of Gaussian starts whose test loss rises, with two standard errors, and "
        "the chance that two rows start correlated above the critical value; 64 dimensions "
        "are shown from small starts. Right: why: rows of wide matrices are nearly orthogonal.",
        (
            Panel(tuple(marks), "Starts that swing by", "width", "share", "log"),
            Panel(tuple(rows), "Correlation of two rows", "width", "mean |cosine|", "log"),
        ),
    )


def _cosines(rows: np.ndarray, widths: tuple[int, ...]) -> list[float]:
    """Mean |cosine| between the two rows of U at the start, by width."""
    starts = (rows[..., :w] @ rows[..., :w].transpose(0, 2, 1) for w in widths)
    return [float(np.abs(initial_correlation(start)[:, 0, 1]).mean()) for start in starts]


@chart
def starts_chart(study: SwingByWidth, found: Found) -> Chart:
    """Rise against correlation for several sizes, and rise and peak against size."""
    lines: list[Mark] = [
        Line(CORRELATIONS, _above(found.rise[k], 1e-5), f"size {SIZES[k]:g}", group=k)
        for k in range(5)
    ]
    lines += [
        Reference("x", CRITICAL_CORRELATION, f"critical: {CRITICAL_CORRELATION}"),
        Reference("y", SMALL_RISE, "0.2 %"),
    ]
    law = found.peak[-1] * (np.array(SIZES) / SIZES[-1]) ** study.exponent()
    falls: list[Mark] = [
        Points(SIZES, found.peak, "peak of w_12", group=0),
        Line(SIZES, law, f"size^{study.exponent():.3f}", "theory", 0),
        Points(SIZES, _above(found.rise[:, -1], 1e-12),
               "rise of the test loss", group=1),
    ]  # fmt: skip
    return Chart(
        "starts",
        "Correlated, and not too small",
        "Left: for sizes from 0.1 to 0.0001 the rise passes 0.2 % near a correlation of 0.53; "
        "above, smaller starts rise less. Right, at correlation 0.98: the minor entry that "
        "carries the swing-by peaks at a power of the size, so that nothing is left to see "
        "where the theorem applies.",
        (
            Panel(
                tuple(lines),
                "Rise of the test loss",
                "correlation of the rows",
                "rise",
                y_scale="log",
            ),
            Panel(tuple(falls), "Against the size of the start", "size", "", "log", "log"),
        ),
    )


@chart
def depth_chart(study: SwingByWidth, found: Found) -> Chart:
    """Shares against depth, and the example with the largest rise at depth 4."""
    full = {d: found.by_depth[d, 1.0] for d in study.depths}
    odds = Line(study.depths, tuple(found.flow_odds.values()), "exact flow, other draws", "theory")
    panel = Panel((_dots(full, "default start", 0), odds), "Starts that swing by", "depth", "share")
    losses = found.runs["depth"]["test_loss"][study.depths.index(4), 0]
    first = losses[:, 0].values
    rises = np.where(first > np.median(first), bump(losses.values), 0.0)
    shown = np.argsort(rises)[-3:][::-1]
    times = losses["time"].values
    early = times < 60
    examples = [
        Line(times[early], losses.values[k][early], f"seed {k}", group=i)
        for i, k in enumerate(shown)
    ]
    return Chart(
        "depth",
        "Deeper networks swing by more often",
        "Left: share of linear networks with two inputs and hidden width 2 whose test loss "
        f"rises by more than {CLEAR_RISE:.0%}, with two standard errors, and the share of other "
        "draws whose exact flow does. Right: three of the largest rises at depth 4.",
        (panel, Panel(tuple(examples), "Depth 4", "gradient-flow time", "test loss")),
    )


def _above(values: np.ndarray, floor: float) -> np.ndarray:
    """The values, with gaps where a log axis would only show round-off."""
    return np.where(values > floor, values, np.nan)


def _dots(shares: dict[int, Measured], label: str, group: int) -> Points:
    """Shares as points with two standard errors."""
    y = np.array([m.value for m in shares.values()])
    error = np.array([2 * m.error for m in shares.values()])
    low, high = np.maximum(y - error, 0), y + error
    return Points(tuple(shares), y, label, group=group, low=low, high=high)
