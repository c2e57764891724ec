"""The power with which a quantity grows: slopes in log-log, with an interval over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynascope.core.records import Measured

RESAMPLES = 400


def log_slope(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """The power p of the best fit y ~ x^p; NaN for one point, or one not positive and finite.

    Example:
        >>> round(log_slope([1.0, 10.0, 100.0], [2.0, 20.0, 200.0]), 12)
        1.0
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 2 or not (np.isfinite(y).all() and (y > 0).all() and (x > 0).all()):
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


@dataclass(frozen=True)
class Slope:
    """A slope in log-log, its 95 % interval, and its standard error."""

    value: float
    low: float
    high: float
    error: float
    seeds: int

    @property
    def measured(self) -> Measured:
        """As a claim takes it: a spread whose standard error is that of the bootstrap."""
        return Measured(self.value, self.error * self.seeds**0.5, self.seeds)


def geometric_mean(values: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """The geometric mean over seeds with its 95 % interval, by resampling the seeds.

    Example:
        >>> [round(v, 6) for v in geometric_mean(np.array([2.0, 2.0, 2.0]))]
        [2.0, 2.0, 2.0]
    """
    logs = np.log(values)
    drawn = np.random.default_rng(seed).integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.percentile(logs[drawn].mean(axis=1), [2.5, 97.5])
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))


def fit_slope(widths: np.ndarray, values: np.ndarray, seed: int = 0) -> Slope:
    """The least-squares slope of log(geometric mean over seeds) against log(width).

    Seeds are drawn anew with replacement, at each width by itself, to see how far the slope
    depends on them.

    Args:
        widths: Widths by definition, (widths,).
        values: What was measured, (widths, seeds), above 0.
        seed: Seed of the resampling.

    Example:
        >>> widths = np.array([4.0, 16.0, 64.0])
        >>> fit = fit_slope(widths, np.outer(widths**-0.5, [1.0, 1.0]))
        >>> round(fit.value, 6), round(fit.high - fit.low, 6)
        (-0.5, 0.0)
    """
    logs = np.log(values)
    count = logs.shape[1]
    x = np.log(widths) - np.log(widths).mean()
    weights = x / (x @ x)
    drawn = np.random.default_rng(seed).integers(0, count, (RESAMPLES, *logs.shape))
    again = np.take_along_axis(logs[None], drawn, axis=2).mean(axis=2) @ weights
    low, high = np.percentile(again, [2.5, 97.5])
    # A resample of n seeds varies by (n - 1) / n of what n new seeds would.
    error = float(again.std()) * (count / max(count - 1, 1)) ** 0.5
    return Slope(float(logs.mean(axis=1) @ weights), float(low), float(high), error, count)
