"""The path of two factors whose product is to be 1, and how fast they become equal."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.theories.oscillation.balance import factor_step

LARGE = 50.0  # beyond it a path has escaped
SETTLED = 60  # steps after which the factors are near their orbit
SHOWN = (1e-15, 10.0)  # what a drawing of the prediction has room for


def descend_factors(x: float, y: float, learning_rate: float, steps: int) -> xr.Dataset:
    """Both factors by step; a path that escapes ends there.

    Args:
        x: The first factor at the start.
        y: The second one.
        learning_rate: K; past 1 no minimum is flat enough.
        steps: How many at most.

    Returns:
        `x` and `y` over `step`, from 0 on.

    Example:
        >>> path = descend_factors(2.0, 1.0, 0.5, steps=1)
        >>> path["x"].values.tolist(), path["y"].values.tolist()
        ([2.0, 1.5], [1.0, 0.0])
    """
    states = [(x, y)]
    while len(states) <= steps and max(map(abs, states[-1])) < LARGE:
        after = factor_step(*states[-1], 1.0, learning_rate)
        states.append((float(after[0]), float(after[1])))
    first, second = np.array(states).T
    return xr.Dataset({"x": ("step", first), "y": ("step", second)}, {"step": range(len(states))})


def predicted_gap(gap: np.ndarray, learning_rate: float) -> np.ndarray:
    """|x - y| as theory has it near the orbit of period 2: two steps multiply it by 3 - 2K.

    Args:
        gap: As it was seen, by step; the prediction goes through it where the path has settled.
        learning_rate: K.

    Returns:
        The prediction by step; NaN where it is too small or too large to be drawn.

    Example:
        >>> predicted_gap(np.array([8.0, 4.0, 2.0]), 1.25).round(3).tolist()
        [4.0, 2.828, 2.0]
    """
    settled = min(SETTLED, len(gap) - 1)
    along = (np.arange(len(gap)) - settled) / 2
    predicted = gap[settled] * abs(3 - 2 * learning_rate) ** along
    return np.where((predicted > SHOWN[0]) & (predicted < SHOWN[1]), predicted, np.nan)
