"""Fully connected networks of several widths: how far each is from its linear model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.instruments.network.measuring import measure_linearity
from dynascope.instruments.network.padded import Wired, inputs, pad
from dynascope.models.wiring_families import fully_connected
from dynascope.runtime.progress import Progress

INPUTS = 4


def linearity_by_width(
    widths: Sequence[int], layers: int, seeds: int, distance: float, steepest: bool
) -> xr.Dataset:
    """Hessian norm and departure from the linear model, some distance away from random starts.

    Args:
        widths: Of the hidden layers.
        layers: Of weights.
        seeds: Random starts.
        distance: From the start, in the weights.
        steepest: Whether to go along the Hessian's top direction instead of a random one.

    Returns:
        `hessian_norm` and `departure`, (width, seed).

    Example:
        >>> found = linearity_by_width((8, 64), 2, 3, distance=1.0, steepest=False)
        >>> norms = found["hessian_norm"].mean("seed")
        >>> bool(norms.sel(width=64) < 0.6 * norms.sel(width=8))  # 1 / sqrt(8) is 0.35
        True
    """
    norms, gaps = np.zeros((2, len(widths), seeds))
    places = list(np.ndindex(len(widths), seeds))
    with Progress("linearity", len(places), enabled=False) as bar:
        for done, (i, seed) in enumerate(places):
            bar.update(done)
            network = _padded(widths[i], max(widths), layers - 1)
            x = inputs(INPUTS, 1, seed, INPUTS)[0]
            seen = measure_linearity(network, seed, x, [0.0, distance], [False, steepest])
            norms[i, seed] = seen.norms[1]
            gaps[i, seed] = abs(seen.values[1] - seen.linear[1])
    return xr.Dataset(
        {"hessian_norm": (("width", "seed"), norms), "departure": (("width", "seed"), gaps)},
        {"width": list(widths)},
    )


@lru_cache(maxsize=16)
def _padded(width: int, widest: int, hidden: int) -> Wired:
    sizes = [[INPUTS, *[w] * hidden, 1] for w in (width, widest)]
    return pad(fully_connected(sizes[0]), sizes[1])
