"""The lattice of concept combinations: corners, order, violations of it, and a drawing.

A corner v in {0, 1}^s stands for the test point that has the concepts with v_p = 1. u comes
below v when every concept of u is in v; claim B.2 says that a model is then never worse at u
than at v. `order_violations` says how often and by how much that fails. Plain numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad

_MOST_CONCEPTS = 12  # 3^12 pairs are half a million


@cache
def corners(concepts: int) -> np.ndarray:
    """All combinations, (2^s, s), from none to all; corner n has the binary digits of n.

    Example:
        >>> corners(2).tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if not 1 <= concepts <= _MOST_CONCEPTS:
        raise bad("concepts", concepts, f"a whole number from 1 to {_MOST_CONCEPTS}")
    return np.arange(2**concepts)[:, None] >> np.arange(concepts)[::-1] & 1


@cache
def comparable_pairs(concepts: int) -> np.ndarray:
    """Pairs of corner numbers (u, v) with u strictly below v; there are 3^s - 2^s.

    Example:
        >>> len(comparable_pairs(4))
        65
    """
    n = np.arange(len(corners(concepts)))
    below = ((n[:, None] & n) == n[:, None]) & (n[:, None] != n)
    return np.argwhere(below)


@dataclass(frozen=True)
class OrderViolations:
    """How badly the order is broken; arrays keep the leading axes of the losses.

    `gap` is the largest excess of the lower corner's loss over the upper one's (0 if none).
    """

    count: np.ndarray
    rate: np.ndarray
    gap: np.ndarray
    pairs: int


def order_violations(losses: ArrayLike, tolerance: float = 1e-12) -> OrderViolations:
    """Compare the losses at all comparable pairs of corners.

    Args:
        losses: Test loss at every corner in the order of `corners`, (..., 2^s).
        tolerance: Excess that does not count. How often the order is broken late in a run
            depends on it: a converged model breaks it by less and less, then by round-off.

    Returns:
        Number, rate and worst size of violations.

    Example:
        >>> found = order_violations([0.0, 3.0, 1.0, 2.0])  # one concept alone is the hardest
        >>> int(found.count), float(found.gap)
        (1, 1.0)
    """
    values = np.asarray(losses, float)
    concepts = values.shape[-1].bit_length() - 1 if values.ndim else 0
    if concepts < 1 or values.shape[-1] != 2**concepts:
        raise bad("losses", values.shape, "one loss per corner: 2, 4, 8, ... on the last axis")
    if np.isnan(values).any():
        raise bad("losses", "NaN", "numbers", "leave out runs that diverged")
    low, high = comparable_pairs(concepts).T
    excess = values[..., low] - values[..., high]
    count = (excess > tolerance).sum(axis=-1)
    return OrderViolations(count, count / low.size, excess.max(axis=-1).clip(0), low.size)


@cache
def lattice_edges(concepts: int) -> np.ndarray:
    """Edges of the diagram: pairs that differ in one concept, lower first; s 2^(s-1) of them.

    Example:
        >>> lattice_edges(2).tolist()
        [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    pairs = comparable_pairs(concepts)
    size = corners(concepts).sum(axis=1)
    return pairs[size[pairs[:, 1]] - size[pairs[:, 0]] == 1]


def lattice_layout(concepts: int) -> np.ndarray:
    """Where to draw each corner, (2^s, 2): x = number of concepts, y spread evenly around 0.

    Example:
        >>> lattice_layout(2).tolist()
        [[0.0, 0.0], [1.0, -0.5], [1.0, 0.5], [2.0, 0.0]]
    """
    size = corners(concepts).sum(axis=1)
    places = np.zeros((len(size), 2))
    places[:, 0] = size
    for n in range(concepts + 1):
        here = np.flatnonzero(size == n)
        places[here, 1] = np.arange(len(here)) - (len(here) - 1) / 2
    return places
