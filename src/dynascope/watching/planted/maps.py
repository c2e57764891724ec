"""Runs of one or a few numbers: descent on quadratics, and on (x^2 - 1)^2 / 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynascope.watching.planted.networks import record

if TYPE_CHECKING:
    import xarray as xr


def quadratic(seed: int, low: float, high: float, steps: int = 60, every: int = 5) -> xr.Dataset:
    """Descent on a random quadratic, whose curvature never changes.

    Args:
        seed: Decides curvatures, start and rate.
        low: Least rate over the critical one.
        high: Largest.
        steps: Of descent.
        every: Steps between measurements.

    Returns:
        The record; sharpness is 1 throughout.
    """
    rng = np.random.default_rng(seed)
    curvature = np.exp(rng.uniform(-4, 0, 6))
    curvature[0] = 1.0
    rate = 2 * rng.uniform(low, high)
    w, loss = rng.standard_normal(6), []
    for _ in range(steps):
        loss.append(0.5 * (curvature * w**2).sum())
        w = w - rate * curvature * w
    measured = {"sharpness": np.ones(len(range(0, steps, every)))}
    return record(np.array(loss), rate, every, measured)


def quartic(seed: int, low: float, high: float) -> xr.Dataset:
    """Descent on (x^2 - 1)^2 / 4, whose critical rate is 1, with noise on the recorded loss."""
    rng = np.random.default_rng(seed)
    rate, x, loss = rng.uniform(low, high), rng.uniform(0.7, 1.2), []
    for _ in range(400):
        loss.append((x**2 - 1) ** 2 / 4)
        x = x - rate * x * (x**2 - 1)
    noise = 1e-3 * rng.uniform(0.2, 1) * rng.standard_normal(400)
    return record(np.array(loss) + 1e-2 + noise, rate, 400, {})
