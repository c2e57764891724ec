"""What a picture shows, as sentences with numbers: for whoever does not see it, and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dynascope.report.headline import NOTABLE, largest_rise
from dynascope.theories.oscillation.one_dimension import Flip


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Numbers in a row.

    Example:
        >>> listed([0.51234, 2.0])
        '0.512, 2'
    """
    return ", ".join(f"{value:.{digits}g}" for value in values)


def rise(loss: np.ndarray, times: np.ndarray) -> str:
    """Whether a curve rises again after a fall.

    Example:
        >>> rise(np.array([4.0, 1.0, 2.0, 0.0]), np.arange(4.0))
        'It rises again, from 1 at time 1 to 2 at time 2.'
    """
    found = largest_rise(loss)
    if found is None or loss[found[1]] - loss[found[0]] < NOTABLE * loss.max():
        return "It does not rise on the way."
    low, high = found
    return (
        f"It rises again, from {loss[low]:.3g} at time {times[low]:.3g} to {loss[high]:.3g} "
        f"at time {times[high]:.3g}."
    )


def order(rates: np.ndarray) -> str:
    """Which of two concepts is learned first.

    Example:
        >>> order(np.array([0.5, 2.0]))
        'Rates of learning: 0.5 and 2; the second concept leads.'
    """
    first = "first" if rates[0] > rates[1] else "second"
    return f"Rates of learning: {rates[0]:.3g} and {rates[1]:.3g}; the {first} concept leads."


def remainder(shares: np.ndarray) -> str:
    """What is left of two concepts, given which share of each is learned at the end.

    Example:
        >>> remainder(np.array([0.9, 1.0]))
        'At the end 0.1 and 0 of them are still to be learned.'
    """
    if not np.isfinite(shares).all():
        return "Descent diverges at this learning rate."
    left, other = abs(shares - 1)
    return f"At the end {left:.2g} and {other:.2g} of them are still to be learned."


def jump(loss: np.ndarray, kernel: np.ndarray, notable: float) -> str:
    """What became of a loss and of the largest eigenvalue of the tangent kernel, by step.

    Args:
        loss: From step 0 on.
        kernel: Likewise.
        notable: A rise by this share of the highest loss is a catapult.

    Example:
        >>> jump(np.array([4.0, 1.0, 2.0, 0.0]), np.array([4.0, 4.0, 2.0, 1.0]), 0.01)[:60]
        'A catapult: the loss rises from 1 at step 1 to 2 at step 2 a'
    """
    if not np.isfinite(loss).all():
        return "It diverges."
    end = f"{kernel[-1] / kernel[0]:.2f} of its size"
    found = largest_rise(loss)
    if found and loss[found[1]] - loss[found[0]] > notable * loss.max():
        low, high = (f"{loss[i]:.3g} at step {i}" for i in found)
        return (
            f"A catapult: the loss rises from {low} to {high} and ends at {loss[-1]:.3g}; the "
            f"kernel ends at {end}."
        )
    return f"The loss falls from {loss[0]:.3g} to {loss[-1]:.3g}; the kernel ends at {end}."


def edge_of_stability(edge: Flip) -> str:
    """Where a function has its minimum, and up to which learning rate descent stays there.

    Example:
        >>> from dynascope.theories.oscillation.one_dimension import flip
        >>> edge_of_stability(flip("(x**2-1)**2/4", 1.0))
        'The minimum is at 1, the limit of stability 1 (supercritical).'
    """
    limit = f"the limit of stability {edge.stability_limit:.6g} ({edge.kind})"
    return f"The minimum is at {edge.minimum:.6g}, {limit}."


def descent(rate: float, verdict: str, points: Sequence[float]) -> str:
    """What descent does at a learning rate, with the points that it visits in turn.

    Example:
        >>> descent(1.05, "period-2", (0.87, 1.09)), descent(2.1, "diverges", ())
        ('At 1.05 descent ends on an orbit of period 2: 0.87, 1.09.', 'At 2.1 descent diverges.')
    """
    word = {"chaotic": "is chaotic", "undecided": "is undecided"}.get(verdict, verdict)
    if verdict.startswith("period"):
        word = f"ends on an orbit of {verdict.replace('-', ' ')}"
    return f"At {rate:.6g} descent {word}" + (f": {listed(points[:8], 6)}." if points else ".")
