"""Catapults in recorded curves: which criteria of the definition each spike meets.

zhu2024 section 4.2: a drastic increase and then a fast decrease of the training loss, triggered by
a rate above the critical one, with a decrease of the tangent kernel's norm. Plain numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.probes.batch_steps import MARGIN

SPIKE = 2.0  # peak over the loss before, from which on a rise is a spike


@dataclass(frozen=True)
class Catapult:
    """A spike of the loss and what is known of it; indices count recorded values.

    None stands for what was not recorded, or cannot be told.
    """

    start: int  # the lowest value before the rise
    peak: int
    end: int  # the first value below that of the start; the last index if there is none
    before: float
    top: float
    recovers: bool  # whether the loss fell below its value before
    crosses: bool | None  # whether the rate exceeded the critical one between start and peak
    kernel_drop: float | None  # share of its norm that the kernel lost from start to end
    top_share: float | None  # share of the rise that lies in the top eigenspace

    @property
    def met(self) -> dict[str, bool | None]:
        """Every criterion by name; the top eigenspace must hold half of the rise."""
        drop, share = self.kernel_drop, self.top_share
        return {
            "spike": True,
            "recovers": self.recovers,
            "crosses": self.crosses,
            "kernel drops": None if drop is None else drop > 0,
            "in the top eigenspace": None if share is None else share >= 0.5,
        }

    @property
    def is_catapult(self) -> bool:
        """Whether it recovers and everything that was recorded agrees."""
        return all(value is not False for value in self.met.values())


def catapults(
    loss: ArrayLike,
    rate: ArrayLike | None = None,
    critical: ArrayLike | None = None,
    kernel: ArrayLike | None = None,
    top_loss: ArrayLike | None = None,
    *,
    spike: float = SPIKE,
) -> list[Catapult]:
    """The spikes of a loss that is recorded without noise, such as that of the whole training set.

    Args:
        loss: The curve; it ends at the first value that is not finite.
        rate: Learning rate of every recorded step, or one for all.
        critical: Critical rate of every recorded step.
        kernel: Norm of the tangent kernel, as often.
        top_loss: The loss within the kernel's top eigenspace, as often.
        spike: Peak over the loss before, from which on a rise counts.

    Returns:
        The spikes in order, each with its criteria. Curves of batch losses are noisy: for them
        see `instruments.find_spikes`.

    Example:
        >>> loss, kernel = [1.0, 3.0, 5.0, 0.5, 0.4], [9.0, 9.0, 6.0, 4.0, 4.0]
        >>> (found,) = catapults(loss, 0.5, [0.3, 0.3, 0.4, 0.6, 0.6], kernel)
        >>> found.peak, found.end, found.crosses, round(found.kernel_drop, 3), found.is_catapult
        (2, 3, True, 0.556, True)
    """
    curve = np.asarray(loss, float)
    if curve.ndim != 1 or not len(curve):
        raise bad("loss", curve.shape, "one curve of at least one value")
    if not spike > 1:
        raise bad("spike", spike, "a number above 1")
    finite = np.isfinite(curve)
    curve = curve[: len(curve) if finite.all() else int(np.argmin(finite))]
    rates = None if rate is None else np.broadcast_to(np.asarray(rate, float), np.shape(loss))
    others = [
        None if v is None else _like(name, v, np.shape(loss))
        for name, v in (("critical", critical), ("kernel", kernel), ("top_loss", top_loss))
    ]
    return [_told(curve, *found, rates, *others) for found in _spikes(curve, spike)]


def _like(name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(values, float)
    if array.shape != shape:
        raise bad(name, array.shape, f"as many values as the loss has, {shape}")
    return array


def _spikes(curve: np.ndarray, spike: float) -> list[tuple[int, int, int, bool]]:
    """(start, peak, end, recovers) of every excursion above `spike` times the lowest so far.

    The lowest is counted anew from where the last excursion ended.
    """
    found, low, i = [], 0, 0
    while i < len(curve):
        if curve[i] <= curve[low]:
            low = i
        elif curve[i] > spike * curve[low]:
            back = np.flatnonzero(curve[i:] < curve[low])
            end = i + int(back[0]) if len(back) else len(curve) - 1
            peak = low + int(np.argmax(curve[low : end + 1]))
            found.append((low, peak, end, bool(len(back))))
            low = i = end
        i += 1
    return found


def _told(
    curve: np.ndarray, start: int, peak: int, end: int, recovers: bool,
    rate: np.ndarray | None, critical: np.ndarray | None, kernel: np.ndarray | None,
    top: np.ndarray | None,
) -> Catapult:  # fmt: skip
    """The criteria of one spike, of what was recorded."""
    crosses = drop = share = None
    if rate is not None and critical is not None:
        crosses = crossed(rate[start : peak + 1], critical[start : peak + 1])
    if kernel is not None and np.isfinite(kernel[[start, end]]).all() and kernel[start] > 0:
        drop = float(1 - kernel[end] / kernel[start])
    if top is not None and np.isfinite(top[[start, peak]]).all():
        share = float((top[peak] - top[start]) / (curve[peak] - curve[start]))
    before, above = float(curve[start]), float(curve[peak])
    return Catapult(start, peak, end, before, above, recovers, crosses, drop, share)


def crossed(rate: ArrayLike, critical: ArrayLike) -> bool | None:
    """Whether a rate was above the critical one at any step.

    Args:
        rate: Of every step.
        critical: Of every step; NaN where it is not known. An infinite one is never crossed.

    Returns:
        None where no known step crosses and some are not known.

    Example:
        >>> crossed([1.0, 1.0], [0.5, np.nan]), crossed([1.0, 1.0], [np.inf, np.nan])
        (True, None)
    """
    rates, limits = np.asarray(rate, float), np.asarray(critical, float)
    if (rates > limits).any():
        return True
    return None if (np.isnan(rates) | np.isnan(limits)).any() else False


def count_supercritical(
    rate: ArrayLike, critical: ArrayLike, until: int | None = None, *, margin: float = MARGIN
) -> int:
    """Steps whose rate exceeds the critical one of their batch: zhu2024's number of catapults.

    Args:
        rate: Of every step, or one for all.
        critical: Of every step's batch.
        until: Only so many steps, such as those up to the best validation loss.
        margin: By which it must be exceeded.

    Example:
        >>> count_supercritical(1.0, [2.0, 0.9, 0.5, 3.0, 0.1], until=4)
        2
    """
    limits = np.asarray(critical, float)
    over = np.broadcast_to(np.asarray(rate, float), limits.shape) - limits > margin
    return int(over[:until].sum())


def match_rate(rises: ArrayLike, rate: ArrayLike, critical: ArrayLike) -> float:
    """Share of the steps on which the loss rose that had a rate above critical (Table 4.2).

    Args:
        rises: By how much the loss rose on every step; negative where it fell. Of the whole
            training set, or of the step's batch: the two rates differ widely.
        rate: Learning rate of every step, or one for all.
        critical: Critical rate of every step's batch.

    Returns:
        From 0 to 1; NaN where the loss never rose, and nothing can match.

    Example:
        >>> match_rate([0.1, -0.2, 0.3, 0.1], 1.0, [0.5, 0.5, 0.5, 2.0])  # two of three
        0.6666666666666666
    """
    change = np.asarray(rises, float)
    limits = _like("critical", critical, change.shape)
    up = change > 0
    over = np.broadcast_to(np.asarray(rate, float), change.shape) > limits
    return float(over[up].mean()) if up.any() else float("nan")
