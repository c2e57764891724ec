"""Phase diagrams of the quadratic map: what a descent does, over two of its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.theories.catapult.quadratic_map import QuadraticMap

REGIMES = ("monotone", "catapult", "diverges", "undecided")


def margin(width: Any) -> Any:
    """Epsilon = log m / sqrt m around the thresholds 2 and 4 (zhu2024 Thm. 3.3.1).

    The document gives its order; the constant 1 is a reading.

    Example:
        >>> round(float(margin(1e4)), 3)
        0.092
    """
    return np.log(width) / np.sqrt(width)


@dataclass(frozen=True)
class PhaseDiagram:
    """What every descent of a grid did; arrays are (y, x)."""

    x_name: str
    y_name: str
    x: np.ndarray
    y: np.ndarray
    regime: np.ndarray  # index into REGIMES
    peak_loss: np.ndarray
    kernel: np.ndarray  # at the end, NaN where it diverged
    critical: np.ndarray  # learning rate times kernel at the start: 2 and 4 are the boundaries


def phase_diagram(base: QuadraticMap, over: dict[str, Any], steps: int = 200) -> PhaseDiagram:
    """Run a descent at every point of a grid of two settings.

    Args:
        base: The other settings.
        over: Two fields of the map with their values: the x axis first, then the y axis.
        steps: Steps of every descent.

    Returns:
        Regime, peak loss and last kernel everywhere, and where theory puts the boundaries.

    Example:
        >>> over = {"learning_rate": [1.0, 3.0, 5.0], "width": [1e3, 1e6]}
        >>> phase_diagram(QuadraticMap(1.0, 1.0, label=1.0), over).regime.tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    if len(over) != 2:
        raise bad("over", tuple(over), "two fields of the map, such as learning_rate and width")
    (x_name, given_x), (y_name, given_y) = over.items()
    x, y = (np.atleast_1d(np.asarray(v, float)) for v in (given_x, given_y))
    grid = dict(zip((x_name, y_name), np.meshgrid(x, y), strict=True))
    seen, values = base.outcome(steps, **grid), base.arrays(grid)
    codes = np.zeros(seen.regime.shape, np.int8)
    for code, word in enumerate(REGIMES):
        codes[seen.regime == word] = code
    v = values["learning_rate"] * values["kernel"]
    return PhaseDiagram(x_name, y_name, x, y, codes, seen.peak_loss, seen.kernel, v)
