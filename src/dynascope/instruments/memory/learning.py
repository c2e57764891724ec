"""The spectrum of a memory over time, and its loss with and without its smallest direction."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dynascope.dynamics import GradientDescent
from dynascope.engine import simulate
from dynascope.engine.record import LogSpaced
from dynascope.models import AssociativeMemory
from dynascope.probes import TruncatedLoss
from dynascope.tasks import NoisyLabels
from dynascope.theories.recall.associative_memory import associative_memory, pure_loss

LATEST = 1e7  # of the times that are shown
TOLERANCE = 1e-4  # of the solver: a drawing shows no more


def learn_noisy(items: int, noise: float, time: float, steps: int) -> xr.Dataset:
    """A memory by theory over a long time, and as gradient descent at rate 1 trains it.

    Args:
        items: How many are to be learned.
        noise: Which share of the labels is one and the same wrong one.
        time: A moment that is among those of the theory.
        steps: Of the descent.

    Returns:
        By theory the singular values `signal` and `noise`, the `loss` on clean labels and that
        without the noise, `truncated_loss`, over `time`; of the descent `trained_loss` and
        `trained_truncated_loss` over `step`.

    Example:
        >>> found = learn_noisy(items=3, noise=0.03, time=30_000.0, steps=1000)
        >>> now = found.sel(time=30_000)
        >>> round(float(now["signal"]), 2), bool(now["truncated_loss"] < now["loss"])
        (9.87, True)
    """
    times = np.unique([*np.geomspace(1.0, LATEST, 120), time])
    found = associative_memory(items, noise, times, "mean", TOLERANCE)
    run = simulate(
        NoisyLabels(items, noise), AssociativeMemory(items + 1, "orthonormal", 0.0),
        GradientDescent(1.0), steps=steps, record=LogSpaced(50, 1.0), dtype="float64",
        probes=[TruncatedLoss((items - 1, items))], seeds=1, progress=False,
    ).isel(seed=0, step=slice(1, None))  # fmt: skip
    cut, whole = run["truncated_loss"].values.T
    return xr.Dataset(
        {"signal": ("time", found.signal), "noise": ("time", found.noise),
         "loss": ("time", pure_loss(found, "all")),
         "truncated_loss": ("time", pure_loss(found, "signal")),
         "trained_loss": ("step", whole), "trained_truncated_loss": ("step", cut)},
        {"time": times, "step": run["step"].values},
    )  # fmt: skip
