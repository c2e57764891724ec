"""One-dimensional data and the quadratic model of a two-layer ReLU network (zhu2024 B.11, B.12).

The tangent kernel has two eigenvectors that never move: p1 = x on the inputs that are not
negative, p2 = x on the negative ones. Along each of them descent is a `QuadraticMap` of its
own, exactly: with s = |p|^2, z = <g, p> / |p|, Y = <y, p> / |p| in place of |x|^2 / d, g, y.
Outside both nothing moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.theories.catapult.quadratic_map import QuadraticMap


class Direction(NamedTuple):
    """An eigenvector of the tangent kernel: x on the inputs of one sign."""

    name: str  # "positive" (inputs >= 0) or "negative"
    size: float  # s, the squared norm
    unit: np.ndarray  # (samples,)


def directions(x: np.ndarray) -> tuple[Direction, ...]:
    """The eigenvectors that have a length, the positive inputs first.

    Example:
        >>> [(d.name, d.size) for d in directions(np.array([1.0, 2.0, -3.0]))]
        [('positive', 5.0), ('negative', 9.0)]
    """
    x = np.asarray(x, float)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise bad("x", x.shape, "one finite number per sample: this theory is one-dimensional")
    if not np.abs(x).sum() > 0:
        raise bad("x", x, "at least one input that is not 0", "nothing can be learned from zeros")
    found = []
    for name, part in (("positive", np.where(x >= 0, x, 0)), ("negative", np.where(x < 0, x, 0))):
        size = float(part @ part)
        if size > 0:
            found.append(Direction(name, size, part / np.sqrt(size)))
    return tuple(found)


def along_directions(
    x: np.ndarray,
    labels: np.ndarray,
    outputs: np.ndarray,
    kernels: tuple[float, ...],
    width: float,
    learning_rate: float,
) -> tuple[QuadraticMap, ...]:
    """The exact one-number descents along each eigenvector, in the order of `directions`.

    Args:
        x: Inputs, (samples,).
        labels: y, (samples,).
        outputs: g at the start, (samples,).
        kernels: The kernel's eigenvalue of each direction at the start.
        width: m.
        learning_rate: eta for half the sum of squares; see `half_rate`.

    Returns:
        One map per direction.
    """
    found = directions(x)
    if len(kernels) != len(found):
        raise bad("kernels", kernels, f"{len(found)} eigenvalues, one per direction")
    return tuple(
        QuadraticMap(
            learning_rate, width, float(labels @ d.unit), d.size, float(outputs @ d.unit), kernel
        )
        for d, kernel in zip(found, kernels, strict=True)
    )


def half_rate(rate: float, samples: int) -> float:
    """The rate for half the sum of squares that moves as `rate` does for their mean.

    Example:
        >>> half_rate(0.4, 128)
        0.00625
    """
    return 2 * rate / samples


def matrix_step(
    residuals: np.ndarray, kernel: np.ndarray, x: np.ndarray, labels: np.ndarray, width: float,
    rate: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """One step of (B.7), (B.8): residuals (samples,) and the kernel (samples, samples).

    Here p1 and p2 are not of unit length, as in the document.
    """
    outputs = residuals + labels
    bend, growth = np.zeros_like(kernel), np.zeros_like(kernel)
    for side in (x >= 0, x < 0):
        p, r = np.where(side, x, 0), np.where(side, residuals, 0)
        bend += (r @ np.where(side, outputs, 0)) * np.outer(p, p)
        growth += (r @ kernel @ r) * np.outer(p, p)
    moved = residuals - rate * (kernel @ residuals) + rate**2 / width * (bend @ residuals)
    return moved, kernel + rate**2 / width * growth - 4 * rate / width * bend


def printed_reduction(
    residuals: np.ndarray, labels: np.ndarray, value: float, direction: Direction, width: float,
    rate: float,
) -> float:  # fmt: skip
    """The eigenvalue after a step as (B.10) prints it: |p|^2 is missing, and w1 is no projection.

    Args:
        residuals: g - y, (samples,).
        labels: y, (samples,).
        value: The eigenvalue now.
        direction: Which one.
        width: m.
        rate: The learning rate for half the sum of squares.

    Returns:
        The eigenvalue after the step.
    """
    side = direction.unit != 0
    u = rate**2 / width * float(residuals @ direction.unit) ** 2
    w = rate**2 / width * float(residuals[side] @ labels[side])
    return (rate * value - u * (4 - rate * value) - 4 * w) / rate
