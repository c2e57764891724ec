"""Paths in the plane of two concepts: order of learning, bend, error, speed.

A coordinate is 0 where the concept is as in the training cluster without it and 1 where it is as
asked for. All functions are plain numpy on (seed, step, concept).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from dynascope.core.records import Measured
from dynascope.studies.measures import average

SMOOTHING = 1.0  # deviation in checkpoints; the authors' program has 2 of 60
LASTS = 3  # checkpoints at which a concept must be there to be learned
LEAST_READABLE = 0.125  # share of samples that must be readable for a checkpoint to count
CHECKPOINTS, SEEDS = 60, 12  # of paths that are written down
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # the training clusters


class Paths(NamedTuple):
    """How the concept coordinates of generated samples go along training."""

    steps: np.ndarray  # (step,), the untrained network left out
    concepts: np.ndarray  # (seed, step, 2)
    readable: np.ndarray  # (seed, step), share of samples
    learned: float = 0.5  # from which value on a concept is learned

    def smooth(self) -> np.ndarray:
        """The coordinates, smoothed along checkpoints that weigh as much as is readable.

        Before the first checkpoint with enough readable samples they are as there; after the last
        one they are NaN.
        """
        found = np.full_like(self.concepts, np.nan)
        for seed, path in enumerate(self.concepts):
            counts = self.counts(seed)
            if counts.size:
                first, part = counts[0], slice(counts[0], counts[-1] + 1)
                weights = np.broadcast_to(self.readable[seed, part, None], path[part].shape)
                known = np.where(weights > 0, path[part], 0.0) * weights
                with np.errstate(invalid="ignore"):  # a long gap has neither values nor weights
                    found[seed, part] = _filtered(known) / _filtered(weights)
                found[seed, :first] = found[seed, first]
        return found

    def readable_at_last(self) -> np.ndarray:
        """Which seeds can be read at the last checkpoint, (seed,)."""
        return np.isfinite(self.smooth()[:, -1]).all(-1)

    def to_the_end(self) -> np.ndarray:
        """Which seeds are drawn, (seed,): those readable at last, or all where none is."""
        read = self.readable_at_last()
        return read | ~read.any()

    def shown(self) -> Paths:
        """The seeds that can be read to the end."""
        kept = self.to_the_end()
        return self._replace(concepts=self.concepts[kept], readable=self.readable[kept])

    def counts(self, seed: int) -> np.ndarray:
        """The checkpoints with enough readable samples."""
        return np.flatnonzero(self.readable[seed] >= LEAST_READABLE)


def _filtered(values: np.ndarray) -> np.ndarray:
    return gaussian_filter1d(values, SMOOTHING, axis=0, mode="nearest")


def crossings(paths: Paths) -> np.ndarray:
    """Step at which each coordinate first passes `learned` and stays above for a while, (seed, 2).

    For a while means at `LASTS` checkpoints in a row. A coordinate that never does has infinity;
    one that does from the first readable checkpoint on has that checkpoint.

    Example:
        >>> path = np.array([[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]])
        >>> steps = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        >>> t = crossings(Paths(steps, path, np.ones((1, 5))))
        >>> bool(t[0, 1] < t[0, 0])
        True
    """
    smooth, level = paths.smooth(), paths.learned
    found = np.full((len(smooth), 2), np.inf)
    for seed, path in enumerate(smooth):
        first = next(iter(paths.counts(seed)), len(path))  # before it nothing was read
        for concept in (0, 1):
            above = path[first:, concept] >= level
            stays = [i for i in range(len(above) - LASTS + 1) if above[i : i + LASTS].all()]
            if not stays:
                continue
            at = first + stays[0]
            part = slice(max(at - 1, first), at + 1)
            found[seed, concept] = np.interp(level, path[part, concept], paths.steps[part])
    return found


def log_ratios(paths: Paths) -> np.ndarray:
    """log(step of the second concept / step of the first), one a seed; above 0: the first leads.

    A concept that is never learned counts with the last readable checkpoint, one that was learned
    before anything could be read with the first, which both understate the ratio. Where neither
    is learned, or both were before, the order is unknown: NaN.

    Example:
        >>> both = Paths(np.arange(1.0, 9), np.ones((1, 8, 2)), np.ones((1, 8)))
        >>> log_ratios(both)
        array([nan])
    """
    found = crossings(paths)
    never = np.isinf(found)
    readable = [paths.counts(seed) for seed in range(len(found))]
    last = paths.steps[[r[-1] if r.size else -1 for r in readable]]
    found = np.where(never, last[:, None], found)
    unknown = never.all(-1) | (found[:, 0] == found[:, 1])
    return np.where(unknown, np.nan, np.log(found[:, 1] / found[:, 0]))


def over_seeds(values: np.ndarray) -> Measured:
    """Mean over the seeds that have a value."""
    return average(values[np.isfinite(values)])


def order(paths: Paths) -> Measured:
    """Mean log ratio of the steps at which concepts are learned, over seeds with an order."""
    return over_seeds(log_ratios(paths))


def flip(weak: Paths, strong: Paths) -> Measured:
    """How much the log ratio grows from one strength to another, mean over seeds with an order."""
    return over_seeds(log_ratios(strong) - log_ratios(weak))


def bends(paths: Paths) -> np.ndarray:
    """Largest lead of the first concept over the second, less what is left at the end, (seed,)."""
    smooth = paths.smooth()
    lead = np.maximum(smooth[..., 0] - smooth[..., 1], 0)
    return lead.max(-1) - lead[:, -1]


def transient_bend(paths: Paths) -> Measured:
    """Mean bend to the first concept and back, over seeds that can be read to the end."""
    return over_seeds(bends(paths))


def errors(paths: Paths) -> np.ndarray:
    """Concept error: mean over the two axes of (C - 1)^2, (seed, step)."""
    return ((paths.smooth() - 1) ** 2).mean(-1)


def rises(paths: Paths) -> np.ndarray:
    """Largest rise of the concept error after a minimum that a later descent makes good, (seed,).

    Example:
        >>> path = np.array([[[0.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 1.0]]])
        >>> path = np.repeat(path, 8, axis=1)
        >>> bool(rises(Paths(np.arange(32.0), path, np.ones((1, 32))))[0] > 0.2)
        True
    """
    error = errors(paths)
    # Of a place: from the least before it up to it, and from it down to the least after it.
    before = np.minimum.accumulate(error, axis=-1)
    after = np.minimum.accumulate(error[:, ::-1], axis=-1)[:, ::-1]
    return np.minimum(error - before, error - after).max(-1)


def second_descent(paths: Paths) -> Measured:
    """Mean rise of the concept error between two descents, over seeds readable to the end."""
    return over_seeds(rises(paths))


def unreadable_ends(paths: Paths) -> str:
    """How many seeds cannot be read at the end, in words.

    Example:
        >>> unreadable_ends(Paths(np.arange(1.0, 4), np.ones((2, 3, 2)), np.eye(2, 3)))
        'Too few pictures can be read at the last checkpoint in 2 of 2 seeds.'
    """
    gone = ~paths.readable_at_last()
    if not gone.any():
        return ""
    return (
        f"Too few pictures can be read at the last checkpoint in {gone.sum()} of {gone.size} seeds."
    )


def speeds(paths: Paths) -> np.ndarray:
    """|dC / d step| by finite differences, (seed, step)."""
    slope = np.gradient(paths.smooth(), paths.steps, axis=1)
    return np.sqrt((slope**2).sum(-1))


def slow_down(paths: Paths) -> Measured:
    """Mean over seeds of the slope of log speed over the whole of training, from its maximum on.

    The unit is the length of the run: -1 means that the speed falls by a factor e over a run.
    Two checkpoints at either end are left out: smoothing slows every path down there.
    """
    found, steps = [], paths.steps[2:-2]
    for speed in speeds(paths)[:, 2:-2]:
        if not speed.size or np.isnan(speed).any():
            continue
        start = int(speed.argmax())
        later = speed[start:] > 0
        if later.sum() < 3:
            continue
        t = steps[start:][later] / paths.steps[-1]
        found.append(np.polyfit(t, np.log(speed[start:][later]), 1)[0])
    return average(np.array(found))


def arrivals(paths: Paths) -> Measured:
    """Mean over all seeds of the smaller coordinate over the last three checkpoints.

    NaN where the end of one cannot be read: nobody knows whether it arrived.
    """
    return average(paths.concepts[:, -3:].mean(1).min(-1))


def planted(half: tuple[float, float], dip: float = 0.0) -> Paths:
    """Paths that are written down: each coordinate is t^4 / (t^4 + half^4), t from 0 to 1.

    Args:
        half: Where each coordinate passes one half.
        dip: How far the second coordinate falls back in the middle of the run.

    Returns:
        Twelve paths of 60 checkpoints whose half-times differ by 1 % from one to the next.

    Example:
        >>> bool(log_ratios(planted((0.2, 0.6))).min() > 1)
        True
    """
    t = np.linspace(0.02, 1, CHECKPOINTS)
    own = (1 + 0.01 * np.arange(SEEDS)[:, None, None]) * np.asarray(half)
    path = t[:, None] ** 4 / (t[:, None] ** 4 + own**4)
    path[..., 1] -= dip * np.exp(-(((t - 0.65) / 0.1) ** 2))
    return Paths(1000 * t, path, np.ones(path.shape[:2]))


def planted_curve(rate: float) -> Paths:
    """Both coordinates approach 1 exponentially; with a rate of 0 at constant speed."""
    t = np.linspace(0, 1, CHECKPOINTS + 1)[1:]
    curve = t if rate == 0 else np.expm1(-rate * t) / np.expm1(-rate)
    heights = 1 - 0.01 * np.arange(SEEDS)[:, None, None]
    path = np.repeat(heights * curve[:, None], 2, axis=-1)
    return Paths(1000 * t, path, np.ones(path.shape[:2]))
