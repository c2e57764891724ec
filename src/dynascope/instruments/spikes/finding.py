"""Spikes of a noisy curve: where it leaves its own level by more than its noise.

The level at a step is the median of the steps before. What is compared is the logarithm of the loss
over that level, so that a spike is a factor, late in training as early. The threshold is
measured on the curve: Gaussian noise of its size passes it anywhere in one curve of a hundred, and
it lies beyond the deepest move down, which tells how heavy the tails are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import median_filter
from scipy.special import ndtri

from dynascope.core.errors import bad

WINDOW = 21  # steps whose median is the level
NEAR = 201  # steps over which noise is taken to be the same
FALSE_ALARM = 0.01  # accepted chance that noise alone makes a spike somewhere
MARGIN = 1.25  # over the deepest move down, by which a spike must stand out
LEAST = 1.2  # factor above the level below which nothing is called a spike
FEWEST = 8  # rows before a spike that a level needs
MAD = 1.4826  # deviation of a Gaussian over its median absolute deviation


@dataclass(frozen=True)
class Spike:
    """An excursion of the loss; indices count rows of the log."""

    start: int  # the last row before it
    peak: int
    end: int  # the first row back at the level; the last row if there is none
    before: float  # the level
    top: float
    threshold: float  # factor over the level that had to be passed here
    recovers: bool


def find_spikes(loss: ArrayLike, *, least: float = LEAST) -> list[Spike]:
    """The spikes of a training loss that may be noisy, such as that of batches.

    Args:
        loss: One value a row, all above 0 but for rows that are NaN or infinite: these
            count as infinitely high, so that a run that blew up ends in a spike.
        least: Smallest factor above the level that is called a spike.

    Returns:
        The spikes in order. Where fewer than `FEWEST` rows come before, there is no level and no
        spike.

    Rates of false alarms and of misses are measured in `tests/instruments/test_spikes.py`.

    Example:
        >>> loss = 2.0 ** -np.linspace(0, 4, 60)
        >>> loss[30:33] *= 10
        >>> [(s.start, s.peak, s.end, s.recovers) for s in find_spikes(loss)]
        [(29, 30, 33, True)]
    """
    values = np.asarray(loss, float)
    if values.ndim != 1 or len(values) < 2:
        raise bad("loss", values.shape, "at least two values, one a row")
    if not least > 1:
        raise bad("least", least, "a factor above 1")
    known = values[np.isfinite(values)]
    if not len(known):
        raise bad("loss", "no finite value", "a curve with numbers in it")
    if known.min() <= 0:
        raise bad("loss", float(known.min()), "values above 0", "spikes are told as factors")
    logs = np.log(np.where(np.isfinite(values), values, known.max() * 1e3))
    level = _level(logs)
    excess = logs - level
    drift = _near(excess)  # below 0 where the curve falls
    noise = MAD * _near(np.abs(excess - drift))  # spikes hardly move a median
    floor = np.full(len(logs), np.log(least))
    first = np.maximum(floor, drift - ndtri(FALSE_ALARM / len(logs)) * noise)
    depth = _depth(excess - drift, noise, _excursions(logs, values, level, first))
    return _excursions(logs, values, level, np.maximum(first, drift + MARGIN * depth * noise))


def _depth(moves: np.ndarray, noise: np.ndarray, found: list[Spike]) -> float:
    """The largest move down, in units of the noise, away from what may be spikes.

    Noise goes as far up as down, spikes only go up: so this tells how heavy its tails are.
    """
    away = np.ones(len(moves), bool)
    for spike in found:
        away[max(spike.start, 0) : spike.end + WINDOW + 1] = False
    away &= noise > 0
    return float(max((-moves[away] / noise[away]).max(initial=0.0), 0.0))


def _level(logs: np.ndarray) -> np.ndarray:
    """The median of the rows before each, up to WINDOW of them."""
    window = min(WINDOW, len(logs) // 2 * 2 - 1)
    behind = median_filter(logs, window, mode="nearest", origin=window // 2)
    level = np.concatenate([logs[:1], behind[:-1]])
    for i in range(1, min(window, len(logs))):  # near the start there are fewer
        level[i] = np.median(logs[:i])
    return level


def _near(values: np.ndarray) -> np.ndarray:
    window = min(NEAR, len(values) // 2 * 2 - 1)
    return median_filter(values, window, mode="reflect")


def _excursions(
    logs: np.ndarray, values: np.ndarray, level: np.ndarray, threshold: np.ndarray
) -> list[Spike]:
    """From the first row above the threshold to the first row back within half of it."""
    over = np.flatnonzero((logs - level > threshold) & (np.arange(len(logs)) >= FEWEST))
    found, free = [], 0
    for first in over:
        if first < free:
            continue
        height, limit = level[first], threshold[first]
        back = np.flatnonzero(logs[first:] <= height + limit / 2)
        end = first + int(back[0]) if len(back) else len(logs) - 1
        peak = first + int(np.argmax(logs[first : end + 1]))
        found.append(
            Spike(int(first) - 1, int(peak), int(end), float(np.exp(height)), float(values[peak]),
                  float(np.exp(limit)), bool(len(back)))
        )  # fmt: skip
        free = int(end) + 1
    return found
