"""Descent of gated bilinear networks in their own parameters, in plain numpy: the witness."""

from __future__ import annotations

import numpy as np


class Gated:
    """The quadratic model of a two-layer ReLU network, half the sum of squares."""

    def __init__(self, x, y, width, seed=0):
        rng = np.random.default_rng(seed)
        self.x, self.y = np.atleast_2d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        self.d, self.m = self.x.shape[1], width
        self.u = rng.normal(size=(width, self.d))
        self.v = rng.choice([-1.0, 1.0], size=width)
        self.on = (self.x @ self.u.T >= 0).astype(float)
        self.scale = (self.m * self.d) ** -0.5

    def outputs(self):
        return self.scale * (self.x @ self.u.T * self.on) @ self.v

    def jacobian(self):
        hidden = self.scale * self.x @ self.u.T * self.on
        through = self.scale * (self.on * self.v)[:, :, None] * self.x[:, None, :]
        return np.concatenate([through.reshape(len(self.x), -1), hidden], axis=1)

    def kernel(self):
        jacobian = self.jacobian()
        return jacobian @ jacobian.T

    def step(self, rate):
        move = rate * (self.outputs() - self.y) @ self.jacobian()
        self.u = self.u - move[: self.m * self.d].reshape(self.m, self.d)
        self.v = self.v - move[self.m * self.d :]


def followed(model: Gated, rate: float, steps: int):
    """Residuals (steps + 1, n) and kernels (steps + 1, n, n)."""
    residuals, kernels = [], []
    for _ in range(steps + 1):
        residuals.append(model.outputs() - model.y)
        kernels.append(model.kernel())
        model.step(rate)
    return np.array(residuals), np.array(kernels)
