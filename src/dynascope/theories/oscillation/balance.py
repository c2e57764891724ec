"""Two factors, (x y - mu)^2 / 2: why a rate past the edge of stability balances them.

chen2025 Theorem 3.4 with its proof, Proposition 3, Lemma B.2, Propositions 5 to 7, Remark 5.
Symbols: K = eta mu, and r = x y - mu. In one step x - y is multiplied by 1 + eta r, x + y by
1 - eta r, so x^2 - y^2 by 1 - eta^2 r^2. Arrays broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad


def factor_step(
    x: ArrayLike, y: ArrayLike, mu: float, learning_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """One step of gradient descent.

    Example:
        >>> [float(v) for v in factor_step(2.0, 1.0, 1.0, 0.5)]
        [1.5, 0.0]
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    pull = learning_rate * (x * y - mu)
    return x - pull * y, y - pull * x


def imbalance_ratio(
    x: ArrayLike, y: ArrayLike, mu: float, learning_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """By how much two steps multiply |x - y|, and whether both factors stay positive in them.

    Theorem 3.4 says: less than 1 from every positive state with x y > mu, if 1 < K < 1.5. On
    the orbit of period 2 the ratio is 3 - 2 K.

    Example:
        >>> from dynascope.theories.oscillation.quartic import quartic_orbit
        >>> high = quartic_orbit(1.0, 1.1).points[1]
        >>> round(float(imbalance_ratio(high, high, 1.0, 1.1)[0]), 9)
        0.8
    """
    x1, y1 = factor_step(x, y, mu, learning_rate)
    x2, y2 = factor_step(x1, y1, mu, learning_rate)
    first = 1 + learning_rate * (np.asarray(x) * np.asarray(y) - mu)
    second = 1 + learning_rate * (x1 * y1 - mu)
    positive = np.minimum.reduce(np.broadcast_arrays(x, y, x1, y1, x2, y2)) > 0
    return np.abs(first * second), positive


def stays_positive(x: ArrayLike, y: ArrayLike, mu: float, learning_rate: float) -> np.ndarray:
    """Lemma B.2: whether a state with x y > mu surely keeps both factors positive forever.

    Sufficient, not necessary. False where x y <= mu, of which the lemma does not speak.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    k, m = learning_rate * mu, np.abs(y - x) / np.sqrt(mu)
    p = 4 / (m + np.sqrt(m**2 + 4)) ** 2
    q = (1 + p) ** 2
    spread = (2 / 3 * k**2 - k / 3 + q * k**2 / (2 * (k + 1)) * m**2) * q * m**2
    worst = np.maximum(learning_rate * (x * y - mu), 4 / 27 * (1 + k) ** 3 + spread - k)
    return (worst < p) & (x * y > mu) & (x > 0)


def two_step_bounds(
    x: ArrayLike, y: ArrayLike, mu: float, learning_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bound on the factor of x - y over two steps, in the proof of Theorem 3.4.

    (B.46) below; above (B.38), (B.42) or (B.45), by where the first step leads. The proof is
    about states with x y > mu that stay positive. In (B.45) a factor eta is missing, which
    makes the printed bound the weaker one for mu = 1.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    k, product = learning_rate * mu, x * y
    first, second = factor_step(x, y, mu, learning_rate)
    next_product = first * second
    turn = (mu + 1 / learning_rate) / 3
    upper = np.select(
        [learning_rate * (mu - next_product) >= 0.5, next_product <= turn],
        [0.5 + 0.5 * np.minimum(x / y, y / x), np.full_like(product, 2 - k)],
        1 - 2 * (k - 1) * (product - mu),
    )
    return np.full_like(product, 2 - 2 * k), upper


def unbalanced_orbit(k: float) -> np.ndarray:
    """The orbit of period 4 with x != y for mu = 1, whose third state is the first one mirrored.

    Two steps mirror a state, (x, y) to (y, x), where the factors 1 + r of x - y multiply to -1
    and those 1 - r of x + y to 1. So r = eta (x y - mu) is (sqrt(5) - 1) / 2 and
    -(sqrt(5) + 1) / 2 in turn, and both products are positive for (1 + sqrt(5)) / 2 < K < 2. It
    repels: over four steps the multipliers are 81 and (5 - K^2)^2.

    Args:
        k: The learning rate, above 1.618 and below 2.

    Returns:
        The states in the order of time, (4, 2).

    Example:
        >>> orbit = unbalanced_orbit(1.9)
        >>> after = factor_step(*orbit[1], 1.0, 1.9)
        >>> bool(np.allclose(after, orbit[0][::-1]))
        True
    """
    golden = (1 + 5**0.5) / 2
    if not golden < k < 2:
        raise bad("k", k, "a number between 1.618 and 2")
    high, low = golden - 1, -golden
    # In units with eta = 1: (x + y)^2 - (x - y)^2 = 4 (K + r), now and after a step.
    grows, shrinks = (1 + high) ** 2, (1 - high) ** 2
    gap = (4 * (k + low) - shrinks * 4 * (k + high)) / (shrinks - grows)  # (x - y)^2
    total = gap + 4 * (k + high)  # (x + y)^2
    first = np.array([total**0.5 + gap**0.5, total**0.5 - gap**0.5]) / 2 / k**0.5
    second = np.array(factor_step(first[0], first[1], 1.0, k))
    return np.array([first, second, first[::-1], second[::-1]])


def sharpness(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Largest eigenvalue of the Hessian [[y^2, 2xy - 1], [2xy - 1, x^2]], for mu = 1."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    half = (x**2 + y**2) / 2
    return half + np.hypot((x**2 - y**2) / 2, 2 * x * y - 1)


def top_slope(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Slope of the loss along the Hessian's top eigenvector, in absolute value, for mu = 1."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    angle = np.arctan2(2 * (2 * x * y - 1), y**2 - x**2) / 2
    return np.abs((x * y - 1) * (y * np.cos(angle) + x * np.sin(angle)))


def in_stable_set(
    x: ArrayLike, y: ArrayLike, learning_rate: float, tolerance: float = 1e-9
) -> np.ndarray:
    """Whether a point has sharpness below 2 / eta and no slope along the top eigenvector.

    Propositions 5 and 6 say that this set is empty for eta > 1, and the part of x y = 1 with
    x + y < sqrt(2 + 2 / eta) for eta < 1. Both forget the points x = y < 1 / sqrt(2).

    Example:
        >>> bool(in_stable_set(0.5, 0.5, 1.08))
        True
    """
    return (sharpness(x, y) < 2 / learning_rate) & (top_slope(x, y) <= tolerance)


def in_tracking_set(
    x: ArrayLike, y: ArrayLike, learning_rate: float, tolerance: float = 1e-9
) -> np.ndarray:
    """Definition 4: second eigenvalue below 2 / eta, no slope along the top eigenvector.

    Said to be all of x y = 1; it has the same points x = y < 1 / sqrt(2) beside them.

    Example:
        >>> in_tracking_set([2.0, 0.5, 0.5], [0.5, 0.5, 0.6], 1.08).tolist()
        [True, True, False]
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    second = x**2 + y**2 - sharpness(x, y)
    return (second < 2 / learning_rate) & (top_slope(x, y) <= tolerance)


def nearest_minimiser(x: float, y: float, below: float = np.inf) -> np.ndarray:
    """The point of x y = 1 nearest to a positive one, with x + y at most a bound, (2,).

    Example:
        >>> nearest_minimiser(1.0, 1.0).tolist()
        [1.0, 1.0]
    """
    # Minimisers are (e^t, e^-t); the bound on x + y is one on |t|.
    most = np.arccosh(below / 2) if np.isfinite(below) else 4.0
    t = np.linspace(-most, most, 4001)
    for _ in range(3):  # a grid, then finer ones around its nearest point
        near = t[((np.exp(t) - x) ** 2 + (np.exp(-t) - y) ** 2).argmin()]
        width = 2 * (t[1] - t[0])
        t = np.clip(np.linspace(near - width, near + width, 4001), -most, most)
    return np.array([np.exp(near), np.exp(-near)])


def stable_sum(learning_rate: float) -> float:
    """Proposition 6: minimisers belong to the stable set while x + y is below this.

    Example:
        >>> round(stable_sum(0.95), 5)
        2.02614
    """
    return float(np.sqrt(2 + 2 / learning_rate))


def product_sharpness(factors: ArrayLike) -> np.ndarray:
    """Sharpness (2/n) sum x_i^-2 of (prod x_i - 1)^2 / n at a minimiser, (..., n): at least 2."""
    factors = np.asarray(factors, float)
    return 2 * (factors**-2.0).mean(axis=-1)
