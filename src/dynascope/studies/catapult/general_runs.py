"""Runs of the study `quadratic-general` as plain arrays, and the rates that they are run at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.randomness import key_for
from dynascope.core.side_by_side import side_by_side
from dynascope.models import CNN, TwoLayerReLU
from dynascope.models.convolution import patches
from dynascope.numerics.precision import precision
from dynascope.tasks import TwoClasses

Start = tuple[TwoClasses, TwoLayerReLU | CNN, int]  # task, network, seed
CHANNELS = 16  # at once, so that many of them on whole pictures fit into memory
MOST_CHANNELS = 256  # of a wider convolution: its kernel is a mean over channels drawn alike


def critical_rates(starts: Sequence[Start]) -> list[float]:
    """`critical_rate` of every start, several at a time; each distinct one is worked out once."""
    distinct = list(dict.fromkeys(starts))
    known = dict(zip(distinct, side_by_side(lambda s: critical_rate(*s), distinct), strict=True))
    return [known[start] for start in starts]


@lru_cache(maxsize=64)
def critical_rate(task: TwoClasses, model: TwoLayerReLU | CNN, seed: int) -> float:
    """The rate n / lambda of the untrained network on a seed, for the mean of squares.

    Layer by layer in numpy: a plan must not wait for compilation. A convolution has two layers
    over pictures, in the scaling of the tangent kernel; more than 256 channels are estimated by
    the first 256.
    """
    with precision("float64"):
        x = task.samples(key_for(seed, "data"))[0]
        params = model.build(task.input_size, 1).init(key_for(seed, "init"))
        if isinstance(model, TwoLayerReLU):
            kernel = _dense_kernel(np.asarray(x), np.asarray(params["u"]), np.asarray(params["v"]))
        else:
            kernel = _convolution_kernel(model, np.asarray(_seen(model, x)), params)
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


def _dense_kernel(x: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    reach = x @ u.T
    hidden, through = np.maximum(reach, 0), (reach >= 0) * v
    return ((through @ through.T) * (x @ x.T) + hidden @ hidden.T) / u.size


def _seen(model: CNN, x: Any) -> Any:
    """What the window sees, (sample, place, number)."""
    assert model.shape is not None
    return patches(x.reshape(-1, *model.shape), model.window, 2).reshape(
        len(x), -1, model.window**2 * model.shape[-1]
    )


def _convolution_kernel(model: CNN, seen: np.ndarray, params: Any) -> np.ndarray:
    count, places, size = seen.shape
    first = np.asarray(params[0]["weight"]).reshape(model.channels, size)
    second = np.asarray(params[1]["weight"]).reshape(places, model.channels)
    kernel, used = np.zeros((count, count)), min(model.channels, MOST_CHANNELS)
    for start in range(0, used, CHANNELS):
        some = slice(start, min(start + CHANNELS, used))
        reach = seen @ first[some].T  # (sample, place, channel)
        hidden = np.maximum(reach, 0).reshape(count, -1)
        through = (reach > 0) * second[:, some]
        moved = (through.transpose(0, 2, 1) @ seen).reshape(count, -1)  # d f / d first
        kernel += hidden @ hidden.T + moved @ moved.T
    return kernel / (places * used * size)


class Curves(NamedTuple):
    """What a run shows: loss and kernel norm, each (..., seed, step)."""

    loss: np.ndarray
    norm: np.ndarray

    @property
    def peak(self) -> np.ndarray:
        """Highest loss; infinite where descent diverged."""
        return np.where(np.isfinite(self.loss[..., -1]), self.loss.max(axis=-1), np.inf)

    @property
    def rise(self) -> np.ndarray:
        """Highest over first loss."""
        return self.peak / self.loss[..., 0]

    @property
    def left(self) -> np.ndarray:
        """Last over first kernel norm."""
        return self.norm[..., -1] / self.norm[..., 0]


def curves(run: xr.Dataset) -> Curves:
    """Loss and the largest eigenvalue of the recorded kernels."""
    kernels = run["tangent_kernel"].values
    flat = kernels.reshape(-1, *kernels.shape[-2:])
    fine = np.isfinite(flat).all(axis=(1, 2))
    norms = np.full(len(flat), np.nan)
    norms[fine] = np.linalg.eigvalsh(flat[fine])[:, -1]
    return Curves(run["loss"].values, norms.reshape(kernels.shape[:-2]))
