"""Monte Carlo for zhu2024 Prop. 2.4.4 (gradients at the start) and Lemmas A.11.1, A.11.4 to A.11.8.

Most lemmas bound a norm of Gaussian numbers that an adversary may move by up to R. The
adversary here takes the worst direction for the numbers drawn, as the proofs allow it. Each is
put beside the same bound without the term that pays for it, which must be too small.
"""

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


def _exceeded(found: np.ndarray, allowed: float, **limits: float) -> dict[str, Exceeded]:
    """How often each of several limits was exceeded."""
    return {k: Exceeded(float((found > v).mean()), allowed, len(found)) for k, v in limits.items()}


def inner_product(radius: float, t: float, draws: int, seed: int) -> dict[str, Exceeded]:
    """Lemma A.11.4: |a . b| <= t + |b| R, but for a share 2 exp(-t^2 / 2 |b|^2)."""
    random = np.random.default_rng(seed)
    b = random.normal(size=20) / 20**0.5
    size = float(np.linalg.norm(b))
    found = np.abs(random.normal(size=(draws, 20)) @ b) + radius * size  # moved along b
    allowed = 2 * float(np.exp(-(t**2) / (2 * size**2)))
    return _exceeded(found, allowed, lemma=t + size * radius, without=t)


def image_norm(radius: float, t: float, draws: int, seed: int) -> dict[str, Exceeded]:
    """Lemma A.11.7: |B a| <= t + |B|_F + |B| R, but for 2 exp(-c t^2 / |B|^2); c is 1/2.

    The adversary moves along the top right singular vector, with the sign that helps.
    """
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(10, 20)) / 20**0.5
    _, s, v = np.linalg.svd(matrix)
    a = random.normal(size=(draws, 20))
    a += radius * np.sign(a @ v[0])[:, None] * v[0]
    found, free = np.linalg.norm(a @ matrix.T, axis=1), float(t + np.linalg.norm(matrix))
    allowed = 2 * float(np.exp(-((t / s[0]) ** 2) / 2))
    return _exceeded(found, allowed, lemma=free + float(s[0]) * radius, without=free)


def series_matrices(seed: int, scale: float = 1.0) -> tuple[np.ndarray, float]:
    """Twenty 3 x 3 matrices B_k and nu = max(|sum B B^T|, |sum B^T B|), below 1 at scale 1."""
    b = scale * np.random.default_rng(seed).normal(size=(20, 3, 3)) / 60
    rows, columns = np.einsum("kij,klj->il", b, b), np.einsum("kji,kjl->il", b, b)
    return b, float(max(np.linalg.norm(rows, 2), np.linalg.norm(columns, 2)))


def matrix_series(
    radius: float, sigmas: float, draws: int, seed: int, scale: float = 1.0
) -> dict[str, Exceeded]:
    """Lemma A.11.8: |sum (g_k + d_k) B_k| <= t + R sqrt(nu), but for (d1 + d2) exp(-t^2 / 2 nu).

    With t = `sigmas` sqrt(nu); "printed" has R nu in place of R sqrt(nu). The adversary moves
    the coefficients along the top singular vectors of the sum that was drawn.
    """
    b, nu = series_matrices(seed, scale)
    g = np.random.default_rng(seed + 1).normal(size=(draws, len(b)))
    u, _, v = np.linalg.svd(np.einsum("nk,kij->nij", g, b))
    pull = np.einsum("ni,kij,nj->nk", u[:, :, 0], b, v[:, 0])
    g = g + radius * pull / np.linalg.norm(pull, axis=1, keepdims=True)
    found = np.linalg.norm(np.einsum("nk,kij->nij", g, b), 2, axis=(1, 2))
    t, allowed = sigmas * nu**0.5, 6 * float(np.exp(-(sigmas**2) / 2))
    return _exceeded(found, allowed, lemma=t + radius * nu**0.5, printed=t + radius * nu, without=t)


COLUMNS = 40
FACTOR = 2**0.5  # the constant C; |W| is Lipschitz in A with constant max |B_i|


def random_columns(
    radius: float, t: float, draws: int, seed: int, columns: int = COLUMNS
) -> dict[str, Exceeded]:
    """Lemmas A.11.5 (R = 0) and A.11.6: W = [B_1 a_1, ..., B_n a_n], a_i Gaussian, moved by R.

    |W| <= C (max |B_i| (sqrt(n) + R + t) + max |B_i|_F), but for 2 exp(-t^2). The adversary moves
    each column along what the top singular vectors of W see of it. "short" leaves out sqrt(n),
    "without" leaves out R. The B_i are of norm 1 and nearly of rank 1 with one image, which
    makes |W| as large as sqrt(n).
    """
    random = np.random.default_rng(seed)
    b = random.normal(size=(columns, 4, 3)) / 12**0.5
    b[:, 0] *= 10
    b /= np.linalg.norm(b, 2, axis=(1, 2))[:, None, None]
    a = random.normal(size=(draws, columns, 3))
    w = np.einsum("ixk,nik->nxi", b, a)
    u, _, v = np.linalg.svd(w, full_matrices=False)
    pull = np.einsum("nx,ixk,ni->nik", u[:, :, 0], b, v[:, 0])
    a += radius * pull / np.linalg.norm(pull, axis=(1, 2), keepdims=True)
    found = np.linalg.norm(np.einsum("ixk,nik->nxi", b, a), 2, axis=(1, 2))
    largest = float(np.linalg.norm(b, 2, axis=(1, 2)).max())
    rest, root = float(np.linalg.norm(b, axis=(1, 2)).max()), columns**0.5

    def limit(*terms: float) -> float:
        return FACTOR * (largest * sum(terms) + rest)

    return _exceeded(found, 2 * float(np.exp(-(t**2))), lemma=limit(root, radius, t),
                     short=limit(radius, t), without=limit(root, t))  # fmt: skip


class Blocks(NamedTuple):
    """Spectral norms of matrices, and those of their blocks, (draws, blocks)."""

    whole: np.ndarray
    blocks: np.ndarray


def block_norms(draws: int, seed: int, alone: bool = False) -> Blocks:
    """Lemma A.11.1: symmetric 9 x 9 matrices in blocks of 3, or with one block that is not 0."""
    h = np.random.default_rng(seed).normal(size=(draws, 9, 9))
    if alone:
        h[:, 3:], h[:, :, 3:] = 0, 0
    h = h + h.transpose(0, 2, 1)
    parts = h.reshape(draws, 3, 3, 3, 3).transpose(0, 1, 3, 2, 4)
    blocks = np.linalg.norm(parts, 2, axis=(3, 4)).reshape(draws, 9)
    return Blocks(np.linalg.norm(h, 2, axis=(1, 2)), blocks)
