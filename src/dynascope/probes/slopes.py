"""The power with which a quantity grows: slopes in log-log, with Student's interval over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynascope.core.records import Measured
from dynascope.numerics.intervals import of_mean


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
    """A slope in log-log, its 95 % interval (NaN for one seed), and its spread over seeds."""

    value: float
    low: float
    high: float
    spread: float
    seeds: int

    @property
    def measured(self) -> Measured:
        """As a claim takes it."""
        if self.seeds < 2:
            return Measured(self.value, None, self.seeds)
        return Measured(self.value, self.spread, self.seeds, self.low, self.high)


def geometric_mean(values: np.ndarray) -> tuple[float, float, float]:
    """The geometric mean over seeds with Student's 95 % interval of the logarithms.

    Example:
        >>> [round(v, 6) for v in geometric_mean(np.array([2.0, 2.0, 2.0]))]
        [2.0, 2.0, 2.0]
    """
    logs = np.log(values)
    low, high = of_mean(logs) or (np.nan, np.nan)
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))


def fit_slope(widths: np.ndarray, values: np.ndarray) -> Slope:
    """The least-squares slope of log(geometric mean over seeds) against log(width).

    It is the mean of the slopes of the single seeds, and so is its interval: seeds are
    independent of each other even where a seed's draws at two widths are not.

    Args:
        widths: Widths by definition, (widths,).
        values: What was measured, (widths, seeds), above 0.

    Returns:
        The slope with Student's interval over seeds.

    Example:
        >>> widths = np.array([4.0, 16.0, 64.0])
        >>> fit = fit_slope(widths, np.outer(widths**-0.5, [1.0, 1.0]))
        >>> round(fit.value, 6), round(fit.high - fit.low, 6)
        (-0.5, 0.0)
    """
    logs = np.log(values)
    x = np.log(widths) - np.log(widths).mean()
    slopes = (x / (x @ x)) @ logs  # (seeds,)
    low, high = of_mean(slopes) or (np.nan, np.nan)
    spread = float(slopes.std(ddof=1)) if len(slopes) > 1 else float("nan")
    return Slope(float(slopes.mean()), low, high, spread, len(slopes))
