"""A sweep in a few numbers per grid point: where the losses end, how many seeds swing by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.probes.curves import SMALLEST, bump
from dynascope.studies.measures import average, share


@dataclass(frozen=True)
class Point:
    """One point of the grid, over the seeds that stayed finite."""

    at: dict[str, Any]  # values by sweep path
    final: dict[str, Measured]  # last value of every quantity that is one number
    swings_by: Measured | None  # share of seeds whose test loss rises again; None if not measured
    diverged: int  # seeds that left finite numbers


def summarise(run: xr.Dataset) -> list[Point]:
    """The points of a sweep, the last axis fastest.

    Args:
        run: What `sweep` returned.

    Returns:
        Final values with their spread over seeds, and the share of seeds whose test loss
        rises by more than 0.2 % of its first value after a fall.

    Example:
        >>> losses = [[4.0, 1.0, 2.0, 0.0], [4.0, 3.0, 2.0, 2.0]]
        >>> run = xr.Dataset({"test_loss": (("seed", "step"), losses)})
        >>> point = summarise(run.assign(diverged=("seed", [False, False])))[0]
        >>> point.final["test_loss"].value, point.swings_by.value
        (1.0, 0.5)
    """
    axes = [str(d) for d in run["diverged"].dims if d != "seed"]
    points = np.ndindex(*(run.sizes[a] for a in axes))
    return [_point(run.isel(dict(zip(axes, p, strict=True))), axes) for p in points]


def _point(run: xr.Dataset, axes: list[str]) -> Point:
    lost = run["diverged"].values
    kept = run.isel(seed=np.flatnonzero(~lost))
    single = [str(n) for n, v in run.data_vars.items() if v.dims == ("seed", "step")]
    swings = None
    if "test_loss" in single:
        swings = share(bump(kept["test_loss"].values) > SMALLEST)
    return Point(
        at={a: run[a].values.item() for a in axes},
        final={n: average(kept[n].values[:, -1]) for n in single},
        swings_by=swings,
        diverged=int(lost.sum()),
    )
