"""Section 4.4.4.3 of chen2025: the logit of the noise while W_F alone moves.

xi <- xi + eta (alpha - e^xi / (N + e^xi)); its fixed point is log N + log(alpha / (1 - alpha)).
"""

from __future__ import annotations

import numpy as np


def noise_logits(ordinary: int, noise: float, rate: float, steps: int) -> np.ndarray:
    """The logit after 0, 1, ... steps from zero.

    Example:
        >>> path = noise_logits(65, 0.3, 1.0, 2000)
        >>> bool(abs(path[-1] - fixed_logit(65, 0.3)) < 1e-9)
        True
    """
    path = np.zeros(steps + 1)
    for i in range(steps):
        predicted = 1 / (1 + ordinary * np.exp(-path[i]))
        path[i + 1] = path[i] + rate * (noise - predicted)
    return path


def fixed_logit(ordinary: int, noise: float) -> float:
    """Where the logit rests."""
    return float(np.log(ordinary) + np.log(noise / (1 - noise)))


def largest_rate(noise: float) -> float:
    """The printed bound 1 / (alpha (1 - alpha)) up to which the logit never overshoots."""
    return 1 / (noise * (1 - noise))


def safe_rate(ordinary: int, noise: float) -> float:
    """The largest rate that never overshoots, whatever alpha.

    The smallest (xi* - xi) / (alpha - p(xi)) from zero to the fixed point; for alpha <= 1/2 that
    is the printed bound, above it is less.

    Example:
        >>> [round(safe_rate(10**6, a) / largest_rate(a), 3) for a in (0.3, 0.7, 0.9)]
        [1.0, 0.877, 0.456]
    """
    end = fixed_logit(ordinary, noise)
    xi = np.linspace(0, end, 200_001)[:-1]
    predicted = 1 / (1 + ordinary * np.exp(-xi))
    return float(min(np.min((end - xi) / (noise - predicted)), largest_rate(noise)))
