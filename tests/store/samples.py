"""Small records for the tests of this package."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.records import Claim, Control, Measured, StudyResult

PRINT = "0123456789abcdef"
SPEC = {"spec": "engine.Experiment", "rates": [0.1, {"float": "inf"}]}
VERSIONS = {"jax": "0.9", "numpy": "2.4"}


def part(start: int, stop: int, shift: float = 0.0) -> xr.Dataset:
    """Rows start..stop of one fixed run; any division into parts gives the same whole."""
    steps = np.arange(start, stop)
    lanes = np.arange(2)[:, None]
    return xr.Dataset(
        {
            "loss": (("seed", "step"), np.sin(steps + 10.0 * lanes) + shift, {"units": "loss"}),
            "swept": (("step", "task.means[0]"), np.cos(np.outer(steps, [1, 2, 3])).astype("f4")),
            "diverged": ("seed", np.array([-1, stop])),
        },
        coords={
            "step": steps,
            "time": ("step", 0.01 * steps),
            "seed": [0, 1],
            "task.means[0]": [0.5, 1.0, 1.5],
            "kind": ("seed", ["minor", "é"]),
        },
    )


def small_part(start: int, stop: int) -> xr.Dataset:
    """Like `part`, but with nothing beside one variable: quick to write."""
    steps = np.arange(start, stop)
    return xr.Dataset({"loss": ("step", np.sin(steps))})


def study(value: float = 0.5, versions: dict[str, str] = VERSIONS, seconds: float = 2.0):
    """A study's result with one claim and one chart."""
    control = Control("without it, none", Measured(0.0, None, 4), "fails")
    claim = Claim(
        "swing-by/second-descent", "The loss falls twice.", "001, Fig 2c",
        Measured(value, 0.1, 4), {"low": 0.4, "high": None}, "holds", control,
    )  # fmt: skip
    chart = Chart("loss", "Loss", "Look at the rise.", (Panel((Line([0, 1, 2], [1, value, 2]),)),))
    return StudyResult(
        "swing-by", "Swing-by", "001", "smoke", "fedcba9876543210", {"width": 3, "rates": [0.1]},
        ("text", "code"), (claim,), (chart,), "loss", ("01234567",), seconds,
        {"versions": versions},
    )  # fmt: skip
