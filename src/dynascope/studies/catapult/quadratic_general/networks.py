"""Two architectures on two classes of pictures: quadratic models, critical rates, outputs."""

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import jax
import numpy as np

from dynascope.core.quantities import Quantity, quantity
from dynascope.core.randomness import key_for
from dynascope.models import CNN, Model, Quadratized, TwoLayerReLU
from dynascope.models.convolution import patches
from dynascope.probes.base import Probe, Snapshot
from dynascope.runtime.precision import precision
from dynascope.tasks import TwoClasses

REAL = {"cifar10": "CIFAR-10 airplane, bird", "svhn": "SVHN crops 0, 2"}
NAMES = {"digits": "8x8 digits 0, 2 (built in)", **REAL}
DENSE, CONVOLUTION = "fully connected", "convolution"
QUADRATIC, NETWORK = "quadratic model", "network"
Kind = tuple[str, str]  # architecture, model
KINDS: tuple[Kind, ...] = tuple(product((DENSE, CONVOLUTION), (QUADRATIC, NETWORK)))
CHANNELS = 16  # at once, so that many of them on whole pictures fit into memory
MOST_CHANNELS = 256  # of a wider convolution: its kernel is a mean over channels drawn alike


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


def critical_rate(task: TwoClasses, model: TwoLayerReLU | CNN, seed: int) -> float:
    """The rate n / lambda of the untrained network on a seed, for the mean of squares."""
    with precision("float64"):
        x = task.samples(key_for(seed, "data"))[0]
        params = model.build(task.input_size, 1).init(key_for(seed, "init"))
        if isinstance(model, TwoLayerReLU):
            kernel = _dense_kernel(np.asarray(x), np.asarray(params["u"]), np.asarray(params["v"]))
        else:
            kernel = _convolution_kernel(model, x, params)
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


def _dense_kernel(x: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    reach = x @ u.T
    hidden, through = np.maximum(reach, 0), (reach >= 0) * v
    return ((through @ through.T) * (x @ x.T) + hidden @ hidden.T) / u.size


def _convolution_kernel(model: CNN, x: Any, params: Any) -> np.ndarray:
    assert model.shape is not None
    size = model.window**2 * model.shape[-1]
    seen = np.asarray(patches(x.reshape(-1, *model.shape), model.window, 2))
    seen = seen.reshape(len(x), -1, size)  # (sample, place, number): what the window sees
    count, places, _ = seen.shape
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


@dataclass(frozen=True)
class TrainingOutput(Probe):
    """The output on every training input, of models with one output.

    Cost: one forward pass over all samples.
    """

    quantity: ClassVar[Quantity] = quantity(
        "training_output", "g(x_i)", "1", ("sample",),
        "Output of the model on every training input.",
    )  # fmt: skip

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """Outputs, one a sample."""
        return snapshot.predict(snapshot.samples[0])[:, 0]
