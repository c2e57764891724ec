"""The peak of the minor entry: where it is, where suppression starts, and planted ones."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dynascope.core.run import Run
from dynascope.studies.swing_by.jacobian_stages.growth import strengths
from dynascope.studies.swing_by.jacobian_stages.runs import Settings, by, study
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.entry_flow import suppression_threshold


def at_peak(run: Run, share: float = 1.0) -> np.ndarray:
    """W at the moment at which |w12| is largest, or on a share of the way there."""
    w = run["input_jacobian"].values[0]
    return w[int(share * np.abs(w[:, 0, 1]).argmax())]


class Peak(NamedTuple):
    """W at the peak of |w12|, and the two signals."""

    jacobian: np.ndarray
    weak: float
    strong: float


def _peaks(found: Iterable[Run], share: float = 1.0) -> list[Peak]:
    return [Peak(at_peak(run, share), *signal(run.experiment.task)) for run in found]


@study.finding(by)
def peaks(s: Settings, by: dict[str, dict[float, Run]]) -> dict[str, list[Peak]]:
    """Peaks of w12: from all starts and signals, half-way to them, and by strong mean."""
    every = [*by["correlation"].values(), *by["mean"].values()]
    means = by["mean"].values()
    return {"all": _peaks(every), "half-way": _peaks(every, 0.5), "means": _peaks(means)}


@study.finding(by["mean"])
def planted_peaks(s: Settings, by_mean: dict[float, Run]) -> list[Peak]:
    """Peaks of planted minor entries."""
    return _peaks(planted_peak(run) for run in by_mean.values())


def planted_peak(run: Run) -> Run:
    """w22 grows from 0 to 1, w11 not at all, w12 peaks at the threshold for these signals."""
    weak, strong = strengths(run)
    along = np.linspace(0, 1, run.sizes["step"])
    w = np.zeros(run["input_jacobian"].shape)
    w[..., 1, 1] = along
    level = 2 * (strong + weak) / (3 * strong + weak)
    w[..., 0, 1] = w[..., 1, 0] = 0.1 * np.exp(-50 * (along - level) ** 2)
    return run.planted(input_jacobian=w)


@study.finding(peaks)
def levels(s: Settings, peaks: dict[str, list[Peak]]) -> dict[str, list[float]]:
    """Where suppression starts for each strong mean: as derived, and as in lemma D.7."""
    found = [float(suppression_threshold(p.strong, p.weak)) for p in peaks["means"]]
    return {"derived": found, "lemma D.7": [0.8] * len(found)}


@study.finding(by["mean"])
def planted_minors(s: Settings, by_mean: dict[float, Run]) -> dict[float, Run]:
    """A minor entry that stays where signals differ by less than a factor 3, else falls."""
    found = {}
    for mean, run in by_mean.items():
        weak, strong = strengths(run)
        w = np.zeros(run["input_jacobian"].shape)
        stays = np.linspace(0, 0.2, run.sizes["step"])
        w[..., 0, 1] = stays if strong < 3 * weak else stays[::-1]
        found[mean] = run.planted(input_jacobian=w)
    return found
