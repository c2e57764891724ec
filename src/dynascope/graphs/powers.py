"""Repeated application of an operator, with exact whole numbers or with a proved tolerance.

Every function yields, for the powers 1, 2, ..., a `Power`: the values and a bound on their
error. For whole-number operators and features there is none. For real operators a bound on
the rounding error is carried along with the values, so that truly equal values are never taken
for different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dynascope.core.errors import bad

EPSILON = float(np.finfo(np.float64).eps)
LARGEST_WORD = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Power:
    """Features of one depth.

    Attributes:
        values: One or more vectors (nodes,).
        error: (nodes,) how far the values may be from the true ones; None if they are exact.
    """

    values: tuple[np.ndarray, ...]
    error: np.ndarray | None = None


def matrix_powers(
    matrix: sparse.csr_array, vector: np.ndarray, size: sparse.csr_array | None = None
) -> Iterator[Power]:
    """S x, S^2 x, ...: exact if both are whole numbers, otherwise in float64 with a bound.

    Args:
        matrix: S.
        vector: x.
        size: Entrywise bound on what went into each entry of S, where entries are differences
            of larger numbers; None for their absolute values.

    Yields:
        One `Power` for each exponent from 1 on.
    """
    if np.issubdtype(matrix.dtype, np.integer) and vector.dtype.kind in "iO":
        yield from (Power((values,)) for values in integer_powers(matrix, vector))
        return
    spread = abs(matrix) if size is None else size
    longest = int(np.diff(matrix.indptr).max(initial=0))
    yield from real_powers(matrix.__matmul__, spread.__matmul__, longest + 8, vector)


def integer_powers(matrix: sparse.csr_array, vector: np.ndarray) -> Iterator[np.ndarray]:
    """S x, S^2 x, ... in 64-bit words as long as they fit, then in Python's big integers.

    Example:
        >>> two = sparse.csr_array(np.array([[2]]))
        >>> powers = integer_powers(two, np.array([1]))
        >>> [int(next(powers)[0]) for _ in range(70)][-1] == 2**70
        True
    """
    largest_row = int(abs(matrix).sum(axis=1).max())
    while True:
        largest = max(int(vector.max()), -int(vector.min()))
        if vector.dtype != object and largest * largest_row > LARGEST_WORD:
            vector = vector.astype(object)
        vector = big_product(matrix, vector) if vector.dtype == object else matrix @ vector
        yield vector


def big_product(matrix: sparse.csr_array, vector: np.ndarray) -> np.ndarray:
    """The product for a vector of Python integers, which scipy cannot do."""
    result = np.zeros(matrix.shape[0], dtype=object)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if len(filled):
        terms = vector[matrix.indices]
        if (matrix.data != 1).any():
            terms = terms * matrix.data.astype(object)
        result[filled] = np.add.reduceat(terms, matrix.indptr[filled])
    return result


def real_powers(
    apply: Callable[[np.ndarray], np.ndarray],
    spread: Callable[[np.ndarray], np.ndarray],
    roundings: int,
    vector: np.ndarray,
) -> Iterator[Power]:
    """S x, S^2 x, ... in float64 with a running bound on the rounding error.

    If the error of x is at most e, entry by entry, that of the computed S x is at most
    |S| (e + roundings * epsilon * |x|): the textbook bound for sums of products, with room for
    the rounding of the entries of S themselves.

    Args:
        apply: x -> S x.
        spread: x -> |S| x, or something larger.
        roundings: Operations that touch one term of the sum.
        vector: x.

    Yields:
        One `Power` for each exponent from 1 on.
    """
    vector = vector.astype(np.float64)
    error = np.zeros_like(vector)
    exponent = 0
    while True:
        exponent += 1
        error = spread(error + roundings * EPSILON * abs(vector))
        vector = apply(vector)
        if not np.isfinite(error).all():
            raise bad("depth", exponent, "a depth at which the powers stay below 1e308")
        yield Power((vector,), error)
