"""Closed form for the diagonal linear network f(x) = sum u_i v_i x_i with white inputs.

With L = |z - beta|^2 / 2 every coordinate is alone: z' = sqrt(C^2 + 4 z^2) (beta - z) with
C = u(0)^2 - v(0)^2 conserved (boix2023 footnote 2, Lemma 4.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynascope.numerics.log_flow import check_alpha, check_unequal


def diagonal_half_times(beta: ArrayLike, u: ArrayLike, v: ArrayLike, alpha: float) -> np.ndarray:
    """When each coordinate is half learned, in rescaled time, from (alpha u, alpha v).

    It is the integral of dz / (sqrt(C^2 + 4 z^2) (beta - z)) from alpha^2 u v to beta / 2. For a
    small alpha it is (log(1 / alpha) - log x + log(4 |beta|) / 2) / |beta|, where x is |u + v|
    for beta > 0 and |u - v| for beta < 0; divided by log(1 / alpha), as here, it tends to
    1 / |beta| with an error of order 1 / log(1 / alpha).

    Args:
        beta: The target, (p,), without zeros.
        u: Unscaled start, (p,).
        v: Unscaled start, (p,).
        alpha: Scale of the start.

    Returns:
        Rescaled times, (p,).

    Example:
        >>> diagonal_half_times([0.25], [1.0], [0.0], 1e-8).round(6).tolist()
        [4.0]
    """
    check_alpha(alpha)
    beta, u, v = (np.asarray(x, float) for x in (beta, u, v))
    check_unequal(u, v)
    size, grows = np.abs(beta), np.abs(np.where(beta > 0, u + v, u - v))
    product, square = np.sign(beta) * u * v, u**2 - v**2  # in units of alpha^2
    conserved = alpha**2 * square  # C
    root = np.hypot(conserved, 2 * size)
    # 2 R sqrt(C^2 + 4 z^2) - 8 beta (beta - z) + 2 R^2, at the end and, over alpha^2, at the start;
    # written without differences of large numbers.
    end = 2 * root * np.hypot(conserved, size) + 2 * conserved**2 + 4 * size**2
    excess = conserved * alpha**2 * square / (root + 2 * size)  # (R - 2 beta), over nothing
    start = 4 * size * grows**2 + 2 * excess * (u**2 + v**2) + 2 * conserved * square
    log = np.log(1 / alpha)
    logs = np.log(end / (size / 2)) - np.log(start / (size - alpha**2 * product)) + 2 * log
    return logs / (root * log)
