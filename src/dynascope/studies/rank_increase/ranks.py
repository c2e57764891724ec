"""What the studies of trained transformers measure; planted cases are in `planted_runs`.

The text of boix2023 prints no numbers, so the bounds are what its sentences say: lower than at the
start, lower for smaller starts, rising. E19: Adam's first steps have the signs of the gradient,
which are not of low rank; a rise is looked for from the minimum on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from dynascope.core.randomness import key_for
from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.models.transformer import head_maps
from dynascope.probes import Probe, ProductSpectrum, TestSetAccuracy, product_spectrum
from dynascope.studies import Missing, average, average_share

PRODUCTS = {"kq": "W_K W_Q^T", "vo": "W_V W_O^T"}
LEAST_LEFT = 5  # records from the minimum on; with fewer there is no rise to speak of
SHARE_OF_ACCURACY = 0.95  # of what the slower of two runs reaches: where they are compared
ABOVE_CHANCE = 1.5  # times chance: below it an equal accuracy says nothing


def probes() -> tuple[Probe, ...]:
    """What every run of these studies records."""
    change = [ProductSpectrum(name, name=name) for name in PRODUCTS]  # type: ignore[arg-type]
    return (TestSetAccuracy(), *change)


class Ranks(NamedTuple):
    """Spectra of all runs of an experiment, by product; the largest singular value first."""

    steps: np.ndarray  # (time,)
    scales: tuple[float, ...]  # of the start, the largest first
    chance: float  # accuracy without learning
    accuracy: np.ndarray  # (scale, seed, time)
    start: dict[str, np.ndarray]  # (scale, seed, layer, head, d_h), of the products themselves
    change: dict[str, np.ndarray]  # (scale, seed, time, layer, head, 2 d_h), since the start
    samples: int = 0  # that were trained on

    def of_change(self, product: str) -> np.ndarray:
        """Stable ranks of the change, (scale, seed, time, layer, head); nan before any."""
        return stable(self.change[product])

    def of_start(self, product: str) -> np.ndarray:
        """Stable ranks of the product at the start, (scale, seed, layer, head)."""
        return stable(self.start[product])


def stable(spectra: np.ndarray) -> np.ndarray:
    """Stable ranks of spectra, in numpy; nan for zero."""
    squares = np.square(spectra.astype(float))
    with np.errstate(invalid="ignore"):
        return squares.sum(-1) / squares.max(-1)


def ranks_of(run: Run) -> Ranks:
    """The spectra of a run over scales of the start, seeds and steps."""
    scales = tuple(float(v) for v in run["model.init_scale"].values)
    task, model = run.experiment.task, run.experiment.model
    starts: dict[str, list] = {p: [] for p in PRODUCTS}
    for scale in scales:  # the same draws as the engine's
        one = replace(model, init_scale=scale).build(task.input_size, task.output_size)
        seeds = [products_of(one.init(key_for(seed, "init"))) for seed in run.experiment.seeds]
        for p in PRODUCTS:
            starts[p].append([np.asarray(product_spectrum(*maps[p])) for maps in seeds])
    return Ranks(
        run["step"].values, scales, 1 / task.output_size,
        run["test_set_accuracy"].values,
        {p: np.array(values) for p, values in starts.items()},
        {p: run[p].values for p in PRODUCTS},
        _sample_count(task),
    )  # fmt: skip


def _sample_count(task: Any) -> int:
    """How many samples a run was trained on; none for planted ones."""
    if not hasattr(task, "samples"):
        return 0
    return jax.tree.leaves(jax.eval_shape(task.samples, key_for(0, "data")))[0].shape[0]


def products_of(params: Any) -> dict[str, tuple]:
    """Both factors of both products of every head."""
    maps = head_maps(params)
    return {"kq": (maps.key, maps.query), "vo": (maps.value, maps.output)}


def worst_layer(ranks: Ranks, product: str) -> Measured:
    """Stable rank of the last change over that of the start, in the layer where it is largest.

    Both are means over the heads of a layer; at the first scale of the start; one number a seed.
    """
    change = ranks.of_change(product)[0, :, -1].mean(-1)  # (seed, layer)
    return average((change / ranks.of_start(product)[0].mean(-1)).max(-1))


def decays_faster(ranks: Ranks, product: str) -> Measured:
    """Share of ranks from the second on at which the change's normalised spectrum is lower.

    Up to the rank of the start's own product; spectra over their largest, mean over all heads.
    """
    start, change = ranks.start[product][0], ranks.change[product][0, :, -1]
    size = start.shape[-1]
    over = [np.asarray(s / s[..., :1]).mean((1, 2)) for s in (start, change[..., :size])]
    lower = (over[1] < over[0])[:, 1:]
    return average_share(lower.mean(-1), np.full(len(lower), lower.shape[1]))


def smaller_start(ranks: Ranks, product: str, small: int = -1) -> Measured:
    """Stable rank of the last change from the smaller start over that from the larger one.

    Mean over all heads, after equally many steps; one number a seed.
    """
    last = ranks.of_change(product)[:, :, -1].mean((-1, -2))  # (scale, seed)
    return average(last[small] / last[0])


def smaller_start_at_accuracy(ranks: Ranks, product: str, small: int = -1) -> Measured | Missing:
    """Stable rank of the change from the smaller start over that from the larger, at one accuracy.

    Where both have first reached the same test accuracy, 95 % of what both reach.
    """
    both = ranks.accuracy[[0, small]]  # (2, seed, time)
    level = SHARE_OF_ACCURACY * both.max(-1).min(0)  # (seed,)
    if (level < ABOVE_CHANCE * ranks.chance).any():
        return Missing(
            f"the start times {ranks.scales[small]:g} has learned too little to compare at equal "
            f"accuracy: {level.min():.2f}, chance is {ranks.chance:.2f}"
        )
    when = (both >= level[:, None]).argmax(-1)  # (2, seed)
    mean = ranks.of_change(product).mean((-1, -2))[[0, small]]  # (2, seed, time)
    then = np.take_along_axis(mean, when[..., None], -1)[..., 0]
    return average(then[1] / then[0])


def rise(ranks: Ranks, product: str) -> Measured:
    """Rank correlation of step and stable rank from the minimum on; one number a seed.

    Mean over all heads, at the first scale of the start. A curve whose minimum lies among its
    last records falls to the end: -1.
    """
    from scipy.stats import spearmanr  # slow to load

    curves = ranks.of_change(product)[0, :, 1:].mean((-1, -2))  # (seed, time): 0 / 0 left out
    found = []
    for curve in curves:
        rest = curve[int(np.argmin(curve)) :]
        enough = len(rest) >= LEAST_LEFT
        found.append(spearmanr(np.arange(len(rest)), rest).statistic if enough else -1.0)
    return average(np.array(found))
