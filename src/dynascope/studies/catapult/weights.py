"""Descent of the quadratic model of a two-layer ReLU network in its own weights, one example.

Plain float64 loops over all weights: what the two-number map is put against.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.theories import QuadraticMap


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
        input_scale = float(self.x @ self.x) / len(self.x)
        return QuadraticMap(v / kernel, self.width, label, input_scale, output, kernel)


def draw(width: int, dimension: int, seed: int) -> Start:
    """Weights as the document draws them (004 (3.9)), and a random input with |x|^2 = d."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=dimension)
    x *= (dimension / (x @ x)) ** 0.5
    first, second = rng.normal(size=(width, dimension)), rng.choice([-1.0, 1.0], width)
    on = first @ x >= 0
    return Start(x, first[on], second[on], width)


def descend(start: Start, descent: QuadraticMap, steps: int) -> WeightPath:
    """Follow the weights at the rate and label of a map."""
    scale = (start.width * len(start.x)) ** -0.5
    u, v, rows = start.first, start.second, []
    for _ in range(steps + 1):
        hidden = u @ start.x
        residual = scale * float(hidden @ v) - descent.label
        kernel = scale**2 * float(hidden @ hidden + start.x @ start.x * (v @ v))
        far = np.sum((u - start.first) ** 2) + np.sum((v - start.second) ** 2)
        rows.append((residual, kernel, float(far) ** 0.5))
        move = descent.learning_rate * residual * scale
        u, v = u - move * np.outer(v, start.x), v - move * hidden
    return WeightPath(*np.array(rows).T)
