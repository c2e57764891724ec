"""Detectors for any logged curve: bumps, descents and ascents, noise, terminal rate.

Plain numpy. Sizes are shares of the curve's first value, so that 0.002 means 0.2% of the
loss before training. A detector of turning points is only as good as the noise allows:
`descents(..., threshold="noise")` measures the noise first, and `false_positives` measures
how often each detector sees something in curves that have nothing to see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dynascope.core.errors import bad

SMALLEST = 0.002
"""Turns below this share of the first value are not counted, unless asked otherwise."""

_WINDOW = 101  # samples over which noise is taken to be the same
_DOUBT = 1.3  # the noise level is known to 15% from one window: two standard errors
_ERROR_RATE = 0.01  # accepted chance of a false turn on a noisy plateau of the curve's length


def bump(curve: ArrayLike) -> np.ndarray:
    """Largest rise after a running minimum, as share of the first value.

    Args:
        curve: Values, (..., time); leading axes are seeds and sweeps.

    Returns:
        max over t1 < t2 of (l(t2) - l(t1)) / l(0), (...); 0 for a curve that never rises.

    Example:
        >>> float(bump([4.0, 1.0, 2.0, 0.0]))
        0.25
    """
    values = _checked(curve)
    first = values[..., 0]
    if (first <= 0).any():
        raise bad("curve", float(np.min(first)), "a first value above zero, to compare with")
    return (values - np.minimum.accumulate(values, axis=-1)).max(axis=-1) / first


def _checked(curve: ArrayLike) -> np.ndarray:
    values = np.asarray(curve, float)
    if values.ndim == 0 or not values.shape[-1]:
        raise bad("curve", values.shape, "at least one value")
    if not np.isfinite(values).all():
        raise bad("curve", "NaN or infinity", "finite numbers", "cut the curve where it diverged")
    return values


@dataclass(frozen=True)
class Turn:
    """A turning point; `index` counts samples."""

    index: int
    time: float
    value: float
    kind: Literal["start", "minimum", "maximum", "end"]


@dataclass(frozen=True)
class Leg:
    """A stretch between two turning points; `size` is a share of the first value."""

    kind: Literal["descent", "ascent"]
    start: Turn
    end: Turn
    size: float


@dataclass(frozen=True)
class Descents:
    """Turning points of a curve and the legs between them; `threshold` is what was ignored."""

    turns: tuple[Turn, ...]
    legs: tuple[Leg, ...]
    threshold: float  # share of the first value; where noise varies, its largest

    @property
    def n_descents(self) -> int:
        """How many legs go down: 1 for a monotone curve, 0 for a constant one."""
        return sum(leg.kind == "descent" for leg in self.legs)

    @property
    def ascents(self) -> tuple[Leg, ...]:
        """The legs that go up."""
        return tuple(leg for leg in self.legs if leg.kind == "ascent")


def descents(
    curve: ArrayLike,
    times: ArrayLike | None = None,
    threshold: float | Literal["noise"] = SMALLEST,
) -> Descents:
    """Descents and ascents of one curve, with size and time of each.

    A turn counts once the curve has come back from its extreme by more than the threshold.

    Args:
        curve: Values, (time,).
        times: When they were taken; sample numbers if None.
        threshold: Share of the first value, or "noise": at least 0.2% and at least what
            `noise_threshold` finds around each place.

    Returns:
        The turning points and legs.

    Example:
        >>> found = descents([4.0, 1.0, 2.0, 0.0])
        >>> found.n_descents, [leg.size for leg in found.legs]
        (2, [0.75, 0.25, 0.5])
    """
    y = _checked(curve)
    if y.ndim != 1:
        raise bad("curve", y.shape, "one curve", "use count_descents for many")
    t = np.arange(len(y), dtype=float) if times is None else np.asarray(times, float)
    if t.shape != y.shape:
        raise bad("times", t.shape, f"one time per value, {y.shape}")
    ignored = ignored_size(y, threshold)
    places = _turning_places(y.tolist(), ignored.tolist())
    turns = _turns(y, t, places)
    scale = abs(float(y[0]))
    legs = tuple(_leg(a, b, scale) for a, b in pairwise(turns))
    return Descents(turns, legs, float(ignored.max() / scale) if scale else 0.0)


def count_descents(curves: ArrayLike, threshold: float | Literal["noise"] = SMALLEST) -> np.ndarray:
    """Number of descents of many curves, (..., time) to (...).

    Example:
        >>> count_descents([[4.0, 1.0, 2.0, 0.0], [4.0, 3.0, 2.0, 1.0]]).tolist()
        [2, 1]
    """
    values = _checked(curves)
    flat = values.reshape(-1, values.shape[-1])
    counts = [descents(curve, threshold=threshold).n_descents for curve in flat]
    return np.array(counts, int).reshape(values.shape[:-1])


def ignored_size(
    y: np.ndarray, threshold: float | Literal["noise"], scale: float | None = None
) -> np.ndarray:
    """Absolute size of the moves that a threshold ignores around each sample, (time,).

    Args:
        y: Values, (time,).
        threshold: As in `descents`.
        scale: What shares are shares of; the first value if None.

    Returns:
        The size, in units of the values.
    """
    scale = abs(float(y[0])) if scale is None else scale
    if threshold == "noise":
        return np.maximum(SMALLEST * scale, noise_threshold(y))
    if isinstance(threshold, str) or not threshold >= 0:
        raise bad("threshold", threshold, 'a share that is not negative, or "noise"')
    return np.full(len(y), threshold * scale)


def _turning_places(y: list[float], ignored: list[float]) -> list[int]:
    """Indices of the extremes of a zig-zag that ignores small moves; empty if there is none."""
    places: list[int] = []
    high = low = direction = 0
    for i, value in enumerate(y):
        high = i if value > y[high] else high
        low = i if value < y[low] else low
        if direction >= 0 and y[high] - value > max(ignored[high], ignored[i]):
            places.append(high)
            direction, low = -1, i
        elif direction <= 0 and value - y[low] > max(ignored[low], ignored[i]):
            places.append(low)
            direction, high = 1, i
    if direction:
        places.append(high if direction > 0 else low)
    return places


def _turns(y: np.ndarray, t: np.ndarray, places: list[int]) -> tuple[Turn, ...]:
    def kind(n: int) -> Literal["start", "minimum", "maximum", "end"]:
        if n in (0, len(places) - 1):
            return "start" if n == 0 else "end"
        return "minimum" if y[places[n]] < y[places[n - 1]] else "maximum"

    return tuple(Turn(i, float(t[i]), float(y[i]), kind(n)) for n, i in enumerate(places))


def _leg(start: Turn, end: Turn, scale: float) -> Leg:
    change = end.value - start.value
    size = abs(change) / scale if scale else math.inf
    return Leg("descent" if change < 0 else "ascent", start, end, size)


def noise_level(curve: ArrayLike) -> np.ndarray:
    """Standard deviation of the curve's own high-frequency noise around each sample.

    From third differences, which a smooth curve hardly has: for white noise they have
    variance 20 sigma^2, and the median of their absolute values in a window of 101 samples is
    0.6745 sqrt(20) sigma. Misleads when the noise is correlated over samples, as that of
    stochastic gradients is (it then looks smaller than it is; thin the curve first), or when
    the curve is sampled so coarsely that its own bends look like noise.

    Args:
        curve: Values, (time,).

    Returns:
        The noise, (time,); 0 for curves shorter than 4 samples.
    """
    y = _checked(curve)
    if len(y) < 4:
        return np.zeros(len(y))
    from scipy.ndimage import median_filter  # a tenth of a second, and few runs need it

    jumps = np.abs(np.diff(y, 3))
    half = (min(_WINDOW, len(jumps)) - 1) // 2
    inner = median_filter(jumps, size=2 * half + 1)[half : len(jumps) - half]
    ends = half + 1, len(y) - len(inner) - half - 1  # near the ends, the last full window
    return np.pad(inner, ends, mode="edge") / (0.6745 * 20**0.5)


def noise_threshold(curve: ArrayLike) -> np.ndarray:
    """Size of a turn that noise alone makes with a chance of at most 1% per curve, (time,).

    n white-noise samples on a plateau stay within +-z sigma with a chance of 99% for
    z = the normal quantile at 1 - 0.01 / (2 n); their range then stays within 2 z sigma. A
    factor 1.3 covers the doubt about sigma itself.
    """
    level = noise_level(curve)
    return -2 * float(ndtri(_ERROR_RATE / (2 * len(level)))) * _DOUBT * level


@dataclass(frozen=True)
class TerminalRate:
    """Exponential rate of a curve's tail (positive for decay), its standard error, samples used.

    The error is that of least squares with independent residuals; a tail that still bends is
    less certain than it says.
    """

    rate: float
    error: float
    samples: int


def terminal_rate(
    curve: ArrayLike, times: ArrayLike, tail: float = 0.25, floor: float = 1e-12
) -> TerminalRate:
    """Fit exp(-rate t) to the end of a curve, by least squares on its logarithm.

    Args:
        curve: Values, (time,).
        times: When they were taken, (time,).
        tail: Share of the samples that is fitted.
        floor: The curve counts as ended where it first falls to this share of its first value,
            before it drowns in round-off.

    Returns:
        Rate and standard error.

    Example:
        >>> t = np.linspace(0, 4, 41)
        >>> round(terminal_rate(3 * np.exp(-0.5 * t), t).rate, 9)
        0.5
    """
    y, t = _checked(curve), np.asarray(times, float)
    if y.ndim != 1 or t.shape != y.shape:
        raise bad("times", t.shape, f"one time per value of one curve, {y.shape}")
    if not 0 < tail <= 1:
        raise bad("tail", tail, "a share above 0 and at most 1")
    ended = np.flatnonzero(y <= floor * y[0])
    stop = int(ended[0]) if ended.size else len(y)
    begin = stop - math.ceil(tail * stop)
    if stop - begin < 3:
        raise bad("curve", f"{stop - begin} positive samples in the tail", "at least 3")
    return _log_slope(t[begin:stop], np.log(y[begin:stop]))


def _log_slope(t: np.ndarray, logs: np.ndarray) -> TerminalRate:
    centred = t - t.mean()
    spread = float(centred @ centred)
    slope = float(centred @ logs) / spread
    residual = logs - logs.mean() - slope * centred
    variance = float(residual @ residual) / (len(t) - 2)
    return TerminalRate(-slope, math.sqrt(variance / spread), len(t))
