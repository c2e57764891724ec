"""Entries of a diagonal network over rescaled time, beside the limit of a vanishing start."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from dynascope.numerics.log_flow import log_flow
from dynascope.theories.rank_increase.diagonal_linear import diagonal_half_times

U, V = (1.0, 0.8, 1.2), (0.1, -0.2, 0.3)  # the start, before it is scaled


def learn_products(strengths: Sequence[float], decades: float, points: int) -> xr.Dataset:
    """Three products u v under gradient flow from a start of size 10^-decades.

    Args:
        strengths: What they are to become, each above 0.
        decades: How small the start is.
        points: Times that are recorded, in units of log(1 / start).

    Returns:
        `product` and its `limit` (time, entry), `loss` and `staircase` (time); `half_times`, the
        closed form of when each entry is half learned, among the attributes.

    Example:
        >>> found = learn_products((2.0, 1.2, 0.7), decades=8.0, points=5)
        >>> found["product"].values[-1].round(3).tolist(), float(found["staircase"][0])
        ([2.0, 1.2, 0.7], 2.965)
    """
    target = np.array(strengths)
    times = np.linspace(0, 1.3 / target.min(), points)
    flow = log_flow(_loss, np.array(U), np.array(V), [10.0**-decades], times, parameters=(target,))
    limit = np.where(times[:, None] >= 1 / target, target, 0.0)
    half = diagonal_half_times(target, np.array(U), np.array(V), 10.0**-decades)
    return xr.Dataset(
        {"product": (("time", "entry"), flow.products[0]), "limit": (("time", "entry"), limit),
         "loss": ("time", flow.losses[0]),
         "staircase": ("time", 0.5 * np.sum((target - limit) ** 2, axis=1))},
        {"time": times}, {"half_times": half.tolist()},
    )  # fmt: skip


def _loss(z: jax.Array, target: jax.Array) -> jax.Array:
    """That of f(x) = sum u_i v_i x_i with white inputs."""
    return 0.5 * jnp.sum((z - target) ** 2)
