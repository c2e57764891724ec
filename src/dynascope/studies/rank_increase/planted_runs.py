"""Heads of transformers that nobody trained: weights drawn anew, or changed by planted matrices.

Their spectra go through the same probe and the same reader (`ranks.ranks_of`) as those of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.randomness import key_for
from dynascope.models import Transformer
from dynascope.probes import difference_spectrum
from dynascope.studies.rank_increase.ranks import PRODUCTS, products_of

TIMES = 21  # records of planted changes
Factors = tuple[np.ndarray, np.ndarray]  # left and right, (layer, head, d, d_h) each


class Sizes(NamedTuple):
    """What a network is built for."""

    input_size: int
    output_size: int


class Untrained(NamedTuple):
    """The parts of an experiment that spectra are read with."""

    task: Sizes
    model: Transformer
    seeds: tuple[int, ...] = (0, 1, 2)


def redrawn(own: Untrained) -> xr.Dataset:
    """Weights that are drawn anew instead of trained: the change is of no low rank."""

    def anew(seed: int, product: str, start: Factors) -> Factors:
        left, right = products_of(own.model.build(*own.task).init(key_for(seed, "anew")))[product]
        return np.stack([start[0], left])[None], np.stack([start[1], right])[None]

    accuracy = np.full((1, len(own.seeds), 2), 1 / own.task.output_size)
    return _dataset(own, anew, accuracy, (1.0,))


def made_to_measure(own: Untrained, last: tuple[float, ...], first: float = 1.0) -> xr.Dataset:
    """Changes whose stable ranks go evenly from `first` to `last`; seeds differ by a percent.

    Args:
        own: The network whose heads these are.
        last: Stable rank of the last change for each scale of the start, the largest scale first.
        first: Of the first change.

    Returns:
        21 records, in which the accuracy grows evenly from 0.1 to 0.9.
    """

    def changed(seed: int, product: str, start: Factors) -> Factors:
        tilt = 1 + 0.01 * own.seeds.index(seed)
        goal = first + (np.array(last)[:, None] * tilt - first) * np.linspace(0, 1, TIMES)
        values = spectrum_of(goal, start[1].shape[-1])
        values[:, 0] = 0  # no change yet
        left = start[0] + _left_change(values[:, :, None, None], start)
        return left, np.broadcast_to(start[1], left.shape)

    accuracy = np.broadcast_to(np.linspace(0.1, 0.9, TIMES), (len(last), len(own.seeds), TIMES))
    return _dataset(own, changed, accuracy, tuple(10.0**-k for k in range(len(last))))


def _left_change(values: np.ndarray, start: Factors) -> np.ndarray:
    """What to add to the left factor, so that the product changes by given singular values.

    With the right factor P S Q^T it is U diag(values) S^-1 Q^T: the product changes by
    U diag(values) P^T, for any orthonormal columns U; here those of the left factor.
    """
    columns = np.linalg.qr(start[0])[0]
    _, scale, turn = np.linalg.svd(start[1], full_matrices=False)
    return (columns * (values / scale)[..., None, :]) @ turn


def spectrum_of(rank: np.ndarray, size: int) -> np.ndarray:
    """Singular values 1, q, q^2, ... whose squares add to a stable rank, (..., size).

    Without an end they add to 1 / (1 - q^2), and `size` of them to a little less.

    Example:
        >>> found = spectrum_of(np.array([1.0, 2.0]), 32)
        >>> found[0, :2].tolist(), round(float((found[1] ** 2).sum()), 6)
        ([1.0, 0.0], 2.0)
    """
    ratio = np.sqrt(1 - 1 / np.asarray(rank, float))
    return ratio[..., None] ** np.arange(size)


def _dataset(
    own: Untrained, change: Callable[[int, str, Factors], Factors], accuracy: np.ndarray,
    scales: tuple[float, ...],
) -> xr.Dataset:  # fmt: skip
    """The spectra of changes of every seed's heads, in the form of a run's."""
    network = own.model.build(*own.task)
    spectra: dict[str, list] = {p: [] for p in PRODUCTS}
    for seed in own.seeds:
        for p, factors in products_of(network.init(key_for(seed, "init"))).items():
            left, right = (np.asarray(f, np.float32) for f in factors)
            new = change(seed, p, (left, right))
            start = (np.broadcast_to(f, n.shape) for f, n in zip((left, right), new, strict=True))
            spectra[p].append(difference_spectrum(*new, *start))
    axes = ("model.init_scale", "seed", "step")
    found = {p: ((*axes, "layer", "head", "rank"), np.stack(v, 1)) for p, v in spectra.items()}
    return xr.Dataset(
        {"test_set_accuracy": (axes, np.asarray(accuracy)), **found},
        {"model.init_scale": list(scales), "step": np.arange(np.shape(accuracy)[-1])},
    )
