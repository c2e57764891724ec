"""Descent of the quadratic model of a two-layer ReLU network in its own weights, one example.

Plain float64 loops over all weights: what the two-number map is put against.
"""

from typing import Literal, NamedTuple

import numpy as np

from dynascope.theories import QuadraticMap

Kind = Literal["quadratic", "linear"]  # of Taylor's expansion around the start


class WeightPath(NamedTuple):
    """Arrays (steps + 1,)."""

    residual: np.ndarray
    kernel: np.ndarray
    distance: np.ndarray  # of the weights from the start


class Start(NamedTuple):
    """The units that are on at the example: only they ever move."""

    x: np.ndarray  # (d,)
    first: np.ndarray  # (units on, d)
    second: np.ndarray  # (units on,)
    width: int

    def map(self, v: float, label: float) -> QuadraticMap:
        """The same descent in two numbers, at a rate of v over the first kernel."""
        scale = 1 / (self.width * len(self.x))
        hidden = self.first @ self.x
        kernel = scale * float(hidden @ hidden + self.x @ self.x * (self.second @ self.second))
        output = scale**0.5 * float(hidden @ self.second)
        size = float(self.x @ self.x) / len(self.x)
        return QuadraticMap(v / kernel, self.width, label, size, output, kernel)


def draw(width: int, dimension: int, seed: int) -> Start:
    """Weights as the document draws them (zhu2024 (3.9)), and a random input with |x|^2 = d."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=dimension)
    x *= (dimension / (x @ x)) ** 0.5
    first, second = rng.normal(size=(width, dimension)), rng.choice([-1.0, 1.0], width)
    on = first @ x >= 0
    return Start(x, first[on], second[on], width)


def descend(
    start: Start, descent: QuadraticMap, steps: int, kind: Kind = "quadratic"
) -> WeightPath:
    """Follow the weights at the rate and label of a map."""
    scale, linear = (start.width * len(start.x)) ** -0.5, kind == "linear"
    u, v, rows = start.first, start.second, []
    first = start.first @ start.x
    for _ in range(steps + 1):
        hidden = u @ start.x
        output = float(hidden @ v)
        if linear:  # u0 v0 + v0 (u - u0) + u0 (v - v0)
            output = float(start.second @ hidden + first @ (v - start.second))
        reach, other = (first, start.second) if linear else (hidden, v)
        residual = scale * output - descent.label
        kernel = scale**2 * float(reach @ reach + start.x @ start.x * (other @ other))
        far = np.sum((u - start.first) ** 2) + np.sum((v - start.second) ** 2)
        rows.append((residual, kernel, float(far) ** 0.5))
        move = descent.learning_rate * residual * scale
        u, v = u - move * np.outer(other, start.x), v - move * reach
    return WeightPath(*np.array(rows).T)
