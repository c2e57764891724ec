"""Charts of a sweep."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.report import figure, plotly_figure
from dynascope.runner.pictures import run_charts


def grid(lost: list[tuple[int, int, int]]) -> xr.Dataset:
    """A sweep of 2 x 3 points with 2 seeds, of which some diverged."""
    values = np.ones((2, 3, 2, 2))
    diverged = np.zeros((2, 3, 2), bool)
    for place in lost:
        diverged[place], values[place] = True, np.nan
    dims = ("model.init_scale", "dynamics.learning_rate", "seed")
    axes = {dims[0]: [0.1, 0.2], dims[1]: [0.01, 0.1, 1.0]}
    return xr.Dataset({"loss": ((*dims, "step"), values), "diverged": (dims, diverged)}, axes)


def test_divergence_is_hatched_where_some_seed_diverged():
    [chart] = run_charts(grid([(0, 2, 0), (1, 2, 0), (1, 2, 1)]))
    heat = chart.panels[0].marks[0]
    assert heat.hatched == ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    assert np.isnan(heat.z[1][2]) and heat.z[0][2] == 1.0  # one seed is left there
    assert "3 of 12 seeds diverged, hatched" in chart.caption
    figure(chart)
    strokes = [t for t in plotly_figure(chart)["data"] if t.get("mode") == "lines" and "x" in t]
    assert any(None in t["x"] for t in strokes)


def test_nothing_is_hatched_where_nothing_diverged():
    [chart] = run_charts(grid([]))
    assert chart.panels[0].marks[0].hatched is None and "diverged" not in chart.caption
