"""Theory over simulation, as marks that several explorers draw."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Line, Path
from dynascope.report.headline import NOTABLE, largest_rise


def both_lines(
    x: np.ndarray, measured: np.ndarray, theory: np.ndarray, name: str, group: int = 0
) -> tuple[Line, Line]:
    """A measured curve and its prediction, dashed, in one colour."""
    return (
        Line(x, measured, name, group=group),
        Line(x, theory, "theory" if group == 0 else "", "theory", group),
    )


def both_paths(measured: np.ndarray, theory: np.ndarray, name: str) -> tuple[Path, Path]:
    """A path in the plane of the first two coordinates, and its prediction."""
    return (
        Path(measured[:, 0], measured[:, 1], None, name, group=0),
        Path(theory[:, 0], theory[:, 1], None, "theory", "theory", 0, arrows=False),
    )


def rise(loss: np.ndarray, times: np.ndarray) -> str:
    """Whether a curve rises again after a fall, in words.

    Example:
        >>> rise(np.array([4.0, 1.0, 2.0, 0.0]), np.arange(4.0))
        'It rises again, from 1 at time 1 to 2 at time 2.'
    """
    found = largest_rise(loss)
    if found is None or loss[found[1]] - loss[found[0]] < NOTABLE * loss.max():
        return "It does not rise on the way."
    low, high = found
    return (
        f"It rises again, from {loss[low]:.3g} at time {times[low]:.3g} to {loss[high]:.3g} "
        f"at time {times[high]:.3g}."
    )
