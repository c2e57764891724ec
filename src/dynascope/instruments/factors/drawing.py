"""The path of two factors as panels: in their plane, and how far they are apart."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Mark, Panel, Path, Points
from dynascope.instruments.factors.descending import SHOWN, predicted_gap
from dynascope.theories.oscillation.quartic import orbit_points

DRAWN = 120  # steps in the plane
PREDICTED = (1.0, 1.2)  # learning rates between which the orbit of period 2 attracts


def plane_panel(path: xr.Dataset, learning_rate: float) -> Panel:
    """The path, the curve of minima, and past the edge the orbit that theory predicts."""
    x, y = path["x"].values, path["y"].values
    along = np.exp(np.linspace(-1.1, 1.1, 81))
    marks: list[Mark] = [
        Path(x[:DRAWN], y[:DRAWN], None, "descent", arrows=False, group=0),
        Points(x[:1], y[:1], "start", group=1),
        Line(along, 1 / along, "x y = 1", "reference"),
    ]
    if learning_rate > 1:
        orbit = orbit_points(1.0, learning_rate)
        marks.append(Points(orbit, orbit, "predicted orbit", "theory", 0))
    return Panel(tuple(marks), "the plane", "x", "y", equal=True)


def gap_panel(path: xr.Dataset, learning_rate: float, escaped: bool) -> Panel:
    """|x - y| by step, and where theory speaks the factor by which it shrinks."""
    steps, gap = path["step"].values, np.abs(path["x"].values - path["y"].values)
    marks = [Line(steps, np.where(gap > SHOWN[0], gap, np.nan), "|x - y|", group=0)]
    if PREDICTED[0] < learning_rate < PREDICTED[1] and not escaped:
        shown = predicted_gap(gap, learning_rate)
        marks.append(Line(steps, shown, "factor 3 - 2K over two steps", "theory", 0))
    return Panel(tuple(marks), "how far apart", "step", "|x - y|", y_scale="log")
