"""One network of an architecture: its Hessian norm, its linear model, its kernel; and many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.instruments.network.measuring import measure_linearity, train
from dynascope.instruments.network.padded import Padded, inputs, pad, pad_channels
from dynascope.probes.slopes import Slope, fit_slope
from dynascope.studies.linearity.architectures import ARCHITECTURES, NARROW

# Places around the start: distance, and whether along the Hessian's top eigenvector.
RADII = (0.0, 1.0, 3.0, 1.0, 3.0)
TOP = (False, False, False, True, True)
GRID = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)  # distances of the gap's curve
SAMPLES = 10  # training points, as in Fig. 2.2
RECORDS = 10  # kernels measured in training
HIDDEN = "dropped, many inputs"  # more of them than hidden vertices


class Effort(NamedTuple):
    """What is measured of an architecture, and how much."""

    widths: tuple[int, ...]  # values of m
    seeds: int  # starts, and wirings where they are random
    size: int  # number of inputs
    padding: tuple[int, ...]  # sizes of all layers to pad to; () compiles each width by itself
    steps: int  # of training; 0 for none
    places: int  # how many of RADII are measured, the first being the start


class Seen(NamedTuple):
    """What was measured of one network from one start."""

    width: float  # on the x axis of slopes
    norms: np.ndarray  # (places,) spectral norm of the output's Hessian
    gaps: np.ndarray  # (places,) |f - f_lin|
    drift: float  # largest relative change of the kernel; 0 if not trained
    loss: float  # at the end, over that at the start; NaN if it diverged
    converged: bool  # whether every Hessian norm has its residual below the tolerance


def measure(name: str, effort: Effort, m: int, seed: int) -> Seen:
    """Draw, measure and train one network."""
    network, width = _network(name, effort, m, seed)
    x = inputs(effort.size, SAMPLES, 0, effort.padding[0] if effort.padding else effort.size)
    norms = gaps = np.zeros(0)
    drift, loss, converged = 0.0, 0.0, True
    if effort.places:
        views = measure_linearity(network, seed, x[0], RADII[: effort.places], TOP[: effort.places])
        norms, gaps = views.norms, np.abs(views.values - views.linear)
        converged = bool(views.converged.all())
    if effort.steps:
        y = np.random.default_rng(1).permutation(np.resize([1.0, -1.0], SAMPLES))[:, None]
        run = train(network, seed, x, y, effort.steps, max(effort.steps // RECORDS, 1))
        drift, loss = float(run.drift[-1]), float(run.loss[-1] / run.loss[0])
    return Seen(width, norms, gaps, drift, loss, converged)


def _network(name: str, effort: Effort, m: int, seed: int) -> tuple[Padded, float]:
    """The network, and its width by definition."""
    if name == "convolutional":
        return pad_channels(m, effort.size, m), m
    drawn = ARCHITECTURES["dropped" if name == HIDDEN else name](effort.size, m, seed)
    network = pad(drawn.net, effort.padding or None, skips=drawn.skips, bend=drawn.bend,
                  watched=drawn.measured)  # fmt: skip
    # Narrow places keep the width by definition constant: m is then on the axis.
    return network, m if drawn.net.width <= NARROW else drawn.width


@dataclass(frozen=True, eq=False)
class Family:
    """What was measured of one architecture; axes are (widths, seeds, ...) as in `Seen`."""

    m: np.ndarray  # (widths,) as asked for
    widths: np.ndarray  # (widths,) geometric mean over seeds
    norms: np.ndarray
    gaps: np.ndarray
    drift: np.ndarray
    loss: np.ndarray
    converged: bool

    def slope(self, quantity: str = "norms", place: int = 0, against_m: bool = False) -> Slope:
        """The power of the width, or of m, with which a quantity grows at a place."""
        values = getattr(self, quantity)
        values = values[..., place] if values.ndim == 3 else values
        return fit_slope(self.m if against_m else self.widths, values)


def collect(seen: dict[tuple[int, int], Seen]) -> Family:
    """All starts of an architecture, by m and seed."""
    m = list(dict.fromkeys(m for m, _ in seen))
    rows = [[s for (k, _), s in seen.items() if k == width] for width in m]
    fields = range(len(Seen._fields))
    parts = (np.array([[one[field] for one in row] for row in rows]) for field in fields)
    widths, norms, gaps, drift, loss, converged = parts
    middle, whole = np.exp(np.log(widths).mean(axis=1)), bool(converged.all())
    return Family(np.array(m, float), middle, norms, gaps, drift, loss, whole)


class Curve(NamedTuple):
    """Along the Hessian's top eigenvector, at the distances GRID."""

    gaps: np.ndarray  # |f - f_lin|
    bounds: np.ndarray  # half the largest Hessian norm so far times the squared distance


class TwelfthPowers(NamedTuple):
    """The sum of the twelfth powers of some weights: its Hessian is 132 w^10, weight by weight."""

    near: Any  # (weights,) deviations of the start

    def draw(self, random: np.random.Generator) -> list[np.ndarray]:
        """A start near zero."""
        return [self.near * random.normal(size=self.near.shape)]

    def outputs(self, weights: Sequence[jax.Array], x: jax.Array) -> jax.Array:
        """The same whatever x is."""
        return jnp.sum(weights[0] ** 12) * jnp.ones((len(x), 1))


def gap_curve(network: Padded, size: int, padding: tuple[int, ...], seed: int) -> Curve:
    """The distance to the linear model of a network, and its bound, Cor. 2.3.7."""
    x = inputs(size, SAMPLES, 0, padding[0] if padding else size)[0]
    views = measure_linearity(network, seed, x, GRID, (False, *(True,) * (len(GRID) - 1)))
    largest = np.maximum.accumulate(views.norms)
    return Curve(np.abs(views.values - views.linear), largest * np.square(GRID) / 2)
