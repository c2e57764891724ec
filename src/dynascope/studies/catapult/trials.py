"""What the studies of catapults train: networks on a few pictures or on a target of low rank.

A trial is a task, a network and a learning rate as a multiple of the critical one of all samples
before training, which is how the thesis's rates can be had without its scaling of the inputs.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from dynascope.core.errors import bad
from dynascope.core.randomness import key_for
from dynascope.core.spec import Spec
from dynascope.models import CNN, MLP, Model, Patches, Transformer, WideResNet
from dynascope.models.affine_layers import Parameterization
from dynascope.probes import tangent_kernel
from dynascope.runtime.precision import precision
from dynascope.tasks import Samples, TwoClasses

OTHER_DATA = "on other data than"  # the built-in digits, which no document has
COMPILING = 10.0  # seconds
CIFAR, SVHN, DIGITS = ("cifar10", (7, 9)), ("svhn", (0, 2)), ("digits", (0, 2))


@dataclass(frozen=True)
class Trial(Spec, tag="studies.Panel"):
    """A network, what it learns, and the rate over the critical one of the start."""

    task: Samples
    model: Model
    factor: float
    steps: int = 60
    top: int = 5  # eigendirections that the loss is split by

    def check(self) -> None:
        """Raise for another loss than the mean of squares, and for rates that are none."""
        if self.task.reduction != "mse":
            raise bad("reduction", self.task.reduction, "'mse', which the critical rate is for")
        if not 0 < self.factor < float("inf"):
            raise bad("factor", self.factor, "a finite number above 0")


def dense_net(width: int = 1024, depth: int = 5, **others: Any) -> MLP:
    """A fully connected network in the scaling of the tangent kernel."""
    return MLP(depth, width, parameterization="ntk", **others)


def conv_net(channels: int, side: int = 16, scaling: Parameterization = "ntk") -> CNN:
    """Five layers over pictures of three colours, flattened before the last one."""
    return CNN(5, channels, shape=(side, side, 3), parameterization=scaling)


def residual_net(
    widen: int, side: int = 16, scaling: Parameterization = "ntk", first: int = 16
) -> WideResNet:
    """A wide residual network of ten layers, without batch norm; `first` of the first layer."""
    return WideResNet((side, side, 3), 1.0, scaling, depth=10, widen=widen, channels=first)


def vit4(
    width: int, side: int = 16, patch: int = 4, scaling: Parameterization = "ntk"
) -> Transformer:
    """A vision transformer of four blocks; offsets in PyTorch's parameterization alone."""
    return Transformer(
        Patches((side, side, 3), patch), depth=4, width=width, heads=4, head_size=width // 4,
        hidden=2 * width, read="mean", start=scaling, bias=scaling == "pytorch",
    )  # fmt: skip


def effort(trial: Trial) -> float:
    """What a step of one seed takes, up to a factor for each kind of network: for estimates.

    Samples times the products of a layer.

    Example:
        >>> wide, narrow = (Trial(two(DIGITS), dense_net(width), 1.0) for width in (200, 100))
        >>> effort(wide) / effort(narrow)
        4.0
    """
    model: Any = trial.model
    if isinstance(model, MLP):
        places, width = 1, model.width
    elif isinstance(model, Transformer):
        height, length = model.tokens.shape[:2]  # type: ignore[attr-defined]
        places, width = height * length // model.tokens.side**2, model.width  # type: ignore[attr-defined]
    else:
        places, width = model.shape[0] * model.shape[1], model.channels * getattr(model, "widen", 1)
    return float((trial.task.train or 0) * places * width**2)  # type: ignore[attr-defined]


def seed_count(settings: Any, trial: Trial) -> int:
    """How many seeds a trial has: `deep_seeds` with convolutions, whose runs take minutes."""
    few = not isinstance(trial.model, MLP | Transformer)
    return settings.deep_seeds if few else settings.seeds


def estimated(step: float, settings: Any, trial: Trial, usual: Trial) -> float:
    """Seconds of a trial's runs, where a step of one seed takes `step` at its usual size."""
    moves = trial.steps * seed_count(settings, trial)
    return COMPILING + step * moves * effort(trial) / effort(usual)


def two(source: tuple[str, tuple[int, int]], train: int = 128, pool: int = 1) -> TwoClasses:
    """Two classes, every channel with mean 0 and deviation 1."""
    return TwoClasses(source[0], source[1], train, 1, "channel", pool=pool)


@lru_cache(maxsize=64)
def built(model: Model, inputs: int, outputs: int) -> Any:
    """The network, once: jax compiles what another one does anew."""
    return model.build(inputs, outputs)


def critical_rate(trial: Trial, seed: int, scale: float = 1.0) -> float:
    """The critical rate of all samples before training: entries / largest eigenvalue.

    Args:
        trial: The task and the network.
        seed: Of the samples and the start.
        scale: What the inputs are multiplied by.
    """
    task = trial.task
    network = built(trial.model, task.input_size, task.output_size)
    with precision("float32"):
        x, _ = task.samples(key_for(seed, "data"))
        params = jax.jit(network.init)(key_for(seed, "init"))
        kernel = np.asarray(tangent_kernel(network.apply, params, scale * x), float)
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


def mean_rate(trial: Trial, seeds: int) -> float:
    """The same, mean over seeds: one rate for all of them, as the thesis has."""
    return float(np.mean([critical_rate(trial, seed) for seed in range(seeds)]))
