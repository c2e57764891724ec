"""Plain float64 loops that know nothing of jax or of the theories: the witnesses."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from dynascope.theories import flip


def descend(slope, x: float, rate: float, steps: int) -> float:
    for _ in range(steps):
        x -= rate * slope(x)
    return x


def quartic_slope(x: float) -> float:
    return x * (x * x - 1)


def _sigmoid(x):
    return 1 / (1 + math.exp(-x))


# g, g', the text of g, and a point x with g(x) = y: the loss is (g - y)^2.
FITS = {
    "sin": (math.sin, math.cos, "sin(x)", 0.5),
    "tanh": (math.tanh, lambda x: 1 - math.tanh(x) ** 2, "tanh(x)", 0.3),
    "square": (lambda x: x * x, lambda x: 2 * x, "x**2", 1.0),
    "cube": (lambda x: x**3, lambda x: 3 * x * x, "x**3", 1.0),
    "exp": (math.exp, math.exp, "exp(x)", 0.2),
    "log": (math.log, lambda x: 1 / x, "log(x)", 1.5),
    "sigmoid": (_sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x)), "sigmoid(x)", 0.4),
    "softplus": (lambda x: math.log1p(math.exp(x)), _sigmoid, "softplus(x)", 0.3),
    "gaussian": (
        lambda x: math.exp(-x * x),
        lambda x: -2 * x * math.exp(-x * x),
        "exp(-x**2)",
        0.8,
    ),
}


@cache
def fit_edge(name: str):
    """The edge of stability of (g - y)^2, which several tests look at."""
    g, _, text, at = FITS[name]
    return flip(f"({text}-({g(at)!r}))**2", at + 0.01)


def factor_gradient(y: np.ndarray, z: np.ndarray, target: np.ndarray):
    error = y @ z.T - target
    return error @ z, error.T @ y


def factor_descent(y, z, target, rate: float, steps: int):
    """Descent on ||Y Z^T - C||^2 / 2; None if it leaves finite numbers."""
    for _ in range(steps):
        dy, dz = factor_gradient(y, z, target)
        y, z = y - rate * dy, z - rate * dz
        if not abs(y).max() < 1e6:
            return None
    return y, z
