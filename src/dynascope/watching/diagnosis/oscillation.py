"""Does the loss go up and down with a period?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.watching.diagnosis.base import Finding, smoothed

if TYPE_CHECKING:
    import xarray as xr

CLEAR = 0.6  # autocorrelation at the period
WINDOW = 256  # last steps that are looked at


def oscillation(record: xr.Dataset) -> Finding | None:
    """The last 256 steps of the loss, less their trend, repeat after some number of steps.

    The period is the first peak of the autocorrelation above 0.6. White noise of 64 steps or
    more stays below it; a period of the batches' order looks the same, and is said.
    """
    loss = np.asarray(record["loss"].values, float)[-WINDOW:]
    if len(loss) < 32 or not np.isfinite(loss).all():
        return None
    rest = loss - smoothed(loss, 33)
    size = rest.std()
    if size <= 1e-3 * abs(np.median(loss)) or size == 0:
        return None
    most = len(rest) // 4
    correlation = np.array([_at(rest, lag) for lag in range(1, most)])
    # A peak is above its neighbours, and follows a fall below zero.
    dipped = np.minimum.accumulate(np.concatenate([[1.0], correlation]))[:-1]
    peaks = [
        i
        for i in range(1, len(correlation) - 1)
        if correlation[i] >= max(correlation[i - 1], correlation[i + 1])
        and correlation[i] > CLEAR
        and dipped[i] < 0
    ]
    if not peaks:
        return None
    period, clear = peaks[0] + 1, float(correlation[peaks[0]])
    steps = record["step"].values[-len(loss) :]
    return Finding(
        "oscillation",
        f"The loss goes up and down with period {period} (autocorrelation {clear:.2f}, size "
        f"{size:.2g}). If an epoch has that many steps, it may be the order of the batches.",
        (int(steps[0]), int(steps[-1])),
        {"period": float(period), "autocorrelation": clear, "size": float(size)},
        "autocorrelation above 0.6 over the last 256 steps",
        "With period 2 a smaller learning rate removes it.",
        "period-two",
    )  # fmt: skip


def _at(values: np.ndarray, lag: int) -> float:
    a, b = values[:-lag], values[lag:]
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / scale) if scale else 0.0
