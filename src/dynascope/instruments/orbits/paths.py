"""The first steps of a descent on a function of one number, beside the orbit that theory has."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Line, Panel
from dynascope.theories.oscillation.one_dimension import Flip

LARGE = 1e3  # beyond it a path has escaped


def first_steps(edge: Flip, learning_rate: float, start: float, steps: int) -> list[float]:
    """The first iterates, the start among them; a path that escapes ends there.

    Example:
        >>> from dynascope.theories.oscillation.one_dimension import flip
        >>> first_steps(flip("x**2/2 + x**4", 0.0), 0.5, 1.0, 2)
        [1.0, -1.5, 6.0]
    """
    x = [start]
    while len(x) <= steps and abs(x[-1]) < LARGE:
        x.append(x[-1] - learning_rate * edge.slope(x[-1]))
    return x


def path_panel(edge: Flip, learning_rate: float, path: list[float], steps: int) -> Panel:
    """A path, and past the edge the points of the predicted orbit, dashed."""
    lines = [Line(np.arange(len(path)), path, "x", group=0)]
    orbit = edge.orbit(learning_rate) if learning_rate > edge.stability_limit else None
    for k, point in enumerate(orbit.points if orbit else ()):
        label = "" if k else "predicted orbit"
        lines.append(Line((0, steps), (point, point), label, "theory", 0))
    return Panel(tuple(lines), "the path at this rate", "step", "x")
