"""Hessian norms, gaps to the linear model and kernel drift of every architecture, by width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.models.wiring_families import fully_connected
from dynascope.studies.linearity.architectures import ARCHITECTURES, NARROW, inputs
from dynascope.studies.linearity.measuring import look, train
from dynascope.studies.linearity.padded import Padded, pad, pad_channels
from dynascope.studies.slopes import Slope, fit_slope

# Places around the start: distance, and whether along the Hessian's top eigenvector.
RADII = (0.0, 1.0, 3.0, 1.0, 3.0)
TOP = (False, False, False, True, True)
GRID = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)  # distances of the gap's curve
SAMPLES = 10  # training points, as in Fig. 2.2
CURVES = 2  # seeds of the gap's curve
RECORDS = 10  # kernels looked at in training


@dataclass(frozen=True, eq=False)
class Family:
    """What was measured of one architecture; axes are (widths, seeds, ...)."""

    widths: np.ndarray  # (widths,) on the x axis of the slopes
    norms: np.ndarray  # (widths, seeds, places) of RADII, or only of the start
    gaps: np.ndarray  # the same: |f - f_lin|
    drift: np.ndarray  # (widths, seeds) largest relative change of the kernel; 0 if not trained
    loss: np.ndarray  # (widths, seeds) at the end, over that at the start; NaN if it diverged
    converged: bool  # whether every Hessian norm has its residual below the tolerance

    def slope(self, place: int = 0) -> Slope:
        """Of the Hessian norm at a place."""
        return fit_slope(self.widths, self.norms[:, :, place])

    def gap_slope(self, place: int) -> Slope:
        """Of the distance to the linear model at a place."""
        return fit_slope(self.widths, self.gaps[:, :, place])

    def drift_slope(self, widths: np.ndarray | None = None) -> Slope:
        """Of the kernel's drift, against the width or other numbers."""
        return fit_slope(self.widths if widths is None else widths, self.drift)


def labels(seed: int) -> np.ndarray:
    """Labels +1 and -1, half of each."""
    return np.random.default_rng(seed).permutation(np.resize([1.0, -1.0], SAMPLES))


class Effort(NamedTuple):
    """What is measured of a family, and how much."""

    widths: tuple[int, ...]  # values of m
    seeds: int  # starts, and wirings where they are random
    size: int  # number of inputs
    padding: tuple[int, ...]  # sizes of all layers to pad to; () compiles each width by itself
    steps: int  # of training; 0 for none
    places: int = 1  # how many of RADII to look at, the first being the start


def family(name: str, effort: Effort) -> Family:
    """Measure one of `ARCHITECTURES` at every width and seed."""
    padding = effort.padding

    def make(m: int, seed: int) -> tuple[Padded, int]:
        drawn = ARCHITECTURES[name].draw(effort.size, m, seed)
        network = pad(
            drawn.net, padding or None, skips=drawn.skips, bend=drawn.bend, watched=drawn.measured
        )
        # Narrow places keep the width by definition constant: m is then on the axis.
        return network, m if drawn.net.width <= NARROW else drawn.width

    return _measure(make, effort, padding[0] if padding else effort.size)


def convolutional(effort: Effort) -> Family:
    """Measure the convolutional network on a line; its width is the number of channels."""
    widest = max(effort.widths) if effort.padding else None

    def make(m: int, seed: int) -> tuple[Padded, int]:
        return pad_channels(m, effort.size, widest or m), m

    return _measure(make, effort, effort.size)


def _measure(make: Callable[[int, int], tuple[Padded, int]], effort: Effort, padded: int) -> Family:
    x, y = inputs(effort.size, SAMPLES, 0, padded), labels(1)[:, None]
    places = effort.places
    shape = (len(effort.widths), effort.seeds)
    norms, gaps = np.zeros((2, *shape, places))
    drift, loss, found = np.zeros((3, *shape))
    converged = True
    for i, j in np.ndindex(shape):
        network, found[i, j] = make(effort.widths[i], j)
        if places:
            seen = look(network, j, x[0], RADII[:places], TOP[:places])
            norms[i, j], gaps[i, j] = seen.norms, np.abs(seen.values - seen.linear)
            converged &= bool(seen.converged.all())
        if effort.steps:
            run = train(network, j, x, y, effort.steps, max(effort.steps // RECORDS, 1))
            drift[i, j], loss[i, j] = run.drift[-1], run.loss[-1] / run.loss[0]
    widths = np.exp(np.log(found).mean(axis=1))
    return Family(widths, norms, gaps, drift, loss, converged)


def gap_curves(effort: Effort) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """|f - f_lin| and its bound at the distances GRID along the top eigenvector, by width.

    (CURVES seeds, distances) each; the bound is half the largest Hessian norm up to there times the
    squared distance, 004 Cor. 2.3.7.
    """
    padding = effort.padding
    x = inputs(effort.size, SAMPLES, 0, padding[0] if padding else effort.size)[0]
    top = (False, *(True,) * (len(GRID) - 1))
    curves = {}
    for m in effort.widths:
        network = pad(fully_connected((effort.size, m, m, 1)), padding or None)
        seen = [look(network, seed, x, GRID, top) for seed in range(CURVES)]
        gaps = np.abs([v.values - v.linear for v in seen])
        largest = np.maximum.accumulate([v.norms for v in seen], axis=1)
        curves[m] = gaps, largest * np.square(GRID) / 2
    return curves
