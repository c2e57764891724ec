"""Theorem 4.2 of chen2025: attention turns to what follows the trigger, and away from noise.

After W_F has learned (phase 1), W_V makes a step (phase 2), then W_QK does (phase 3). The first
gap is between positions after the trigger and others, the second between an answer and the noise,
both after the trigger. The thesis neglects N - 1 terms of size T / N^2, which add up to T / N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.recall.population import Population
from dynascope.theories.recall.sequences import TRIGGER


class Gaps(NamedTuple):
    """The two gaps of the attention logits, the smallest over all tokens that they are about."""

    after_trigger: float  # xi_{q -> j} - xi_{k -> l}, k not the trigger
    from_noise: float  # xi_{q -> j} - xi_{q -> tau}, j an ordinary token but the trigger
    from_noise_at_trigger: float  # the same for j = q


def diagonal_values(population: Population, token: float, before: float) -> np.ndarray:
    """W_V as the theorem's proof has it: b1 on (j, j), b2 on (j, j of the previous token)."""
    n = population.law.ordinary
    ordinary = np.diag(np.append(np.ones(n), 0.0))
    return np.hstack([token * ordinary, before * ordinary])


def learned_values(population: Population) -> np.ndarray:
    """W_V after phase 2: one step at rate 1 once the labels' frequencies are predicted."""
    return population.value_gradient(population.settled())


def gaps(population: Population, values: np.ndarray) -> Gaps:
    """The gaps after one step of W_QK at rate 1, exactly."""
    v = population.attention_gradient(values, population.settled())
    n = population.law.ordinary
    here, before = v[: n + 1], v[n + 1 :]
    after, others = before[TRIGGER], np.delete(before, TRIGGER)
    ordinary = np.delete(here[:n], TRIGGER)
    first = after + here[:n].min() - others.max() - here.max()
    return Gaps(first, float(ordinary.min() - here[n]), float(here[TRIGGER] - here[n]))


def first_gap(ordinary: int, noise: float, token: float) -> float:
    """(1 - alpha)^2 b1 / N, as printed (C.29, C.32)."""
    return (1 - noise) ** 2 * token / ordinary


def second_gap(
    ordinary: int, noise: float, token: float, before: float, which: str, with_trigger: bool = True
) -> float:
    """The second gap: as printed (1 - alpha)^2 b2 / N^2, and corrected for both samplings.

    Example:
        >>> second_gap(65, 0.3, 1, 1, "corrected", with_trigger=True) < 0
        True
    """
    clean = (1 - noise) ** 2 / ordinary**2
    if which == "printed":
        return clean * before
    if with_trigger:
        return clean * (noise * token - (1 - noise) * before)
    return clean * noise * (token + before)
