"""One step of descent of a quadratic model on one example: zhu2024 (3.11) to (3.14).

With r = g - y and c = |x|^2 / (m d)

    r' = (1 - eta lambda + c eta^2 r g) r,     lambda' = lambda - 4 eta c r g + c eta^2 r^2 lambda,

the second as a product, which is 0 and not 0/0 where r = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Reduced(NamedTuple):
    """The dimensionless variables of (3.13), (3.14); `sign` is that of g - y."""

    u: Any
    v: Any
    w: Any
    sign: Any


def quadratic_step(
    residual: Any, kernel: Any, rate: Any, curvature: Any, label: Any
) -> tuple[Any, Any]:
    """One step of descent on plain numbers or arrays.

    Args:
        residual: r = g - y.
        kernel: The tangent kernel lambda.
        rate: The learning rate eta.
        curvature: c = |x|^2 / (m d), or gamma^2 |x|^2 for a general quadratic model.
        label: y.

    Returns:
        Residual and kernel after the step.

    Example:
        >>> [round(number, 12) for number in quadratic_step(1.0, 1.0, 0.5, 0.01, 0.0)]
        [0.5025, 0.9825]
    """
    bend = curvature * rate * residual
    output = residual + label
    factor = 1 - rate * kernel + rate * (bend * output)
    return factor * residual, kernel - 4 * (bend * output) + rate * (bend * residual) * kernel


def reduced_step(state: Reduced, label_size: Any) -> Reduced:
    """One step of (3.13), (3.14); `label_size` is eta sqrt(c) y = w / (sign sqrt(u)).

    Example:
        >>> after = reduced_step(Reduced(0.25, 2.5, 0.0, 1.0), 0.0)
        >>> after.u, 4 - after.v == (1 + 0.25) * (4 - 2.5)  # exact where y = 0
        (0.390625, True)
    """
    factor = 1 - state.v + state.u + state.w
    u = factor**2 * state.u
    v = state.v - state.u * (4 - state.v) - 4 * state.w
    sign = np.sign(factor) * state.sign
    return Reduced(u, v, sign * np.sqrt(u) * label_size, sign)
