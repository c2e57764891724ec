"""The flattest way to copy d ReLU neurons: which ratio |w_i| / v_i has the least sharpness.

chen2025 section 3.7.1: a teacher of d neurons along the axes of d dimensions, and minimisers
w_i = k e_i, v_i = 1 / k. Their Hessian is 2 E[g g^T] with g the gradient of the output, and its
top eigenvector treats all neurons alike: it moves every v_i by one number, every w_i by one
along e_i and by one along the other axes. On the sphere the 3 x 3 problem that is left has
closed entries; the first two moves act together, which leaves 2 x 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from dynascope.core.errors import bad


class Flattest(NamedTuple):
    """The flattest of all minimisers with equal neurons."""

    ratio: float  # |w_i| / v_i = k^2
    sharpness: float
    stability_limit: float  # learning rate 2 / sharpness, beyond which no minimiser is stable


def copy_sharpness(ratio: ArrayLike, neurons: int) -> np.ndarray:
    """Sharpness of the population's loss at w_i = k e_i, v_i = 1 / k, over ratios k^2.

    Args:
        ratio: k^2 = |w_i| / v_i, above 0.
        neurons: d, the number of neurons and of dimensions, at least 2.

    Returns:
        The largest eigenvalue of the Hessian for every ratio.

    Example:
        >>> round(float(copy_sharpness(1.21, 16)), 4)
        0.8013
    """
    if neurons < 2:
        raise bad("neurons", neurons, "a whole number of at least 2")
    square, d = np.asarray(ratio, float), neurons
    # P = sum of relu(x_i); Q = sum over i of [x_i > 0] times the other coordinates. Moments of
    # the sphere times d.
    own = 1 / 2 + (d - 1) / (2 * np.pi)
    mixed = (d - 1) / 4
    cross = (d - 1) / 2 + (d - 1) * (d - 2) / 4 + (d - 1) / (2 * np.pi)
    both = square + 1 / square  # v_i scales with k, w_i with 1 / k
    a, c = both * own, cross / ((d - 1) * square)
    b = np.sqrt(both / ((d - 1) * square)) * mixed
    return 2 / d * ((a + c) / 2 + np.hypot((a - c) / 2, b))


def flattest_copy(neurons: int) -> Flattest:
    """The ratio |w_i| / v_i of least sharpness, and the edge of stability there.

    Example:
        >>> found = flattest_copy(16)
        >>> [round(number, 4) for number in found]
        [1.2023, 0.8013, 2.496]
    """
    found = minimize_scalar(
        lambda log: float(copy_sharpness(np.exp(log), neurons)), bounds=(-3, 3), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return Flattest(float(np.exp(found.x)), float(found.fun), float(2 / found.fun))
