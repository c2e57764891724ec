"""The reference systems S1 to S3, with losses for `incremental_stages`."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

SEPARATE = np.array([3.0, -2.0, 1.5, -1.0, 0.5])  # S1
RETURNING = np.array([-0.3, 1.0, 0.9])  # S2
_RHO = 0.9 / np.sqrt(2)
MOMENTS = np.array([[1, _RHO, _RHO], [_RHO, 1, 0], [_RHO, 0, 1]])


def separate(z):
    """S1: a diagonal linear network on white inputs."""
    return 0.5 * jnp.sum((z - SEPARATE) ** 2)


def returning(z):
    """S2: coordinate 0 joins, leaves, and comes back with the other sign."""
    return 0.5 * (z - RETURNING) @ MOMENTS @ (z - RETURNING)


def heads(x, scores, values):
    """Diagonal attention heads beside each other; scores and values are (heads, d)."""
    weights = jax.nn.softmax(jnp.einsum("snk,hk,smk->hsnm", x, scores, x), -1)
    return jnp.einsum("hsnm,smk,hk->snk", weights, x, values)


class Teacher(NamedTuple):
    """S3: the toy problem of appendix A."""

    x: np.ndarray
    y: np.ndarray
    scores: np.ndarray
    values: np.ndarray

    def loss(self, z, number=1):
        """Of z = [scores of every head, values of every head]."""
        scores, values = jnp.reshape(z, (2, number, -1))
        error = heads(self.x, scores, values) - self.y
        return 0.5 * jnp.mean(jnp.sum(error**2, axis=(1, 2)))


def teacher(samples=1000, tokens=10, size=50, scale=0.5, seed=0):
    """Inputs first, then w_K, w_Q, w_V, w_O, from numpy's generator."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(samples, tokens, size))
    k, q, v, o = (scale * random.normal(size=size) for _ in range(4))
    scores = np.einsum("snk,smk->snm", x * (k * q), x)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = (weights / weights.sum(-1, keepdims=True)) @ x * (v * o)
    return Teacher(x, y, k * q, v * o)
