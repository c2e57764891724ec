"""Curves of a panel over learning rates, and planted ones whose answer is known."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.studies.catapult.quadratic_generalization.settings import Setting
from dynascope.studies.catapult.quadratic_generalization.starts import Curve

RATE = "dynamics.learning_rate"
PARTED = 0.1  # by which a planted test loss is larger


class Sweep(NamedTuple):
    """What was found on one panel."""

    title: str
    setting: Setting
    ratio: np.ndarray  # (rates, seeds) learning rate over the seed's critical rate
    critical: np.ndarray  # (seeds,)
    curves: dict[str, Curve]  # "network", "quadratic", "linear", each (rates, seeds, looks)


Rates = dict[tuple[int, ...], tuple[float, ...]]  # by the seeds that share them
Starts = dict[int, tuple[float, Curve]]  # by seed: critical rate, linear model


def criticals(starts: Starts) -> dict[int, float]:
    """Critical rates by seed."""
    return {seed: critical for seed, (critical, _) in starts.items()}


def curve_of(groups: list[Any]) -> Curve:
    """Loss, test loss and accuracy of groups of seeds as one curve.

    Args:
        groups: Runs, or curves (rates, looks) of one seed each.

    Returns:
        Arrays (rates, seeds, looks).
    """
    names = ("loss", "test_set_loss", "test_set_accuracy")
    parts = [
        [part[:, None] for part in group] if isinstance(group, Curve)
        else [group[name].transpose(RATE, "seed", "step").values for name in names]
        for group in groups
    ]  # fmt: skip
    return Curve(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))


def planted_run(run: Run, critical: dict[int, float], diverges: bool) -> Run:
    """A run that gains past the critical rate, or one that diverges there as linear models do.

    The training loss falls from 1 like a power of the rate; the test loss is half of it over a
    floor of 0.5, which sinks to 0.4 along with it past the critical rate. So at equal training
    loss, once that is low, and in the end, the test loss is lower past the critical rate, and
    accuracy is higher by 0.05; at a training loss of 1 nothing is gained.
    """
    own = xr.DataArray([critical[int(seed)] for seed in run["seed"]], dims="seed")
    ratio, along = run[RATE] / own, run["step"] / float(run["step"][-1])
    past = (ratio > 1).astype(float)
    loss = np.exp((80 * past - 40 if diverges else -40) * ratio * along)
    left = loss.clip(0, 1)
    values: dict[str, Any] = {
        "loss": loss, "test_set_loss": 0.5 - 0.1 * past * (1 - left) + loss / 2,
        "test_set_accuracy": 0.9 + 0.05 * past * (1 - left) - 0.3 * left,
    }  # fmt: skip
    return run.planted(**{k: v.transpose(*run[k].dims).values for k, v in values.items()})


def part(run: Run, rate: int) -> Run:
    """The run with a larger test loss at one of its rates."""
    test = run["test_set_loss"].copy()
    test[{RATE: rate}] *= 1 + PARTED
    return run.planted(test_set_loss=test.values)
