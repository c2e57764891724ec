"""Monte Carlo for 004 Prop. 2.4.4 (gradient norms at the start) and Lemmas A.11.4, A.11.7, A.11.8.

Each lemma bounds a norm of Gaussian numbers that an adversary may move by up to R. The
adversary here takes the worst direction for the numbers drawn, as the proofs allow it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

BATCH = 100  # networks drawn at once
INPUTS, WIDTH = 20, 64


class GradientNorms(NamedTuple):
    """Norms of the gradient of ReLU networks at random starts and inputs, one per draw."""

    last: np.ndarray  # with respect to the last layer's weights
    whole: np.ndarray  # with respect to all weights


def gradient_norms(depth: int, draws: int, seed: int, scale: float = 1.0) -> GradientNorms:
    """Fully connected ReLU networks in the tangent kernel's scaling, inputs N(0, I).

    Layer by layer: the gradient with respect to W_l is d_l h_l^T / sqrt(inputs of the layer).

    Args:
        depth: Number of weight matrices L.
        draws: Networks, each with an input of its own.
        seed: Seed of the draws.
        scale: Standard deviation of the weights; the proposition has 1.
    """
    random = np.random.default_rng(seed)
    last, whole = [], []
    for start in range(0, draws, BATCH):
        count = min(BATCH, draws - start)
        sizes = [INPUTS, *[WIDTH] * (depth - 1), 1]
        h, hidden = random.normal(size=(count, INPUTS)), []
        weights = [scale * random.normal(size=(count, b, a)) for a, b in pairwise(sizes)]
        for w in weights:
            hidden.append(h)
            h = np.maximum(np.einsum("nba,na->nb", w, h) / h.shape[1] ** 0.5, 0)
        d, squares = np.ones((count, 1)), []
        for w, h in zip(weights[::-1], hidden[::-1], strict=True):
            squares.append((d**2).sum(axis=1) * (h**2).sum(axis=1) / h.shape[1])
            d = np.einsum("nb,nba->na", d, w) / h.shape[1] ** 0.5 * (h > 0)
        last.append(np.sqrt(squares[0]))
        whole.append(np.sqrt(np.sum(squares, axis=0)))
    return GradientNorms(np.concatenate(last), np.concatenate(whole))


class Exceeded(NamedTuple):
    """How often a bound was exceeded, and how often the lemma allows it at most."""

    share: float
    allowed: float
    draws: int


def inner_product(radius: float, t: float, draws: int, seed: int) -> Exceeded:
    """Lemma A.11.4: |a . b| <= t + |b| R, but for a share 2 exp(-t^2 / 2 |b|^2)."""
    random = np.random.default_rng(seed)
    b = random.normal(size=20) / 20**0.5
    size = float(np.linalg.norm(b))
    found = np.abs(random.normal(size=(draws, 20)) @ b) + radius * size  # moved along b
    allowed = 2 * np.exp(-(t**2) / (2 * size**2))
    return Exceeded(float((found > t + size * radius).mean()), float(allowed), draws)


def image_norm(radius: float, t: float, draws: int, seed: int) -> Exceeded:
    """Lemma A.11.7: |B a| <= t + |B|_F + |B| R, but for 2 exp(-c t^2 / |B|^2); c is 1/2.

    The adversary moves along the top right singular vector, with the sign that helps.
    """
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(10, 20)) / 20**0.5
    _, s, v = np.linalg.svd(matrix)
    a = random.normal(size=(draws, 20))
    a += radius * np.sign(a @ v[0])[:, None] * v[0]
    found = np.linalg.norm(a @ matrix.T, axis=1)
    limit = t + np.linalg.norm(matrix) + s[0] * radius
    return Exceeded(
        float((found > limit).mean()), float(2 * np.exp(-(t**2) / (2 * s[0] ** 2))), draws
    )


def series_matrices(seed: int) -> tuple[np.ndarray, float]:
    """Twenty small 3 x 3 matrices B_k and their nu = max(|sum B B^T|, |sum B^T B|), below 1."""
    b = np.random.default_rng(seed).normal(size=(20, 3, 3)) / 60
    rows, columns = np.einsum("kij,klj->il", b, b), np.einsum("kji,kjl->il", b, b)
    return b, float(max(np.linalg.norm(rows, 2), np.linalg.norm(columns, 2)))


def matrix_series(radius: float, sigmas: float, draws: int, seed: int) -> dict[str, Exceeded]:
    """Lemma A.11.8: |sum (g_k + d_k) B_k| <= t + R sqrt(nu), but for (d1 + d2) exp(-t^2 / 2 nu).

    With t = `sigmas` sqrt(nu); "printed" has R nu in place of R sqrt(nu). The adversary moves
    the coefficients along the top singular vectors of the sum that was drawn.
    """
    b, nu = series_matrices(seed)
    g = np.random.default_rng(seed + 1).normal(size=(draws, len(b)))
    u, _, v = np.linalg.svd(np.einsum("nk,kij->nij", g, b))
    pull = np.einsum("ni,kij,nj->nk", u[:, :, 0], b, v[:, 0])
    g = g + radius * pull / np.linalg.norm(pull, axis=1, keepdims=True)
    found = np.linalg.norm(np.einsum("nk,kij->nij", g, b), 2, axis=(1, 2))
    t, allowed = sigmas * nu**0.5, 6 * float(np.exp(-(sigmas**2) / 2))
    limits = {"proved": t + radius * nu**0.5, "printed": t + radius * nu}
    return {k: Exceeded(float((found > v).mean()), allowed, draws) for k, v in limits.items()}
