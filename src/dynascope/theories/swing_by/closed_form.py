"""Theorem 4.1: the one-layer linear model on the identity mapping task, in closed form.

The flow dW/dt = -(W - I) A with A = diag(a) lets every column of W forget its start at its
own rate. Everything here is written with the share that is not yet forgotten, `decay`:
exp(-a_i t) for the flow, (1 - eta a_i)^n for gradient descent, exact for both. A direction
without signal (a_i = 0) keeps decay 1: nothing grows and nothing fades there.

Shapes: `signal` (d,), `decay` (time, d), `initial` (..., d, d), `point` (d,); results carry
the leading axes of `initial`, then time. Time is true gradient-flow time: the factor 2 of
the symmetric model (see `entry_flow`) does not appear in this theorem.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad


def flow_decay(signal: ArrayLike, times: ArrayLike) -> np.ndarray:
    """Share of the initial error left in each direction at each time of the flow.

    Args:
        signal: Signal strengths a_i, (d,).
        times: True gradient-flow times, (time,).

    Returns:
        exp(-a_i t), (time, d).
    """
    return np.exp(-np.multiply.outer(np.asarray(times, float), np.asarray(signal, float)))


def descent_decay(signal: ArrayLike, learning_rate: float, steps: ArrayLike) -> np.ndarray:
    """Share of the initial error left after n steps of gradient descent: (1 - eta a_i)^n.

    Example:
        >>> float(descent_decay([0.5], 0.1, [2])[0, 0])
        0.9025
    """
    base = 1.0 - learning_rate * np.asarray(signal, float)
    return base ** np.asarray(steps)[:, None]


def one_layer_jacobian(decay: np.ndarray, initial: ArrayLike) -> np.ndarray:
    """The weight matrix at each time: (W(0) - I) forgets column by column, I stays.

    Args:
        decay: From `flow_decay` or `descent_decay`, (time, d).
        initial: W(0), (..., d, d).

    Returns:
        W, (..., time, d, d).

    Example:
        >>> one_layer_jacobian(flow_decay([0.5, 0.0], [1e3]), np.zeros((2, 2)))[0].tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    left = np.asarray(initial, float)[..., None, :, :] * decay[:, None, :]
    return left + _diagonal(1.0 - decay)


def _diagonal(entries: np.ndarray) -> np.ndarray:
    return entries[..., None] * np.eye(entries.shape[-1])


def output_growth(decay: np.ndarray, point: ArrayLike) -> np.ndarray:
    """Growth part of the output at a point: each coordinate rises to its target alone.

    Returns:
        (1 - decay_k) z_k, (time, d); zero where there is no signal.
    """
    return (1.0 - decay) * np.asarray(point, float)


def output_noise(
    decay: np.ndarray, initial: ArrayLike, point: ArrayLike, directions: int | None = None
) -> np.ndarray:
    """Noise part of the output: what the initial weights still contribute.

    Args:
        decay: From `flow_decay` or `descent_decay`, (time, d).
        initial: W(0), (..., d, d).
        point: The input z, (d,).
        directions: Sum over this many first directions only. None sums over all d, which is
            right for every z. The number of concepts gives the range printed in (4.2), which
            loses the terms without signal; those never decay.

    Returns:
        The noise, (..., time, d).
    """
    here = slice(directions)
    weighted = decay[:, here] * np.asarray(point, float)[here]
    return np.einsum("ti,...ki->...tk", weighted, np.asarray(initial, float)[..., here])


def one_layer_output(decay: np.ndarray, initial: ArrayLike, point: ArrayLike) -> np.ndarray:
    """Output at a point: growth plus noise, (..., time, d)."""
    return output_growth(decay, point) + output_noise(decay, initial, point)


def noise_bound(initial: ArrayLike, point: ArrayLike) -> np.ndarray:
    """What |noise| never exceeds at any time: the sum of |w_ki(0)| |z_i|, (..., d)."""
    return np.abs(np.asarray(initial, float)) @ np.abs(np.asarray(point, float))


def printed_noise_bound(initial: ArrayLike, point: ArrayLike) -> np.ndarray:
    """The bound as printed, without absolute values; mixed signs break it.

    Example:
        >>> float(printed_noise_bound([[0.3, -0.3]], [1.0, 1.0])[0])
        0.0
    """
    return np.asarray(initial, float) @ np.asarray(point, float)


def order_flip_scale(means: tuple[float, float], other_scale: float, clusters: int) -> float:
    """Standard deviation of concept 1 at which both concepts are learned at the same speed.

    Args:
        means: mu_1 and mu_2, with mu_1 the smaller one or their scales close enough.
        other_scale: Standard deviation of concept 2.
        clusters: Number of training clusters (with the one at the origin, if there is one).

    Returns:
        sigma_1 with a_1 = a_2; below it concept 2 comes first. Bad input if concept 1 always does.

    Example:
        >>> round(order_flip_scale((1.0, 2.0), 0.05, clusters=2), 4)
        1.2258
    """
    square = other_scale**2 + (means[1] ** 2 - means[0] ** 2) / clusters
    if square < 0:
        raise bad("means", means, "a first mean that is not faster at every scale", "swap them")
    return float(np.sqrt(square))
