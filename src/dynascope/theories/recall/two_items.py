"""Theorem 4.3 and Lemma C.14 of chen2025: two items, as printed and with the right flow.

W = b1 [[1, -1], [-1, 1], [0, 0]] + b2 [[1, 1], [1, 1], [-2, -2]] (the thesis's beta_1, beta_2),
e^a = p_other / p_right with a = -2 b1, e^b = p_noise / p_right with b = -b1 - 3 b2. The thesis
forgets to divide by the squared norms of the two matrices, 4 and 12, so that its flow moves b2
three times too fast; and the constant that it then gives does not belong to its own flow.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

Flow = Literal["printed", "right"]


class TwoItems(NamedTuple):
    """e^a and e^b at some times."""

    time: np.ndarray
    other: np.ndarray  # e^a, the other item's probability over the right one's
    noise: np.ndarray  # e^b, the noise's over the right one's

    def full(self) -> np.ndarray:
        """Probabilities of right, other and noise, (times, 3)."""
        weights = np.stack([np.ones_like(self.other), self.other, self.noise], -1)
        return weights / weights.sum(-1, keepdims=True)

    def rank_one(self) -> np.ndarray:
        """The same with the noise direction dropped, b2 = 0: then b = a / 2."""
        weights = np.stack([np.ones_like(self.other), self.other, np.sqrt(self.other)], -1)
        return weights / weights.sum(-1, keepdims=True)

    def singular_values(self) -> np.ndarray:
        """Of the signal, 2 b1, and of the noise, 2 sqrt(3) |b2|: (times, 2)."""
        b1 = -np.log(self.other) / 2
        b2 = (-np.log(self.noise) - b1) / 3
        return np.stack([2 * b1, 2 * np.sqrt(3) * np.abs(b2)], -1)


def two_items(noise: float, time: np.ndarray, flow: Flow = "right") -> TwoItems:
    """The flow of the summed loss from W = 0.

    Args:
        noise: a of the labels.
        time: Ascending times.
        flow: "printed" is (C.37)-(C.38), "right" divides by the squared norms.

    Returns:
        The two ratios of probabilities at these times.

    Example:
        >>> found = two_items(0.3, np.array([1e7]))
        >>> round(float(1e7 * found.other[0]), 4), round(float(found.noise[0]), 4)
        (0.9524, 0.4286)
    """

    def slope(u: float, state: np.ndarray) -> np.ndarray:
        a, b = np.exp(state)
        total = 1 + a + b
        if flow == "printed":
            moved = ((2 - 2 * a) / total - 2 + 2 * noise, (2 - 8 * b) / total - 2 + 10 * noise)
        else:
            b1 = (a - 1) / total / 2 + (1 - noise) / 2
            b2 = (b / total - noise) / 2
            moved = (-2 * b1, -b1 - 3 * b2)
        return np.exp(u) * np.array(moved)

    u = np.log1p(np.asarray(time, float))
    solved = solve_ivp(slope, (0, u[-1]), [0.0, 0.0], "Radau", u, rtol=1e-10, atol=1e-12)
    return TwoItems(np.asarray(time, float), *np.exp(solved.y))


def late_constant(noise: float, which: Literal["printed", "printed flow", "right"]) -> float:
    """What t e^a goes to: as printed, for the printed flow, and for the right one.

    Example:
        >>> [round(late_constant(0.3, w), 5) for w in ("printed", "printed flow", "right")]
        [0.42017, 0.39683, 0.95238]
    """
    factor = {"printed": 4 - 2 * noise, "printed flow": 3.6, "right": 1.5}[which]
    return 1 / ((1 - noise) * factor)
