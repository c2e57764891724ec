"""The transformer of boix2023, Example 3.2, in loops over positions and heads; numpy, float64."""

from __future__ import annotations

import math

import numpy as np


def softmax(row: np.ndarray) -> np.ndarray:
    weights = np.exp(row - row.max())
    return weights / weights.sum()


def head(x, w_ask, w_answer, w_v, w_o, *, scale=1.0, causal=False) -> np.ndarray:
    """RANK-M1: smax(X W W'^T X^T) X W_V W_O^T, position by position."""
    out = np.zeros((len(x), w_o.shape[0]))
    for i in range(len(x)):
        seen = range(i + 1) if causal else range(len(x))
        scores = np.array([scale * (x[i] @ w_ask) @ (x[j] @ w_answer) for j in seen])
        for weight, j in zip(softmax(scores), seen, strict=True):
            out[i] += weight * (x[j] @ w_v) @ w_o.T
    return out


def gelu(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))(x)


def layer_norm(x, scale, offset, epsilon) -> np.ndarray:
    rows = [(r - r.mean()) / math.sqrt(r.var() + epsilon) * scale + offset for r in x]
    return np.array(rows)


def rotate(x: np.ndarray, base: float) -> np.ndarray:
    """Every pair (i, i + m) as a complex number, turned by position * base^(-i / m)."""
    m = x.shape[1] // 2
    turned = np.zeros_like(x)
    for t in range(len(x)):
        for i in range(m):
            z = complex(x[t, i], x[t, i + m]) * np.exp(1j * t * base ** (-i / m))
            turned[t, i], turned[t, i + m] = z.real, z.imag
    return turned
