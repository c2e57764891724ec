"""Orders in the width behind zhu2024 Theorem 2.3.6, for three layers in closed form.

Lemmas A.2.1, A.2.2, A.9.2, A.11.2, A.11.3, A.11.9 and A.11.10 say how norms of neurons, of their
derivatives and of Hessian blocks grow with the width anywhere in a ball around the start.
Words: z1, z2 are pre-activations, h1, h2 neurons, w1, w2, w3 the weights of the layers.
"""

from typing import NamedTuple

import numpy as np

INPUTS = 10
RADIUS = 3.0  # of the ball
# The power of the width that each lemma allows, up to logarithms.
POWERS = {"neurons": 0.0, "inputs": 0.5, "spectral": 0.0, "frobenius": 0.5, "block": -0.5,
          "variance": -1.0, "chain": 0.0}  # fmt: skip


class Orders(NamedTuple):
    """The largest of each kind for one network."""

    neurons: float  # |h|, A.11.2
    inputs: float  # norm of what a neuron reads, A.11.3
    spectral: float  # norm of the derivative of that by the weights of a layer, A.2.1
    frobenius: float  # Frobenius norm of the same
    block: float  # spectral norm of a block of the output's Hessian, A.2.2 and A.9.2
    variance: float  # matrix variance, A.11.9
    chain: float  # |sum_i U_i df/dz_i| for matrices U_i of norm 1, A.11.10


def softplus(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log(1 + e^z) and its first two derivatives: smooth, and not bounded as tanh is."""
    slope = 1 / (1 + np.exp(-z))
    return np.logaddexp(0, z), slope, slope * (1 - slope)


def orders(width: int, seed: int, power: float = 0.5) -> Orders:
    """What the lemmas bound, at the point of the ball that has the largest |W2|.

    Args:
        width: m, of both hidden layers.
        seed: Of the start and the input.
        power: Of the in-degree that products are over; (2.2) has its root.
    """
    rng = np.random.default_rng(seed)
    x, w1 = rng.normal(size=INPUTS), rng.normal(size=(width, INPUTS))
    w2, w3 = rng.normal(size=(width, width)), rng.normal(size=width)
    u, _, v = np.linalg.svd(w2)
    w2 = w2 + RADIUS * np.outer(u[:, 0], v[0])
    directions = rng.normal(size=(width, 3, 3))
    directions /= np.linalg.norm(directions, 2, axis=(1, 2))[:, None, None]

    over = width**-power
    z1 = w1 @ x / INPUTS**0.5
    h1, g1, k1 = softplus(z1)
    h2, g2, k2 = softplus(over * (w2 @ h1))
    size = np.linalg.norm(x) / INPUTS**0.5  # |dz1_k / dw1_k|
    norm = np.linalg.norm(h1)
    passed = over * g2[:, None] * w2 * g1  # dh2 / dz1
    to_z2 = over * w3 * g2  # df / dz2
    to_z1 = over * g1 * (w2.T @ to_z2)

    spectral = (np.linalg.norm(passed, 2) * size, over * norm * g2.max(), size * g1.max())
    frobenius = (np.linalg.norm(passed) * size, over * norm * np.linalg.norm(g2),
                 size * np.linalg.norm(g1))  # fmt: skip
    blocks = hessian_blocks(size, over, w2, w3, (h1, g1, k1), (g2, k2))
    chain = (np.linalg.norm(np.einsum("i,iab->ab", to, directions), 2) for to in (to_z1, to_z2))
    return Orders(
        float(max(np.abs(h1).max(), np.abs(h2).max())),
        float(max(norm, np.linalg.norm(h2))),
        float(max(spectral)), float(max(frobenius)), max(blocks.values()),
        matrix_variance(size, over, w2, (h1, g1), k2), float(max(chain)),
    )  # fmt: skip


def hessian_blocks(
    size: float, over: float, w2: np.ndarray, w3: np.ndarray, first: tuple, second: tuple
) -> dict[tuple[int, int], float]:
    """Spectral norms of the blocks of the output's Hessian by layers; that of (3, 3) is 0.

    Args:
        size: |x| / sqrt(inputs).
        over: 1 / sqrt(width), or another power of the width.
        w2: Weights of the second layer, as they are in the ball.
        w3: Weights of the output.
        first: h1, and the first two derivatives of the activation at z1.
        second: The first two derivatives at z2.
    """
    (h1, g1, k1), (g2, k2) = first, second
    norm = np.linalg.norm(h1)
    bent = over**3 * (w2.T * (w3 * k2)) @ w2  # what z2 adds to d2f / dz1 dz1
    both = size**2 * (g1[:, None] * bent * g1 + np.diag(k1 * over**2 * (w2.T @ (w3 * g2))))
    # d2f / dz1_k dW2_ij = A_ki h1_j + c_i g1_k size [j = k]; times its transpose:
    a, c = size * over**3 * g1[:, None] * w2.T * (w3 * k2), over**2 * w3 * g2
    cross = np.outer(a @ c, size * g1 * h1)
    square = norm**2 * a @ a.T + cross + cross.T + np.diag((size * g1) ** 2) * (c @ c)
    return {
        (1, 1): float(np.linalg.norm(both, 2)),
        (1, 2): float(np.linalg.norm(square, 2) ** 0.5),
        (2, 2): float(over**3 * norm**2 * np.abs(w3 * k2).max()),
        (1, 3): float(over**2 * size * np.linalg.norm(g2[:, None] * w2 * g1, 2)),
        (2, 3): float(over**2 * norm * g2.max()),
    }


def matrix_variance(
    size: float, over: float, w2: np.ndarray, first: tuple, k2: np.ndarray
) -> float:
    """The largest of (A.33) over the pairs of layers, for the output's second layer."""
    h1, g1 = first
    by_w1 = over * size * w2 * g1  # (i, k) the derivative of z2_i by w1, without the input
    squares = (np.sum(by_w1**2, axis=1), np.full(len(w2), over**2 * (h1 @ h1)))
    found = []
    for square in squares:  # by the first layer's weights, by the second's
        weight = k2**2 * square
        found.append(np.linalg.norm((by_w1.T * weight) @ by_w1, 2))
        found.append(weight.max() * over**2 * (h1 @ h1))
    return float(over**2 * max(found))
