"""Whether truncating a noisy memory can help, and at which rank, before anything is trained.

Late in training s = log((N + 1)(1 - a) t / 2) and b = (L - s (N - 1) / N) / (N + 1), with
L = log((1 - a) / a) and t the time under the summed loss. So the noise's singular value over the
signal's goes to (N - 1) / sqrt(N + 1): it is the smaller one for N = 2, the same for N = 3, and
for N >= 4 the noise direction becomes the *largest* of the spectrum once s > N L / (N - 1 -
sqrt(N + 1)). Truncation, which drops the smallest, then drops the signal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories.recall.associative_memory import (
    AssociativeMemory,
    Loss,
    associative_memory,
    pure_loss,
)


class Truncation(NamedTuple):
    """What to expect of a truncation at one time."""

    helps: bool  # whether keeping the largest `rank` lowers the loss on clean labels
    rank: int | None  # N - 1 where it helps, else None
    noise_is: str  # "smallest" or "largest" of the spectrum
    full: float  # loss on clean labels of the whole matrix
    signal_only: float  # of the matrix without the noise direction


def truncation(items: int, noise: float, time: float, loss: Loss = "sum") -> Truncation:
    """What truncating a noisy memory does at a time; see `associative_memory` for arguments.

    It helps where the noise direction is the smallest and writes the noise token; early in
    training it takes the token away, and dropping it makes matters worse.

    Example:
        >>> truncation(items=3, noise=0.03, time=30_000, loss="mean").rank
        2
        >>> truncation(items=10, noise=0.3, time=1000.0).noise_is
        'largest'
    """
    memory = associative_memory(items, noise, time, loss)
    smallest = bool(memory.noise < memory.signal)
    helps = smallest and bool(memory.offset < 0)
    losses = float(pure_loss(memory, "all")), float(pure_loss(memory, "signal"))
    where = "smallest" if smallest else "largest"
    return Truncation(helps, items - 1 if helps else None, where, *losses)


def late_signal(items: int, noise: float, time: float, loss: Loss = "sum") -> float:
    """The signal late in training, s = log((N + 1)(1 - a) t / 2).

    Example:
        >>> round(late_signal(3, 0.03, 30_000, "mean"), 2)
        9.87
    """
    flow = time / items if loss == "mean" else time
    return float(np.log((items + 1) * (1 - noise) * flow / 2))


def late_noise(memory: AssociativeMemory, noise: float) -> np.ndarray:
    """The noise's singular value N / sqrt(N + 1) |L - s (N - 1) / N| that belongs to a signal."""
    n, odds = memory.items, np.log((1 - noise) / noise)
    return n / np.sqrt(n + 1) * np.abs(odds - memory.signal * (n - 1) / n)


def late_ratio(items: int) -> float:
    """What the noise's singular value over the signal's goes to.

    Example:
        >>> [round(late_ratio(n), 2) for n in (2, 3, 4, 10)]
        [0.58, 1.0, 1.34, 2.71]
    """
    return float((items - 1) / np.sqrt(items + 1))


def crossing_signal(items: int, noise: float) -> float:
    """The signal from which on the noise direction is the largest; infinity for N <= 3.

    Example:
        >>> round(crossing_signal(4, 0.03), 1), crossing_signal(3, 0.03)
        (18.2, inf)
    """
    gap = items - 1 - np.sqrt(items + 1)
    return float(items * np.log((1 - noise) / noise) / gap) if gap > 1e-9 else float("inf")
