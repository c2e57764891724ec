"""Rules about the learning rate and the curvature: the edge, sharpening, divergence ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.watching.diagnosis.base import Finding, measured

if TYPE_CHECKING:
    import xarray as xr

AT_THE_EDGE = (0.8, 1.3)  # rate over critical rate; single batches scatter around 1
HOVERING = 0.05  # distance from 1 of a ratio that hovers there
MOVED = 0.1  # change of the ratio over the run that is one
LONG_ENOUGH = 8  # measurements
SHARPER = 1.5  # by this factor
STEADILY = 0.8  # rank correlation of sharpness with time
GROWTH = 0.01  # of log loss per step


def edge_of_stability(record: xr.Dataset) -> Finding | None:
    """The rate hovers at the critical one while the loss goes on falling.

    Looked at is the last quarter of the measurements, at least 8. Either their median is within
    5 % of 1 and the ratio came there from elsewhere; or they scatter, as on single batches:
    both sides of 1, the median between 0.8 and 1.3, the quartiles within 0.7 and 1.5. A ratio
    that stands still beside 1 is a rate that happens to be large, not an edge that is kept.
    """
    steps, ratio = measured(record, "rate_over_critical")
    needed = max(LONG_ENOUGH, len(ratio) // 4)
    if len(ratio) < needed:
        return None
    last = ratio[-needed:]
    low, middle, high = np.quantile(last, (0.25, 0.5, 0.75))
    moved = np.ptp(ratio) > MOVED
    hovers = abs(middle - 1) <= HOVERING and abs(low - 1) <= MOVED and abs(high - 1) <= MOVED
    scatters = AT_THE_EDGE[0] <= middle <= AT_THE_EDGE[1] and low > 0.7 and high < 1.5
    scatters &= low < 1 < high
    if not moved or not (hovers or scatters):
        return None
    begin = _begins(ratio)
    loss_steps, loss = measured(record, "loss")
    stretch = loss[loss_steps >= steps[begin]]
    quarter = max(len(stretch) // 4, 1)
    if len(stretch) < 4 or np.median(stretch[-quarter:]) > np.median(stretch[:quarter]):
        return None
    return Finding(
        "edge of stability",
        f"The learning rate hovers at the critical one ({middle:.2f} of it, quartiles {low:.2f} "
        f"and {high:.2f}) while the loss goes on falling.",
        (int(steps[begin]), int(steps[-1])),
        {"rate_over_critical": float(middle), "low": float(low), "high": float(high)},
        "the last quarter, at least 8 measurements: median within 5 % of 1, or scattered around 1",
        "Curvature follows the rate: a smaller one lets it grow, a larger one pushes it down.",
        "mnist-edge",
    )


def _begins(ratio: np.ndarray) -> int:
    """The first measurement from which on the ratio stays above half."""
    below = np.flatnonzero(ratio < AT_THE_EDGE[0] * 0.75)
    return int(below[-1] + 1) if len(below) and below[-1] + 1 < len(ratio) else 0


def progressive_sharpening(record: xr.Dataset) -> Finding | None:
    """Sharpness grows steadily, by half or more, while the rate is below the critical one."""
    steps, sharp = measured(record, "sharpness")
    if len(sharp) < LONG_ENOUGH or sharp[0] <= 0:
        return None
    ratio_steps, ratio = measured(record, "rate_over_critical")
    free = steps <= (ratio_steps[np.argmax(ratio > 0.9)] if (ratio > 0.9).any() else steps[-1])
    steps, sharp = steps[free], sharp[free]
    if len(sharp) < LONG_ENOUGH:
        return None
    tenth = max(len(sharp) // 10, 1)  # it grows fastest at first
    first, last = np.median(sharp[:tenth]), np.median(sharp[-tenth:])
    order = _rank_correlation(sharp)
    if last < SHARPER * first or order < STEADILY:
        return None
    return Finding(
        "progressive sharpening",
        f"Sharpness grows steadily, from {first:.3g} to {last:.3g}.",
        (int(steps[0]), int(steps[-1])),
        {"from": float(first), "to": float(last), "rank_correlation": order},
        "growth by 1.5 and rank correlation with time of 0.8 over at least 8 measurements",
        "It ends at the edge of stability; a warm-up or a smaller rate only delays that.",
        "mnist-edge",
    )


def divergence_ahead(record: xr.Dataset) -> Finding | None:
    """The loss grows exponentially, past the critical rate; or is no number any more."""
    steps = record["step"].values
    loss = np.asarray(record["loss"].values, float)
    if not np.isfinite(loss[-1]) and len(loss) > 1:
        at = int(steps[np.argmax(~np.isfinite(loss))])
        return Finding(
            "divergence", f"The loss is no finite number from step {at} on.", (at, int(steps[-1])),
            {"step": float(at)}, "a loss that is not finite", "Lower the learning rate.",
            "quadratic-map",
        )  # fmt: skip
    _, ratio = measured(record, "rate_over_critical")
    window = min(len(loss), max(8, len(loss) // 10))
    tail = loss[-window:]
    if len(loss) < 8 or (tail <= 0).any() or tail[-1] <= loss.min() * 2:
        return None
    slope = np.polyfit(np.arange(window), np.log(tail), 1)[0]
    last = ratio[-3:]
    if slope < GROWTH or len(last) < 2 or not (last > 1).all():
        return None
    return Finding(
        "divergence ahead",
        f"The loss grows by {np.expm1(slope):.0%} a step and the learning rate is {last[-1]:.2f} "
        "of the critical one.",
        (int(steps[-window]), int(steps[-1])),
        {"growth_per_step": float(np.expm1(slope)), "rate_over_critical": float(last[-1])},
        "growth of 1 % a step over the last tenth, and the rate above the critical one",
        "Lower the learning rate below the critical one, or wait: a catapult comes back by itself.",
        "quadratic-map",
    )


def _rank_correlation(values: np.ndarray) -> float:
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(ranks, np.arange(len(values)))[0, 1])
