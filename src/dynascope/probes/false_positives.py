"""How often a detector sees something where there is nothing: null controls with noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.records import Measured
from dynascope.numerics.intervals import of_share

Null = Callable[[np.random.Generator, float], np.ndarray]

_POINTS = 500


def decaying_curve(
    random: np.random.Generator, noise: float, correlation: float = 0.0
) -> np.ndarray:
    """A loss that only falls, exp(-5t) on [0, 1] in 500 samples, plus noise.

    Args:
        random: Where the noise comes from.
        noise: Standard deviation, as share of the first value.
        correlation: Of neighbouring samples; noise that remembers fools noise estimates.

    Returns:
        The curve, (500,).
    """
    return np.exp(-5 * np.linspace(0, 1, _POINTS)) + noise * _noise(random, correlation)


def flat_curve(random: np.random.Generator, noise: float) -> np.ndarray:
    """A loss that does not move, plus noise, (500,): the null of `terminal_rate`."""
    return 1 + noise * _noise(random, 0.0)


def straight_path(
    random: np.random.Generator,
    noise: float,
    target: tuple[float, ...] = (1.0, 2.0),
    rates: tuple[float, ...] = (1.0, 4.0),
) -> np.ndarray:
    """An output whose coordinates each rise to the target alone, plus noise, (500, concept).

    Args:
        random: Where the noise comes from.
        noise: Standard deviation, as share of the largest target.
        target: Where the output goes.
        rates: How fast each coordinate goes; the null of `swing_by`, and of `learning_order`
            when all rates are equal.

    Returns:
        The trajectory.
    """
    t = np.linspace(0, 3, _POINTS)[:, None]
    clean = np.array(target) * (1 - np.exp(-t * np.array(rates)))
    return clean + noise * max(target) * random.standard_normal(clean.shape)


def _noise(random: np.random.Generator, correlation: float) -> np.ndarray:
    """Unit-variance noise with exponentially decaying memory, (500,)."""
    fresh = random.standard_normal(_POINTS)
    if not correlation:
        return fresh
    fresh[1:] *= (1 - correlation**2) ** 0.5
    for i in range(1, _POINTS):
        fresh[i] += correlation * fresh[i - 1]
    return fresh


def correlated(correlation: float) -> Null:
    """The null of decaying curves whose noise remembers; see `decaying_curve`."""
    return partial(decaying_curve, correlation=correlation)


def false_positive_rate(
    detector: Callable[[np.ndarray], Any],
    noise: float,
    n: int = 1000,
    seed: int = 0,
    null: Null = decaying_curve,
) -> Measured:
    """Share of null curves on which a detector fires.

    Args:
        detector: Takes a curve (or trajectory) and returns whether it found something.
        noise: Size of the noise, as share of the curve's scale.
        n: Number of null curves.
        seed: Of the noise; curve k does not depend on n.
        null: Draws one null curve.

    Returns:
        The rate with its 95 % interval.

    Example:
        >>> false_positive_rate(lambda curve: curve[-1] > curve[0], noise=0.001, n=10).value
        0.0
    """
    if n < 1 or not noise >= 0:
        raise bad("noise", (noise, n), "noise that is not negative and at least one curve")
    fired = [bool(detector(null(np.random.default_rng([seed, k]), noise))) for k in range(n)]
    rate = float(np.mean(fired))
    low, high = of_share(sum(fired), n) or (None, None)
    return Measured(rate, (rate * (1 - rate)) ** 0.5, n, low, high, "share")
