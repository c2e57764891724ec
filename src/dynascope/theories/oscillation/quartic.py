"""Gradient descent on (x^2 - mu)^2 / 4: its orbit of period 2 in closed form.

chen2025 Theorem 3.3. With K = eta mu the orbit is delta^2 = mu (K + 1 -+ sqrt((K - 1)(K + 3))) / 2K
for every K > 1; its two-step multiplier is 9 - 2 (K + 1)^2. The same orbit is that of balanced
scalar factorisation, of the top direction of matrix factorisation, and of a single neuron.
"""

from __future__ import annotations

import math

import numpy as np

from dynascope.core.errors import bad
from dynascope.theories.oscillation.one_dimension import Orbit, check_rate

QUARTIC = "(x**2-1)**2/4"  # as text, for mu = 1

# Values of K = eta mu at which something changes.
SUPERSTABLE = math.sqrt(4.5) - 1  # 1.1213: multiplier 0; the printed end of Theorem 3.3
DOUBLING = math.sqrt(5) - 1  # 1.2361: multiplier -1; period 4 begins
PRINTED_RULE_ENDS = 1.5  # beyond, the larger point no longer solves (3.4) as printed
SIGN_CHANGES = 1.5 * math.sqrt(3) - 1  # 1.5981: trajectories begin to cross zero
BOUNDED_UNTIL = 2.0  # beyond, almost every start escapes


def quartic_orbit(mu: float, learning_rate: float) -> Orbit | None:
    """The orbit of period 2 around sqrt(mu); None up to the edge of stability 1 / mu.

    Args:
        mu: Square of the minimum, above 0.
        learning_rate: The learning rate eta.

    Returns:
        The two points, ascending, and their two-step multiplier.

    Example:
        >>> orbit = quartic_orbit(1.0, 1.05)
        >>> [round(x, 10) for x in orbit.points], round(orbit.multiplier, 12)
        ([0.8728715609, 1.0910894512], 0.595)
    """
    if not (math.isfinite(mu) and mu > 0):
        raise bad("mu", mu, "a finite number above 0")
    k = check_rate(learning_rate) * mu
    if k <= 1:
        return None
    root = math.sqrt((k - 1) * (k + 3))
    high = math.sqrt(mu * (k + 1 + root) / (2 * k))
    return Orbit(learning_rate, (mu / (k * high), high), 9 - 2 * (k + 1) ** 2)


def orbit_points(mu: float, learning_rate: float) -> np.ndarray:
    """Both points of the orbit, ascending, (2,); up to the edge of stability the minimum twice.

    Example:
        >>> orbit_points(4.0, 0.2).tolist()
        [2.0, 2.0]
    """
    orbit = quartic_orbit(mu, learning_rate)
    return np.array(orbit.points if orbit else (math.sqrt(mu),) * 2)


def printed_rate(point: float, mu: float) -> float:
    """The learning rate for which (3.4) puts a point on the orbit; wrong beyond K = 1.5.

    Example:
        >>> round(printed_rate(quartic_orbit(1.0, 1.9).points[1], 1.0), 5)
        1.26667
    """
    square = point**2
    return 1 / (square * (math.sqrt(mu / square - 0.75) + 0.5))
