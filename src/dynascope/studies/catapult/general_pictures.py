"""Two architectures on two classes of pictures, along the kernel's top eigenvector.

004 Figs. B.2 and B.3: what the study `quadratic-general` trains there, and what it reads off.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.models import CNN, Model, Quadratized, TwoLayerReLU
from dynascope.tasks import TwoClasses

NAMES = {
    "digits": "8x8 digits 0, 2 (built in)",
    "cifar10": "CIFAR-10 airplane, bird",
    "svhn": "SVHN crops 0, 2",
}
DENSE, CONVOLUTION = "fully connected", "convolution"
QUADRATIC, NETWORK = "quadratic model", "network"
Kind = tuple[str, str]  # architecture, model
KINDS: tuple[Kind, ...] = tuple(product((DENSE, CONVOLUTION), (QUADRATIC, NETWORK)))
RATE = "dynamics.learning_rate"
MULTIPLE = 1.5  # of the critical rate; the figures give none


def network_of(task: TwoClasses, architecture: str, size: int) -> TwoLayerReLU | CNN:
    """The network with so many hidden units or channels; no offsets, linear output."""
    if architecture == DENSE:
        return TwoLayerReLU(size)
    height, width, *channels = task.source().x_train.shape[1:]
    shape = (height // task.pool, width // task.pool, *(channels or [1]))
    return CNN(2, size, shape=shape, parameterization="ntk")


def model_of(network: TwoLayerReLU | CNN, model: str) -> Model:
    """The network itself, or its quadratic model around the same start."""
    if model == NETWORK:
        return network
    # Frozen gates are the quadratic model without derivatives of derivatives.
    if isinstance(network, TwoLayerReLU):
        return TwoLayerReLU(network.width, "frozen")
    return Quadratized(network)


class Top(NamedTuple):
    """Descent confined to the kernel's top eigenvector p1(t), one seed; arrays are (step,).

    If descent diverges they end with the last finite kernel.
    """

    loss: np.ndarray  # mean of squares
    along: np.ndarray  # its part along p1(t)
    second: np.ndarray  # its part along p2(t)
    value: np.ndarray  # lambda1(t)
    bend: np.ndarray  # p1^T R_f p1, one shorter
    fall: np.ndarray  # p1^T R_K p1, one shorter


Tops = dict[Kind, dict[str, list[Top]]]  # by data set and seed


def top_eigenspace(run: xr.Dataset, labels: np.ndarray) -> Top:
    """The terms of (B.13), (B.14) along p1(t), for the mean of squares at one rate and seed.

    R_f is defined only through what it does: <p1, r'> = (1 - eta lambda1 + p1^T R_f p1) <p1, r>.
    """
    run = run.isel({RATE: 0, "seed": 0})
    kernels, r = run["tangent_kernel"].values, run["training_output"].values - labels
    fine = np.isfinite(kernels).all(axis=(1, 2))
    kernels, r = kernels[fine], r[fine]
    values, vectors = np.linalg.eigh(kernels)
    first, second, n = vectors[..., -1], vectors[..., -2], r.shape[-1]
    eta = 2 * float(run[RATE]) / n
    now = np.einsum("ti,ti->t", first[:-1], r[:-1])
    after = np.einsum("ti,ti->t", first[:-1], r[1:])
    seen = np.einsum("ti,tij,tj->t", first[:-1], kernels[1:], first[:-1])
    return Top(
        np.mean(r**2, axis=-1), np.einsum("ti,ti->t", first, r) ** 2 / n,
        np.einsum("ti,ti->t", second, r) ** 2 / n, values[:, -1],
        after / now - 1 + eta * values[:-1, -1], values[:-1, -1] - seen,
    )  # fmt: skip
