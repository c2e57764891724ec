"""Network, linear model and quadratic model over learning rates: what is run, what is read off.

Seeds of a wide network share their rates, laid out in units of the critical rate of a much
wider one: infinitely wide for ReLU, which has a closed form, and drawn apart from all seeds for
the other activations. Every seed's own critical rate is measured at its start, and ratios are to
that one. In narrow networks it differs too much between seeds, so there each has its own rates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import xarray as xr

from dynascope.core.randomness import key_for
from dynascope.models import MLP
from dynascope.models.base import Network
from dynascope.models.convolution import patches
from dynascope.numerics.precision import precision
from dynascope.probes import tangent_kernel
from dynascope.studies.catapult.generalization_settings import Setting
from dynascope.tasks import Samples
from dynascope.theories import infinite_width_kernel, linear_descent

RATE = "dynamics.learning_rate"
PLACES = 4  # of an image, in each direction, that the layout of rates looks at
NARROW = 512  # units or channels below which the seeds' critical rates differ by up to a fifth
DRAWN = 4096  # units of the network that lays out rates where there is no closed form


class Start(NamedTuple):
    """A seed before its first step, as far as its linear model is concerned."""

    kernel: np.ndarray  # (n, n)
    test_kernel: np.ndarray  # (m, n)
    outputs: np.ndarray  # (n,)
    test_outputs: np.ndarray  # (m,)
    y: np.ndarray
    y_test: np.ndarray

    @property
    def critical(self) -> float:
        """Of the mean of squares."""
        return _critical(self.kernel)


class Curve(NamedTuple):
    """One model over learning rates and seeds, each (rates, seeds)."""

    best: np.ndarray  # smallest test loss over training
    accuracy: np.ndarray  # largest test accuracy over training
    trained: np.ndarray  # whether the training loss ended finite and below its start

    def settled(self) -> np.ndarray:
        """The best test loss of runs that trained, NaN for the others."""
        return np.where(self.trained, self.best, np.nan)


class Panel(NamedTuple):
    """What was found with one setting."""

    title: str
    setting: Setting
    ratio: np.ndarray  # (rates, seeds) learning rate over the seed's critical rate
    critical: np.ndarray  # (seeds,)
    curves: dict[str, Curve]  # "network", "quadratic", "linear"


def laid_out(
    setting: Setting, multiples: tuple[float, ...], seeds: tuple[int, ...]
) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Learning rates by the seeds that share them: multiples of a critical rate."""
    with precision("float32"):
        if setting.width >= NARROW:
            x = np.asarray(setting.task.samples(key_for(seeds[0], "data"))[0])
            kernels = {seeds: wide_kernel(setting.model, x, seeds[0])}
        else:
            network = setting.model.build(setting.task.input_size, 1)
            kernels = {(seed,): own_kernel(setting.task, network, seed) for seed in seeds}
    rates = {group: _critical(kernel) for group, kernel in kernels.items()}
    return {group: tuple(m * rate for m in multiples) for group, rate in rates.items()}


def _critical(kernel: np.ndarray) -> float:
    """The critical rate of the mean of squares: n / largest eigenvalue."""
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


def own_kernel(task: Samples, network: Network, seed: int) -> np.ndarray:
    """(n, n) tangent kernel of a seed's network before training."""
    params, x = network.init(key_for(seed, "init")), task.samples(key_for(seed, "data"))[0]
    return np.asarray(tangent_kernel(network.apply, params, x), float)


def wide_kernel(model: Any, x: np.ndarray, seed: int) -> np.ndarray:
    """(n, n) tangent kernel of the model's kind of network, much wider than itself.

    Every place of a two-layer convolution is a fully connected network of its own, and the
    kernel their mean.
    """
    seen = x[None] if isinstance(model, MLP) else _places(model, x)
    kernel = _kernel_of(model, seen.shape[-1], seed)
    return np.mean([kernel(place) for place in seen], axis=0)


