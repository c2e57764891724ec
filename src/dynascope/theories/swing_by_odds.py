"""How likely a swing-by is, from the width alone: the angle between two rows of U at the start.

In the symmetric model the test loss turns back up when the two concepts start correlated
enough: c = w_12 / sqrt(w_11 w_22), the cosine between two rows of U, above a critical value.
Gaussian rows in R^width point in uniformly random directions, so the odds are a tail of the
distribution of a cosine; the dimension of the input does not enter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln

from dynascope.core.errors import bad

CRITICAL_CORRELATION = 0.53
"""Correlation above which the test loss rises by more than 0.2% of its first value.

Measured by this project on the symmetric model with means (1, 2), scales 0.05 and initial
sizes from 1e-4 to 1e-1, where the exact value lies between 0.52 and 0.58; it is not a law.
Other means have another one (it grows as the means come closer), and it counts one pair only.
"""


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


def probability_of_swing_by(width: int, threshold: float = CRITICAL_CORRELATION) -> float:
    """Share of Gaussian initialisations of U, d x width, whose test loss swings by.

    Example:
        >>> [round(probability_of_swing_by(w), 3) for w in (2, 3, 4, 8, 16)]
        [0.322, 0.235, 0.179, 0.071, 0.014]
    """
    return probability_cosine_above(threshold, width)


def mean_absolute_cosine(width: int) -> float:
    """Mean of |cosine| between two random directions; about sqrt(2 / (pi width)) when wide.

    Example:
        >>> round(mean_absolute_cosine(2) * math.pi, 6)
        2.0
    """
    if width < 1:
        raise bad("width", width, "a whole number of at least 1")
    return float(np.exp(gammaln(width / 2) - gammaln((width + 1) / 2)) / math.sqrt(math.pi))


@dataclass(frozen=True)
class EntryMoments:
    """Mean and variance of entries of W = U U^T for Gaussian U, on and off the diagonal."""

    diagonal_mean: float
    off_diagonal_mean: float
    diagonal_variance: float
    off_diagonal_variance: float


def entry_moments(width: int, scale: float) -> EntryMoments:
    """Moments of the initial Jacobian when U has independent N(0, scale^2) entries (E.1).

    The text has the means only; the variances say how far apart major and minor entries are.

    Args:
        width: Number of columns of U.
        scale: Standard deviation of an entry of U.

    Returns:
        The four moments.

    Example:
        >>> entry_moments(4, 0.5).diagonal_mean
        1.0
    """
    return EntryMoments(width * scale**2, 0.0, 2 * width * scale**4, width * scale**4)
