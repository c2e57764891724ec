"""How likely a swing-by is, from the width alone: the angle between two rows of U at the start.

In the symmetric model the test loss turns back up when the two concepts start correlated
enough: c = w_12 / sqrt(w_11 w_22), the cosine between two rows of U, above a critical value.
Gaussian rows in R^width point in uniformly random directions, so the odds are a tail of the
distribution of a cosine; the dimension of the input does not enter.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln

from dynascope.core.errors import bad
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow

SWING_BY = 0.002  # a rise of the test loss by 0.2 % of its first value
TRIED = np.concatenate([np.linspace(0.0, 0.98, 99), [0.985, 0.99, 0.995, 0.999]])  # correlations


@lru_cache(maxsize=64)
def critical_correlation(
    means: tuple[float, ...],
    scales: tuple[float, ...],
    size: float,
    rise: float = SWING_BY,
) -> float:
    """The correlation of two rows of U above which the test loss turns back up.

    Read off the exact flow from W(0) = size [[1, c], [c, 1]] for all c. It is about 0.53 for
    means (1, 2) and sizes from 1e-4 to 1e-1, and another for other signals: it grows as they
    come closer, and small starts need more.

    Args:
        means: Means of the two concepts.
        scales: Standard deviations of their clusters.
        size: w_11 and w_22 at the start; width x variance on average for Gaussian rows.
        rise: What counts, as share of the first test loss.

    Returns:
        The correlation, linear between those tried; 1 where none is enough.

    Example:
        >>> 0.5 < critical_correlation((1.0, 2.0), (0.05, 0.05), 0.01) < 0.58
        True
        >>> critical_correlation((1.0, 1.0), (0.05, 0.05), 0.01)
        1.0
    """
    if len(means) != 2 or len(scales) != 2:
        raise bad("means", means, "two concepts: the correlation is that of one pair")
    if not 0 < size < 0.5:
        raise bad("size", size, "a number between 0 and 0.5")
    mu = np.asarray(means, float)
    a = mu**2 / 2 + np.square(scales)
    c = TRIED[:, None, None]
    start = size * ((1 - c) * np.eye(2) + c)
    weakest = a.min()  # the last to be learned, late where little of it is its own
    end = 1.5 * math.log(1 / (size * (1 - TRIED[-1] ** 2))) / (2 * weakest)
    times = np.linspace(0, end, 1 + math.ceil(end * a.max() / 0.05))
    w = read_jacobian(tied_flow(factor_jacobian(start), a, times, rtol=1e-8))
    loss = np.sum(((w @ mu) - mu) ** 2, axis=-1) / 2  # (correlation, time)
    found = (loss - np.minimum.accumulate(loss, axis=-1)).max(axis=-1) / loss[:, 0]
    above = np.flatnonzero(found > rise)
    if not above.size:
        return 1.0
    k = int(above[0])
    return float(np.interp(rise, found[k - 1 : k + 1], TRIED[k - 1 : k + 1])) if k else 0.0


def initial_correlation(jacobian: ArrayLike) -> np.ndarray:
    """Correlations c_pq = w_pq / sqrt(w_pp w_qq) of all pairs, (..., d, d).

    Args:
        jacobian: W(0), (..., d, d).

    Returns:
        The matrix of cosines between rows of U; NaN where a row is zero.

    Example:
        >>> round(float(initial_correlation([[1.0, 0.9], [0.9, 4.0]])[0, 1]), 3)
        0.45
    """
    w = np.asarray(jacobian, float)
    root = np.sqrt(np.diagonal(w, axis1=-2, axis2=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        # one division at a time: the product of two tiny roots could underflow
        return w / root[..., :, None] / root[..., None, :]


def probability_cosine_above(threshold: float, width: int) -> float:
    """Chance that two random directions in R^width have a cosine above the threshold.

    Half the regularised incomplete beta function at 1 - threshold^2 with parameters
    (width - 1)/2 and 1/2, mirrored for negative thresholds.

    Args:
        threshold: Between -1 and 1.
        width: Dimension of the space, at least 1.

    Returns:
        The probability.

    Example:
        >>> round(probability_cosine_above(0.5, 2), 6)  # 60 degrees out of 180
        0.333333
    """
    if not -1 <= threshold <= 1:
        raise bad("threshold", threshold, "a cosine, between -1 and 1")
    if width < 1:
        raise bad("width", width, "a whole number of at least 1")
    if threshold < 0:
        return 1.0 - probability_cosine_above(-threshold, width)
    if width == 1:  # the cosine is 1 or -1
        return 0.5 if threshold < 1 else 0.0
    return float(betainc((width - 1) / 2, 0.5, 1 - threshold**2) / 2)


def probability_of_swing_by(
    width: int, means: tuple[float, ...], scales: tuple[float, ...], size: float
) -> float:
    """Share of Gaussian initialisations of U, 2 x width, whose test loss swings by.

    Both rows are taken to have the mean size; in wide matrices they nearly do.

    Args:
        width: Number of columns of U.
        means: Means of the two concepts.
        scales: Standard deviations of their clusters.
        size: Width x variance of the entries of U.

    Returns:
        The chance that two random directions have a cosine above the critical correlation.

    Example:
        >>> odds = [probability_of_swing_by(w, (1.0, 2.0), (0.05, 0.05), 0.005) for w in (2, 8)]
        >>> [0.3 < odds[0] < 0.34, 0.05 < odds[1] < 0.08]
        [True, True]
    """
    if width < 1:
        raise bad("width", width, "a whole number of at least 1")
    return probability_cosine_above(critical_correlation(means, scales, size), width)


def mean_absolute_cosine(width: int) -> float:
    """Mean of |cosine| between two random directions; about sqrt(2 / (pi width)) when wide.

    Example:
        >>> round(mean_absolute_cosine(2) * math.pi, 6)
        2.0
    """
    if width < 1:
        raise bad("width", width, "a whole number of at least 1")
    return float(np.exp(gammaln(width / 2) - gammaln((width + 1) / 2)) / math.sqrt(math.pi))
