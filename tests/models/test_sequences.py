"""Attention heads and diagonal transformers against loops over tokens (boix2023 (1), Ex. 3.2)."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.models import AttentionHead, DiagonalAttention, DiagonalTransformer
from dynascope.runtime.precision import precision

TOKENS, SIZE = 4, 3


def head(x, scores, values):
    """softmax(X A X^T) X C, token by token, without a factor 1 / sqrt(d)."""
    found = np.zeros_like(x)
    for i in range(len(x)):
        weights = np.array([np.exp(x[i] @ scores @ x[j]) for j in range(len(x))])
        for j in range(len(x)):
            found[i] += weights[j] / weights.sum() * (x[j] @ values)
    return found


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def by_loops(model, params, x):
    p = {name: np.asarray(value) for name, value in params.items()}
    if isinstance(model, AttentionHead):
        return head(x, p["K"] @ p["Q"].T, p["V"] @ p["O"].T)
    z = p["u"] * p["v"]
    if isinstance(model, DiagonalAttention):
        return head(x, np.diag(z[:SIZE]), np.diag(z[SIZE:]))
    frozen = np.random.default_rng(0).normal(size=(model.layers, 2, SIZE, SIZE)) / SIZE**0.5
    for heads, (first, second) in zip(z.reshape(model.layers, model.heads, 2, SIZE), frozen):
        x = x + sum(head(x, np.diag(a), np.diag(c)) for a, c in heads)
        x = x + gelu(x @ first) @ second.T
    return x


@pytest.mark.parametrize(
    "model",
    [AttentionHead(), AttentionHead(width=2), DiagonalAttention(), DiagonalTransformer(2, 3)],
    ids=str,
)
def test_outputs_are_those_of_loops_and_any_leading_axes_may_stand_before(model):
    with precision("float64"):
        network = model.build(SIZE, SIZE)
        params = quick(network.init)(jax.random.key(1))
        x = np.random.default_rng(0).normal(size=(2, 5, TOKENS, SIZE))
        y = np.asarray(quick(network.apply)(params, x))
        one = quick(jax.vmap(jax.vmap(lambda v: network.apply(params, v))))(x)
    expected = np.array([[by_loops(model, params, sample) for sample in row] for row in x])
    assert np.allclose(y, expected, rtol=1e-10) and np.allclose(y, one, rtol=1e-12)
