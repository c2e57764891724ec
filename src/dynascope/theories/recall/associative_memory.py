"""A linear associative memory that learns noisy labels: its two singular values at any time.

chen2025 section 4.4.3 and app. C.5 with orthonormal embeddings and W(0) = 0, for any number N of
items. By symmetry the weights stay of the form

    W = s (I - J / N)  stacked on a row of zeros,  plus  b [1; -N] 1^T

with J all ones, s the signal and b the noise part. Its singular values are s, N - 1 times, and
N sqrt(N + 1) |b|, once: the noise is one direction of the spectrum. Under the flow of the summed
cross-entropy s' = 1 - a - p_right + p_other and b' = (p_noise - a) / N, a being the noise. The
mean over items is the same flow N times slower.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import log_softmax

from dynascope.core.errors import bad

Loss = Literal["sum", "mean"]
LATEST = 1e12  # of the times that are followed


class AssociativeMemory(NamedTuple):
    """The weights at some times; arrays of the times' shape."""

    items: int
    time: Any
    signal: Any  # s, the singular value that N - 1 directions share
    noise: Any  # N sqrt(N + 1) |b|, the singular value of the noise direction
    offset: Any  # b with its sign: below 0 it writes the noise token, above 0 it takes it away


def associative_memory(
    items: int, noise: float, time: Any, loss: Loss = "sum", tolerance: float = 1e-10
) -> AssociativeMemory:
    """Singular values of a memory of `items` that was trained for some time on noisy labels.

    Args:
        items: N, how many inputs there are; each has an output of its own, and one is the noise.
        noise: a, how often the label is the noise token.
        time: Gradient-flow times, a number or an array; steps times learning rate for descent.
        loss: Whether the cross-entropy is summed over the items or its mean is taken.
        tolerance: Relative error of a step of the solver.

    Returns:
        The memory, with the singular values `signal` and `noise`.

    Example:
        >>> memory = associative_memory(items=3, noise=0.03, time=30_000, loss="mean")
        >>> round(float(memory.signal), 3)
        9.869
    """
    times = _checked(items, noise, time, loss)
    flow = times / items if loss == "mean" else times
    grid = np.unique(flow)
    found = _followed(items, noise, grid, tolerance)[:, np.searchsorted(grid, flow)]
    s, b = found
    return AssociativeMemory(items, times, s, items * np.sqrt(items + 1) * np.abs(b), b)


def probabilities(memory: AssociativeMemory, keep: Literal["all", "signal", "noise"]) -> np.ndarray:
    """Probabilities of the right output, of each other one, and of the noise: (..., 3).

    Args:
        memory: Of some times.
        keep: All of W, or only the signal's directions, or only that of the noise.

    Returns:
        The three probabilities; the second counts N - 1 times.
    """
    return np.exp(_logs(memory, keep))


def pure_loss(memory: AssociativeMemory, keep: Literal["all", "signal", "noise"]) -> np.ndarray:
    """-log p(right output): the loss on labels without noise."""
    return -_logs(memory, keep)[..., 0]


def _logs(memory: AssociativeMemory, keep: str) -> np.ndarray:
    n, s, b = memory.items, np.asarray(memory.signal), np.asarray(memory.offset)
    s, b = s * (keep != "noise"), b * (keep != "signal")
    logits = np.stack([s * (1 - 1 / n) + b, -s / n + b + np.log(n - 1), -n * b], axis=-1)
    return log_softmax(logits, axis=-1) - np.array([0.0, np.log(n - 1), 0.0])


def _followed(items: int, noise: float, times: np.ndarray, tolerance: float) -> np.ndarray:
    """(2, times): s and b, followed in the logarithm of 1 + time."""

    def slope(u: float, state: np.ndarray) -> np.ndarray:
        s, b = state.tolist()  # plain numbers: tens of times faster than arrays of three
        logits = s * (1 - 1 / items) + b, -s / items + b, -items * b
        right, other, generic = (math.exp(x - max(logits)) for x in logits)
        total = right + (items - 1) * other + generic
        excess = generic / total - noise
        # 1 - a - right = (generic - a) + (N - 1) other, without cancellation
        return math.exp(u) * np.array([excess + items * other / total, excess / items])

    if times[-1] == 0:
        return np.zeros((2, len(times)))
    u = np.log1p(times)
    steps = {"rtol": tolerance, "atol": 0.01 * tolerance}
    solved = solve_ivp(slope, (0, u[-1]), [0.0, 0.0], "Radau", u, **steps)
    return solved.y


def _checked(items: int, noise: float, time: Any, loss: str) -> np.ndarray:
    if items < 2:
        raise bad("items", items, "a whole number of at least 2")
    if not 0 < noise < 1:
        raise bad("noise", noise, "a number between 0 and 1")
    if loss not in ("sum", "mean"):
        raise bad("loss", loss, '"sum" or "mean"')
    times = np.asarray(time, float)
    if not times.size or not np.isfinite(times).all() or times.min() < 0 or times.max() > LATEST:
        raise bad("time", time, f"numbers from 0 to {LATEST:g}")
    return times
