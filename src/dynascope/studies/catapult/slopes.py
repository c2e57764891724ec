"""How a quantity grows with another: slopes of straight lines through logarithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def log_slope(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """The power p of the best fit y ~ x^p; NaN if a value is not positive and finite.

    Example:
        >>> round(log_slope([1.0, 10.0, 100.0], [2.0, 20.0, 200.0]), 12)
        1.0
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if not (np.isfinite(y).all() and (y > 0).all() and (x > 0).all()):
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
