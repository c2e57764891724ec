"""Lemma C.1 and Theorem 4.1 of chen2025: what one step from zero writes into W_F and W_V.

At zero all N + 1 tokens are equally likely, so the gradient is a matter of counting labels.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

Which = Literal["printed", "corrected"]


class LabelGradient(NamedTuple):
    """Mean, variance and range of g_k = W_U(k)^T grad W_F W_E(q) of one sample: (tokens,)."""

    mean: np.ndarray
    variance: np.ndarray
    reach: np.ndarray


def label_gradient(ordinary: int, noise: float, which: Which = "corrected") -> LabelGradient:
    """Lemma C.1; the noise token is last. The printed mean at the noise leaves out 1 / (N + 1).

    Example:
        >>> round(float(label_gradient(65, 0.5).mean[-1]), 4)  # 1 / 66 - 1 / 2
        -0.4848
    """
    n, a, each = ordinary, noise, (1 - noise) / ordinary
    mean = np.append(
        np.full(n, 1 / (n + 1) - each), (1 / (n + 1) if which == "corrected" else 0) - a
    )
    variance = np.append(np.full(n, each * (1 - each if which == "corrected" else 1)), a * (1 - a))
    return LabelGradient(mean, variance, np.append(np.ones(n), max(a, 1 - a)))


def bernstein(found: LabelGradient, samples: int, delta: float) -> np.ndarray:
    """The bound of Lemma C.1 on |g_k - mean| that all k keep with probability 1 - delta."""
    log = np.log(len(found.mean)) + np.log(2 / delta)
    return np.sqrt(4 * found.variance * log / samples) + 4 * found.reach * log / samples


def feed_forward_margin(frequencies: np.ndarray) -> np.ndarray:
    """Theorem 4.1, exactly: f_tau - max f_j of the labels' frequencies (..., tokens), rate 1."""
    return frequencies[..., -1] - frequencies[..., :-1].max(-1)


def population_margin(ordinary: int, noise: float, which: Which = "corrected") -> float:
    """The same for infinitely many samples: alpha as printed, alpha - (1 - alpha) / N exactly.

    Example:
        >>> round(population_margin(65, 0.5), 4)
        0.4923
    """
    return noise - ((1 - noise) / ordinary if which == "corrected" else 0.0)


def mixed_noise(noise: float, share: float | np.ndarray) -> np.ndarray:
    """The thesis's alpha hat, alpha^2 s + alpha (1 - s); s is the share of tau in the row."""
    return np.asarray(noise**2 * share + noise * (1 - share))


def attention_margin(
    ordinary: int, noise: float, share: float | np.ndarray, which: Which = "corrected"
) -> np.ndarray:
    """Theorem 4.1: margin of the noise through attention after one step at rate 1.

    As printed it is alpha hat / N, which leaves out the part of the previous token; with it,
    as Eq. 4.2 has it, the margin is twice that.
    """
    return (1 if which == "printed" else 2) * mixed_noise(noise, share) / ordinary
