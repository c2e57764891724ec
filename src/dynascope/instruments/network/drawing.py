"""A number that falls with the width of a network as a panel."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Panel, Points


def width_panel(seen: xr.DataArray, name: str) -> Panel:
    """All starts, their geometric mean, and 1 / sqrt(width) through the narrowest, on log axes.

    Args:
        seen: (width, seed).
        name: Of the number.
    """
    widths, values = seen["width"].values.astype(float), seen.values
    mean = np.exp(np.log(values).mean(axis=1))
    predicted = mean[0] * (widths / widths[0]) ** -0.5
    marks = (
        Points(np.repeat(widths, values.shape[1]), values.ravel(), "starts", "control"),
        Line(widths, mean, "geometric mean", group=0),
        Line(widths, predicted, "1 / sqrt(width)", "theory", 0),
    )
    return Panel(marks, name, "width", name, "log", "log")
