"""Two-layer networks on one-dimensional data before training: data, kernels, critical rates."""

import itertools
from functools import lru_cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from dynascope.core.randomness import key_for
from dynascope.models import TwoLayerReLU
from dynascope.probes import tangent_kernel
from dynascope.runtime.precision import precision
from dynascope.studies.catapult.trials import built
from dynascope.tasks import TwoClusters
from dynascope.theories import QuadraticMap
from dynascope.theories.catapult import directions as theory
from dynascope.theories.catapult.directions import Direction


class Start(NamedTuple):
    """Data and untrained network of a seed, in float64."""

    seed: int
    x: np.ndarray  # (n,)
    y: np.ndarray  # (n,)
    outputs: np.ndarray  # (n,)
    found: tuple[Direction, ...]  # positive inputs first
    kernels: tuple[float, ...]  # of each direction

    @property
    def directions(self) -> list[Direction]:
        """The directions by kernel, largest first."""
        return [self.found[k] for k in np.argsort([-k for k in self.kernels])]

    @property
    def critical(self) -> list[float]:
        """Critical rates n / lambda for the mean of squares, lowest first."""
        return sorted(len(self.x) / k for k in self.kernels)

    @property
    def rates(self) -> tuple[float, ...]:
        """Below both, between, above both, past the largest: rates for the mean of squares."""
        first, second = self.critical
        return (0.9 * first, (first * second) ** 0.5, 1.2 * second, 2.1 * first)

    @property
    def kernel(self) -> np.ndarray:
        """The tangent kernel (n, n) from its eigenvalues."""
        units = np.array([d.unit for d in self.found])
        return (units.T * self.kernels) @ units

    def half(self, rate: int) -> float:
        """One of the rates, as it is for half the sum of squares."""
        return theory.half_rate(self.rates[rate], len(self.x))

    def maps(self, rate: int, width: float) -> list[QuadraticMap]:
        """The exact descents along the directions at one of the rates, largest kernel first."""
        found = theory.along_directions(
            self.x, self.y, self.outputs, self.kernels, width, self.half(rate)
        )
        return sorted(found, key=lambda descent: -descent.kernel)


def dense_kernel(task: TwoClusters, width: int, seed: int) -> np.ndarray:
    """(n, n) tangent kernel of the untrained network from its gradients, sample by sample."""
    with precision("float64"):
        x = np.asarray(task.samples(key_for(seed, "data"))[0])
        params = TwoLayerReLU(width).build(1, 1).init(key_for(seed, "init"))
        u, v = np.asarray(params["u"])[:, 0], np.asarray(params["v"])
    on = x * u >= 0  # (n, width)
    hidden, through = x * u * on, x * v * on
    return (hidden @ hidden.T + through @ through.T) / width


def autodiff_kernel(task: TwoClusters, width: int, seed: int) -> np.ndarray:
    """The same from the network itself."""
    with precision("float64"):
        x = task.samples(key_for(seed, "data"))[0]
        network = built(TwoLayerReLU(width), 1, 1)
        params = network.init(key_for(seed, "init"))
        return np.asarray(tangent_kernel(network.apply, params, x))


@lru_cache(maxsize=256)
def start_of(task: TwoClusters, width: int, seed: int) -> Start:
    """What the engine begins with on this seed."""
    with precision("float64"):
        x, y = (np.asarray(v) for v in task.samples(key_for(seed, "data")))
        network = TwoLayerReLU(width).build(1, 1)
        params = network.init(key_for(seed, "init"))
        outputs = np.asarray(network.apply(params, jnp.asarray(x)))[:, 0]
        u, v = np.asarray(params["u"])[:, 0], np.asarray(params["v"])
    found = theory.directions(x[:, 0])
    # K p = s (mean of u^2 + v^2 over the units that are on) p: Prop. B.11.1.
    sides = {"positive": u >= 0, "negative": u <= 0}
    kernels = tuple(float(d.size * np.sum((u**2 + v**2)[sides[d.name]]) / width) for d in found)
    return Start(seed, x[:, 0], y[:, 0], outputs, found, kernels)


def seeds_with_a_gap(task: TwoClusters, width: int, count: int) -> tuple[Start, ...]:
    """The first seeds whose two critical rates lie 5% to 50% apart: Fig. 3.3 needs a gap."""
    every = (start_of(task, width, seed) for seed in itertools.count())
    apart = (start for start in every if 1.05 <= start.critical[-1] / start.critical[0] <= 1.5)
    return tuple(itertools.islice(apart, count))
