"""Our own system that swings by: concepts learned one by one, tested on their combination."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.models import TiedLinear
from dynascope.probes import Loss, TestLoss
from dynascope.probes.curves import bump
from dynascope.tasks import IdentityMapping

if TYPE_CHECKING:
    import xarray as xr


def combinations(seeds: np.ndarray) -> list[xr.Dataset]:
    """Tied linear networks on two concepts; `test_loss` has noise, the attribute `rise` has none.

    Args:
        seeds: Of weights and noise.

    Returns:
        A record for each seed.
    """
    task = IdentityMapping(means=(1.0, 3.0), scales=(0.05, 0.05), dimension=2)
    run = simulate(
        task, TiedLinear(width=2, init_scale=0.3), GradientDescent(0.02), steps=400,
        probes=[Loss(), TestLoss()], seeds=tuple(int(s) for s in seeds),
    )  # fmt: skip
    records = []
    for seed in seeds:
        record = run[["loss", "test_loss"]].sel(seed=int(seed)).drop_vars(["seed", "time"])
        exact = np.asarray(record["test_loss"].values, float)
        noise = 1e-3 * exact[0] * np.random.default_rng(seed).standard_normal(len(exact))
        record["test_loss"] = ("step", exact + noise)
        record.attrs = {"rise": float(bump(exact))}
        records.append(record)
    return records
