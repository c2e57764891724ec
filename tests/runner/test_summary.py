"""A sweep in a few numbers."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.runner.summary import summarise

FALLS, SWINGS, LOST = [4.0, 2.0, 1.0, 0.5], [4.0, 1.0, 2.0, 0.0], [4.0, 2.0, np.nan, np.nan]


def run(curves: list, **more) -> xr.Dataset:
    """Curves by point, seed and step."""
    values = np.array(curves)
    return xr.Dataset(
        {
            "test_loss": (("width", "seed", "step"), values),
            "output_at": (("width", "seed", "step", "output"), values[..., None]),
            "diverged": (("width", "seed"), np.isnan(values).any(-1)),
            **more,
        },
        {"width": [2, 3]},
    )


def test_every_point_has_final_values_and_the_share_that_swings():
    first, second = summarise(run([[FALLS, SWINGS], [SWINGS, SWINGS]]))
    assert first.at == {"width": 2} and second.at == {"width": 3}
    assert first.final["test_loss"].value == 0.25 and first.final["test_loss"].n == 2
    assert first.final["test_loss"].spread == np.std([0.5, 0.0], ddof=1)
    assert first.swings_by.value == 0.5 and second.swings_by.value == 1.0
    assert set(first.final) == {"test_loss"}  # outputs are no single number


def test_seeds_that_diverged_are_counted_and_left_out():
    first, second = summarise(run([[LOST, SWINGS], [LOST, LOST]]))
    assert (first.diverged, second.diverged) == (1, 2)
    assert first.final["test_loss"] == Measured(0.0, None, 1) and first.swings_by.n == 1
    assert second.final["test_loss"] == second.swings_by == Measured(None, None, 0)


def test_without_a_test_loss_nothing_is_said_about_swings():
    points = summarise(run([[FALLS, FALLS]] * 2).drop_vars("test_loss"))
    assert [p.swings_by for p in points] == [None, None] and points[0].final == {}


def test_axes_go_in_order_with_the_last_fastest():
    values = np.arange(6.0).reshape(2, 3, 1, 1) + np.array([1.0, 0.0])
    dims = ("a", "b", "seed", "step")
    kept = np.zeros((2, 3, 1), bool)
    grid = xr.Dataset({"test_loss": (dims, values), "diverged": (dims[:3], kept)})
    points = summarise(grid.assign_coords(a=[1, 2], b=["x", "y", "z"]))
    assert [tuple(p.at.values()) for p in points][:4] == [(1, "x"), (1, "y"), (1, "z"), (2, "x")]
    assert [p.final["test_loss"].value for p in points] == [0, 1, 2, 3, 4, 5]
