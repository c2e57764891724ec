"""Networks before training: where learning rates are laid out, and what their linear models do.

Seeds of a wide network share their rates, laid out in units of the critical rate of a much
wider one: infinitely wide for ReLU, which has a closed form, and drawn apart from all seeds for
the other activations. Every seed's own critical rate is measured at its start, and ratios are to
that one. In narrow networks it differs too much between seeds, so there each has its own rates.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from dynascope.core.randomness import key_for
from dynascope.models import MLP
from dynascope.models.base import Network
from dynascope.models.convolution import patches
from dynascope.probes import tangent_kernel
from dynascope.runtime.precision import precision
from dynascope.studies.catapult.quadratic_generalization.settings import Setting
from dynascope.theories import infinite_width_kernel, linear_descent

SETTLED = 0.005  # what the second half of training may still lower the best test loss by
PLACES = 4  # of an image, in each direction, that the layout of rates looks at
NARROW = 512  # units or channels below which the seeds' critical rates differ by up to a fifth
DRAWN = 4096  # units of the network that lays out rates where there is no closed form


def groups(setting: Setting, seeds: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The seeds that share their learning rates: all, or each alone in a narrow network."""
    return [seeds] if setting.width >= NARROW else [(seed,) for seed in seeds]


@lru_cache(maxsize=64)
def _built(setting: Setting) -> Network:
    """The network, once for all seeds, so that it is compiled once."""
    return setting.model.build(setting.task.input_size, 1)


def _critical(kernel: np.ndarray) -> float:
    """The critical rate of the mean of squares: n / largest eigenvalue."""
    return len(kernel) / float(np.linalg.eigvalsh(kernel)[-1])


def layout_rate(setting: Setting, seeds: tuple[int, ...]) -> float:
    """The critical rate that the rates of a group of seeds are multiples of."""
    with precision("float32"):
        x = setting.task.samples(key_for(seeds[0], "data"))[0]
        if setting.width >= NARROW:
            return _critical(wide_kernel(setting.model, np.asarray(x), seeds[0]))
        network = _built(setting)
        params = network.init(key_for(seeds[0], "init"))
        return _critical(np.asarray(tangent_kernel(network.apply, params, x), float))


def wide_kernel(model: Any, x: np.ndarray, seed: int) -> np.ndarray:
    """(n, n) tangent kernel of the model's kind of network, much wider than itself.

    Every place of a two-layer convolution is a fully connected network of its own, and the
    kernel their mean.
    """
    seen = x[None] if isinstance(model, MLP) else _places(model, x)
    if model.activation == "relu":
        return np.mean([infinite_width_kernel(p, depth=model.depth) for p in seen], axis=0)
    drawn = MLP(model.depth, DRAWN, model.activation, parameterization="ntk")
    network = drawn.build(seen.shape[-1], 1)
    params = network.init(key_for(seed, "layout"))
    return np.mean([np.asarray(tangent_kernel(network.apply, params, p), float) for p in seen], 0)


def _places(model: Any, x: np.ndarray) -> np.ndarray:
    """(places, n, inputs) what the window sees at some places of the pictures."""
    *sides, channels = model.shape or (x.shape[1], 1)
    seen = patches(jnp.asarray(x).reshape(-1, *sides, channels), model.window, len(sides))
    some = seen[(slice(None), *(slice(None, None, max(1, s // PLACES)) for s in sides))]
    return np.asarray(some.reshape(len(x), -1, some.shape[-1])).swapaxes(0, 1)


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


def start_of(setting: Setting, seed: int) -> Start:
    """The tangent kernels and outputs of a seed's network before training."""
    task, network = setting.task, _built(setting)
    with precision("float32"):
        x, y = task.samples(key_for(seed, "data"))
        x_test, y_test = task.test_set(task.context(key_for(seed, "data")))
        params = network.init(key_for(seed, "init"))
        everywhere = jnp.concatenate([x, x_test])
        kernel = np.asarray(tangent_kernel(network.apply, params, everywhere, x), float)
        outputs = np.asarray(network.apply(params, everywhere)[:, 0], float)
    n = len(x)
    targets = (np.asarray(v[:, 0], float) for v in (y, y_test))
    return Start(kernel[:n], kernel[n:], outputs[:n], outputs[n:], *targets)


class Curve(NamedTuple):
    """One model over learning rates, perhaps seeds, and training: arrays (..., look)."""

    loss: np.ndarray  # on the training set
    test: np.ndarray  # loss on the test set
    share: np.ndarray  # accuracy on the test set

    @property
    def trained(self) -> np.ndarray:
        """Whether the training loss ended finite and below its start."""
        return np.isfinite(self.loss[..., -1]) & (self.loss[..., -1] < self.loss[..., 0])

    @property
    def best(self) -> np.ndarray:
        """Smallest test loss over training, the untrained network included."""
        return np.where(np.isfinite(self.test), self.test, np.inf).min(axis=-1)

    @property
    def accuracy(self) -> np.ndarray:
        """Largest test accuracy over training."""
        return np.nan_to_num(self.share).max(axis=-1)

    @property
    def lowest(self) -> np.ndarray:
        """(seeds,) the lowest training loss at any rate."""
        return np.where(np.isfinite(self.loss), self.loss, np.inf).min(axis=(0, -1))

    @property
    def settled(self) -> bool:
        """Whether the best test loss hardly falls any more, mean over seeds of the best rate."""
        half = Curve(*(part[..., : part.shape[-1] // 2 + 1] for part in self))
        return bool((half.best.min(axis=0) / self.best.min(axis=0) - 1).mean() <= SETTLED)

    def drawn(self, part: str = "best") -> np.ndarray:
        """The best test loss (or accuracy) of runs that trained, NaN for the others."""
        return np.where(self.trained, getattr(self, part), np.nan)


def linear_curve(start: Start, rates: Sequence[float], steps: np.ndarray) -> Curve:
    """The linear model of a seed in closed form, at the steps that the others are looked at."""
    rows = []
    for rate in rates:
        found = linear_descent(
            start.kernel, start.outputs, start.y, rate, steps, loss="mse",
            test_kernel=start.test_kernel, test_start=start.test_outputs,
        )  # fmt: skip
        outputs = np.asarray(found.test)
        with np.errstate(over="ignore", invalid="ignore"):  # past the critical rate it diverges
            test = np.mean((outputs - start.y_test) ** 2, axis=1)
        rows.append((found.loss, test, np.mean((outputs > 0) == (start.y_test > 0), axis=1)))
    return Curve(*map(np.array, zip(*rows, strict=True)))
