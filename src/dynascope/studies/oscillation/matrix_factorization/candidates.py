"""Candidate models of what may oscillate at once: directions alone, and with cross terms.

chen2025 (3.10) to (3.12). Rows x_i of X are the directions' parameters; the loss sums
(|x_i|^2 - a_i)^2 / 4 over rows and 2 (x_i . x_j - b_ij)^2 / 4 over chosen pairs, the edges.
Without edges it is separable (3.10); with all of them it is ||X X^T - C||^2 / 4 (3.11). The
asymmetric twin takes y_i . z_j instead and halves. Terms are a matrix of 0 and 1 with ones on
the diagonal. The learning rate is 1: it is part of the targets.
"""

import itertools

import numpy as np


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
