"""Runs of the study `quadratic-general` as plain arrays: general quadratic models, pictures."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.randomness import key_for
from dynascope.models import TwoLayerReLU
from dynascope.numerics.precision import precision
from dynascope.tasks import TwoClasses


@lru_cache(maxsize=64)
def critical_rate(task: TwoClasses, width: int, seed: int) -> float:
    """The rate n / lambda of the untrained network on a seed, for the mean of squares.

    Layer by layer in numpy: a plan must not wait for compilation.
    """
    with precision("float64"):
        x = np.asarray(task.samples(key_for(seed, "data"))[0])
        params = TwoLayerReLU(width).build(task.input_size, 1).init(key_for(seed, "init"))
        u, v = np.asarray(params["u"]), np.asarray(params["v"])
    reach = x @ u.T
    hidden, through = np.maximum(reach, 0), (reach >= 0) * v
    kernel = ((through @ through.T) * (x @ x.T) + hidden @ hidden.T) / u.size
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


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


class Top(NamedTuple):
    """Descent confined to the kernel's top eigenvector p1(t), one seed; arrays are (step,)."""

    loss: np.ndarray  # mean of squares
    along: np.ndarray  # its part along p1(t)
    second: np.ndarray  # its part along p2(t)
    value: np.ndarray  # lambda1(t)
    bend: np.ndarray  # p1^T R_f p1, one shorter
    fall: np.ndarray  # p1^T R_K p1, one shorter


def top_eigenspace(run: xr.Dataset, labels: np.ndarray, rate: float) -> Top:
    """The terms of (B.13), (B.14) along p1(t); `rate` is for the mean of squares.

    R_f is defined only through what it does: <p1, r'> = (1 - eta lambda1 + p1^T R_f p1) <p1, r>.
    """
    kernels, r = run["tangent_kernel"].values, run["training_output"].values - labels
    values, vectors = np.linalg.eigh(kernels)
    first, second, n = vectors[..., -1], vectors[..., -2], r.shape[-1]
    eta = 2 * rate / n
    now = np.einsum("ti,ti->t", first[:-1], r[:-1])
    after = np.einsum("ti,ti->t", first[:-1], r[1:])
    seen = np.einsum("ti,tij,tj->t", first[:-1], kernels[1:], first[:-1])
    return Top(
        np.mean(r**2, axis=-1), np.einsum("ti,ti->t", first, r) ** 2 / n,
        np.einsum("ti,ti->t", second, r) ** 2 / n, values[:, -1],
        after / now - 1 + eta * values[:-1, -1], values[:-1, -1] - seen,
    )  # fmt: skip
