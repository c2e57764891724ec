"""Gradient descent on a linear model in closed form: what a tangent kernel predicts.

zhu2024 (3.7): on half the sum of squares the residual after t steps is (I - eta K)^t (f0 - y), so
descent converges exactly if eta < 2 / lambda_max(K); on the mean of squares eta becomes
2 eta / n. Outputs elsewhere follow through the kernel between there and the training inputs.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from dynascope.core.errors import bad


class LinearDescent(NamedTuple):
    """Outputs of a linear model under gradient descent, at the steps asked for."""

    train: np.ndarray  # (steps, n)
    test: np.ndarray | None  # (steps, m)
    loss: np.ndarray  # (steps,)


def linear_descent(
    kernel: Any,
    start: Any,
    target: Any,
    learning_rate: float,
    steps: Any,
    *,
    loss: Literal["half", "mse"] = "half",
    test_kernel: Any = None,
    test_start: Any = None,
) -> LinearDescent:
    """Outputs after each number of steps, without taking any.

    Args:
        kernel: Tangent kernel K of the training inputs, (n, n), symmetric.
        start: Outputs f0 of the model at the training inputs, (n,).
        target: Labels y, (n,).
        learning_rate: The learning rate eta.
        steps: Numbers of steps t, (steps,).
        loss: "half": sum (f - y)^2 / 2; "mse": sum (f - y)^2 / n.
        test_kernel: Kernel between test inputs and training inputs, (m, n).
        test_start: Outputs at the test inputs at first, (m,).

    Returns:
        Outputs at training inputs, at test inputs if their kernel is given, and the loss.

    Example:
        >>> found = linear_descent([[2.0]], [0.0], [1.0], 0.25, [0, 1, 2])
        >>> found.train.ravel().tolist()  # 1 - (1 - 0.25 * 2)^t
        [0.0, 0.5, 0.75]
    """
    k, f0, y = (np.asarray(v, float) for v in (kernel, start, target))
    n = len(f0)
    if k.shape != (n, n) or y.shape != (n,):
        raise bad("kernel", k.shape, f"shape ({n}, {n}) and {n} labels, as there are outputs")
    if loss not in ("half", "mse"):
        raise bad("loss", loss, "'half' or 'mse'")
    rate = learning_rate if loss == "half" else 2 * learning_rate / n
    times = np.asarray(steps)
    values, vectors = np.linalg.eigh((k + k.T) / 2)
    shares = vectors.T @ (f0 - y)  # of the residual, by eigenvector
    test = None
    with np.errstate(over="ignore", invalid="ignore"):  # beyond 2 / lambda_max it diverges
        left = (1 - rate * values) ** times[:, None] * shares
        size = np.sum(left**2, axis=1) * (0.5 if loss == "half" else 1 / n)
        if test_kernel is not None:
            moved = (_sum_of_powers(rate * values, times) * rate * shares) @ vectors.T
            test = np.asarray(test_start, float) - moved @ np.asarray(test_kernel, float).T
        return LinearDescent(y + left @ vectors.T, test, size)


def _sum_of_powers(a: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The sum of (1 - a)^s over s < t, (times, values); t where a is zero."""
    t = times[:, None].astype(float)
    safe = np.where(a == 0, 1.0, a)
    small = np.clip(safe, None, 0.5)  # where 1 - (1 - a)^t would lose digits
    direct = (1 - (1 - safe) ** times[:, None]) / safe
    gentle = -np.expm1(t * np.log1p(-small)) / small
    return np.where(a == 0, t, np.where(a < 0.5, gentle, direct))
