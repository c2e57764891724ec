"""Long curves for a screen: the lowest and the highest value of every stretch stay."""

from __future__ import annotations

import numpy as np


def thinned(x: np.ndarray, y: np.ndarray, stretches: int) -> tuple[np.ndarray, np.ndarray]:
    """At most two points a stretch, so that no spike is lost; short curves stay as they are.

    Args:
        x: Ascending places, (points,).
        y: Values, (points,); NaN where there are none.
        stretches: Of equally many points.

    Returns:
        x and y of the points that stay, the first and the last among them.

    Example:
        >>> x, y = thinned(np.arange(1000.0), np.where(np.arange(1000) == 500, 9.0, 0.0), 10)
        >>> len(x) <= 22, float(y.max()), float(x[0]), float(x[-1])
        (True, 9.0, 0.0, 999.0)
    """
    count = len(x)
    if count <= 2 * stretches + 2:
        return x, y
    size = -(-count // stretches)
    padded = np.full(size * stretches, np.nan)
    padded[:count] = y
    rows = padded.reshape(stretches, size)
    fine = np.isfinite(rows)
    low = np.where(fine, rows, np.inf).argmin(axis=1)
    high = np.where(fine, rows, -np.inf).argmax(axis=1)
    begins = size * np.arange(stretches)
    kept = np.unique([0, count - 1, *(begins + low), *(begins + high)])
    kept = kept[kept < count]
    return x[kept], y[kept]
