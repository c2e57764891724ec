"""Plain loops of the quartic's map x <- x - K x (x^2 - 1), for many starts at once."""

from __future__ import annotations

import numpy as np

from dynascope.theories.quartic import orbit_points


def two_steps(x: float, rate: float) -> float:
    """Where two steps lead.

    Example:
        >>> two_steps(1.0, 1.3)
        1.0
    """
    for _ in range(2):
        x = x - rate * x * (x * x - 1)
    return x


def settled_share(starts: np.ndarray, rate: float, steps: int = 6000) -> np.ndarray:
    """Whether each start ends within 1e-9 of the orbit of period 2, (starts,)."""
    x = starts.copy()
    for _ in range(steps):
        x = x - rate * x * (x * x - 1)
    return np.abs(x[:, None] - orbit_points(1.0, rate)).min(axis=1) < 1e-9


def lowest(rate: float, start: float = 0.6, steps: int = 20_000) -> float:
    """The lowest iterate of a long descent."""
    x, least = start, start
    for _ in range(steps):
        x -= rate * x * (x * x - 1)
        least = min(least, x)
    return least
