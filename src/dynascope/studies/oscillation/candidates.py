"""Candidate models of what may oscillate at once: directions alone, and with cross terms.

002 (3.10) to (3.12). Rows x_i of X are the directions' parameters; the loss sums
(|x_i|^2 - a_i)^2 / 4 over rows and 2 (x_i . x_j - b_ij)^2 / 4 over chosen pairs, the edges.
Without edges it is separable (3.10); with all of them it is ||X X^T - C||^2 / 4 (3.11). The
asymmetric twin takes y_i . z_j instead and halves. Terms are a matrix of 0 and 1 with ones on
the diagonal. The learning rate is 1: it is part of the targets.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from dynascope.studies.oscillation.factor_runs import LARGE, descend, generic


class ByEdges(NamedTuple):
    """What happens at one strength, over the number of edges from none to all."""

    symmetric: np.ndarray  # (counts, runs) whether descent on X X^T escaped
    asymmetric: np.ndarray  # (counts, runs) whether descent on Y Z^T escaped
    beyond: np.ndarray  # (counts, runs) eigenvalues past 2 / rate at a minimiser of X X^T


def edge_terms(dimension: int, edges: int, runs: int, seed: int) -> np.ndarray:
    """Random choices of a number of pairs, (runs, dimension, dimension).

    Example:
        >>> edge_terms(3, 3, 1, seed=0)[0].tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    random = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(dimension), 2)))
    terms = np.broadcast_to(np.eye(dimension), (runs, dimension, dimension)).copy()
    for own in terms:
        i, j = pairs[random.permutation(len(pairs))[:edges]].T
        own[i, j] = own[j, i] = 1.0
    return terms


def candidate_loss(x: np.ndarray, target: np.ndarray, terms: np.ndarray) -> float:
    """The loss of one X, (d, k), for a target and terms, (d, d)."""
    return float((terms * (x @ x.T - target) ** 2).sum() / 4)


def descend_symmetric(
    targets: np.ndarray, x: np.ndarray, terms: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Steps of descent on the candidate loss with rate 1.

    Args:
        targets: C, (runs, d, d).
        x: (runs, d, k).
        terms: (runs, d, d).
        steps: How many.

    Returns:
        The last X, and which descents escaped; those are put to zero.
    """
    escaped = np.zeros(len(x), bool)
    for _ in range(steps):
        x = x - (terms * (x @ x.swapaxes(1, 2) - targets)) @ x
        out = ~(np.abs(x).max(axis=(1, 2)) < LARGE)
        escaped |= out
        x = np.where(out[:, None, None], 0.0, x)
    return x, escaped


def eigenvalues_at_minimum(strength: float, terms: np.ndarray) -> np.ndarray:
    """Dense Hessian spectrum at X = sqrt(K) I, a minimiser for the target K I, ascending."""
    x = np.sqrt(strength) * np.eye(len(terms))
    rows = []
    for i, j in zip(*np.nonzero(terms), strict=True):
        slope = np.zeros_like(x)  # of x_i . x_j, whose squared error counts one quarter
        slope[i] += x[j]
        slope[j] += x[i]
        rows.append(slope.ravel() / np.sqrt(2))
    jacobian = np.array(rows)
    return np.linalg.eigvalsh(jacobian.T @ jacobian)


def by_edges(strength: float, dimension: int, runs: int, steps: int, seed: int) -> ByEdges:
    """Descents from small generic starts on the target K I, for every number of edges."""
    target = np.broadcast_to(strength * np.eye(dimension), (runs, dimension, dimension))
    y, z = generic(runs, dimension, seed)
    symmetric, asymmetric, beyond = [], [], []
    for edges in range(dimension * (dimension - 1) // 2 + 1):
        terms = edge_terms(dimension, edges, runs, seed + edges)
        symmetric.append(descend_symmetric(target, y, terms, steps)[1])
        asymmetric.append(descend(target, y, z, steps, terms).escaped)
        beyond.append([(eigenvalues_at_minimum(strength, t) > 2).sum() for t in terms])
    return ByEdges(np.array(symmetric), np.array(asymmetric), np.array(beyond))