def _kernel_of(model: Any, inputs: int, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """The kernel of rows of so many inputs, fully connected."""
    if model.activation == "relu":
        return partial(infinite_width_kernel, depth=model.depth)
    network = MLP(model.depth, DRAWN, model.activation, parameterization="ntk").build(inputs, 1)
    params = network.init(key_for(seed, "layout"))
    return lambda x: np.asarray(tangent_kernel(network.apply, params, x), float)


def _places(model: Any, x: np.ndarray) -> np.ndarray:
    """(places, n, inputs) what the window sees at some places of the pictures."""
    *sides, channels = model.shape or (x.shape[1], 1)
    seen = patches(jnp.asarray(x).reshape(-1, *sides, channels), model.window, len(sides))
    some = seen[(slice(None), *(slice(None, None, max(1, s // PLACES)) for s in sides))]
    return np.asarray(some.reshape(len(x), -1, some.shape[-1])).swapaxes(0, 1)


def starts(setting: Setting, seeds: tuple[int, ...]) -> list[Start]:
    """The tangent kernels and outputs of every seed's network before training."""
    network = setting.model.build(setting.task.input_size, 1)  # once, so it is compiled once
    with precision("float32"):
        return [_start(setting.task, network, seed) for seed in seeds]


def _start(task: Samples, network: Network, seed: int) -> Start:
    x, y = task.samples(key_for(seed, "data"))
    x_test, y_test = task.test_set(task.context(key_for(seed, "data")))
    params = network.init(key_for(seed, "init"))
    everywhere = jnp.concatenate([x, x_test])
    kernel = np.asarray(tangent_kernel(network.apply, params, everywhere, x), float)
    outputs = np.asarray(network.apply(params, everywhere)[:, 0], float)
    n = len(x)
    targets = (np.asarray(v[:, 0], float) for v in (y, y_test))
    return Start(kernel[:n], kernel[n:], outputs[:n], outputs[n:], *targets)


def rates_of(runs: list[xr.Dataset]) -> np.ndarray:
    """(rates, seeds) learning rates of runs that have their seeds one after the other."""
    return np.hstack([np.repeat(r[RATE].values[:, None], r.sizes["seed"], axis=1) for r in runs])


def trained_curve(runs: list[xr.Dataset]) -> Curve:
    """What runs of the engine show, rates x seeds."""
    loss, test, share = (
        np.concatenate([r[name].transpose(RATE, "seed", "step").values for r in runs], axis=1)
        for name in ("loss", "test_set_loss", "test_set_accuracy")
    )
    return _curve(loss, test, share)


def linear_curve(begin: list[Start], rates: np.ndarray, steps: np.ndarray) -> Curve:
    """The linear model of every seed in closed form, at the same steps; rates x seeds."""
    seen = [[_linear(*pair, steps) for pair in zip(begin, row, strict=True)] for row in rates]
    loss, test, share = (np.array([[one[k] for one in row] for row in seen]) for k in range(3))
    return _curve(loss, test, share)


def _linear(begin: Start, rate: float, steps: np.ndarray) -> tuple[np.ndarray, ...]:
    found = linear_descent(
        begin.kernel, begin.outputs, begin.y, rate, steps, loss="mse",
        test_kernel=begin.test_kernel, test_start=begin.test_outputs,
    )  # fmt: skip
    outputs = np.asarray(found.test)
    with np.errstate(over="ignore", invalid="ignore"):  # past the critical rate it diverges
        test = np.mean((outputs - begin.y_test) ** 2, axis=1)
        share = np.mean((outputs > 0) == (begin.y_test > 0), axis=1)
    return found.loss, test, share


def _curve(loss: np.ndarray, test: np.ndarray, share: np.ndarray) -> Curve:
    """Best values over training, the untrained network included; each (rates, seeds, steps)."""
    ended = np.isfinite(loss[..., -1]) & (loss[..., -1] < loss[..., 0])
    finite = np.where(np.isfinite(test), test, np.inf)
    return Curve(finite.min(axis=2), np.nan_to_num(share).max(axis=2), ended)
