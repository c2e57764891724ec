"""The top eigenpair of a symmetric operator on torch vectors, with its certificate.

The same method as `numerics.eigenpairs`, driven from Python because torch has no compiled loop:
Lanczos with full reorthogonalisation and thick restarts, which stops on the residual. Starting
from the last vector, a few products are enough along a training run.

Memory is the basis and little beside it: a product is written to its place in the basis, and the
start becomes the result. Searches of a run share one room for it: memory that is new to the process
would cost a sixth of a product. Rows of the room that no search has needed take no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

BASIS = 16  # vectors kept before a restart, with one more for the next product
# Of a residual, for a watched run: there is an eigenvalue within 5 %, and the error of the value,
# which is of second order, stays below 1 %. Batches differ by more, and each product takes longer
# than a training step.
TOLERANCE, MAX_PRODUCTS = 0.05, 200
ROUNDING = 1e-6  # of float32: below this share of the operator's scale a residual is zero
LEFT = 0.1  # of a product's length: if less is left outside the basis, rounding is taken out again
CHUNK = 2**16  # numbers of each vector that a restart combines at a time


class Eigenpair(NamedTuple):
    """The largest eigenvalue and what certifies it."""

    value: float
    vector: Any  # of length one; a tensor, or an array for jax
    residual: float  # |A v - value v| / |value|
    products: int
    converged: bool


def top_eigenpair(
    multiply: Callable[[Any, Any], Any],
    start: Any,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
    room: Any = None,
) -> Eigenpair:
    """The algebraically largest eigenvalue of v -> A v, and its vector.

    The residual comes from the products that were made: with V the basis and A V = V' M for the
    M that was measured, A V s - value V s is V' (M s - value s), whose length needs M and s only.
    That holds to rounding, whether or not the operator is as symmetric as it should be.

    Args:
        multiply: `multiply(v, out)` puts a symmetric product A v into `out`.
        start: Where to start: the last vector of a run, or a random one. Not zero; it is changed.
        tolerance: Largest residual that counts as converged.
        max_products: Most products; a value that has not converged then is a lower bound.
        room: A matrix whose rows, one for each vector that is kept before a restart, are used for
            the basis; of `BASIS` rows and made anew by default.

    Returns:
        The pair; `converged` is false if the products ran out.

    Example:
        >>> import torch
        >>> diagonal = torch.tensor([1.0, -7.0, 3.0])
        >>> times = lambda v, out: torch.mul(diagonal, v, out=out)
        >>> pair = top_eigenpair(times, torch.ones(3))
        >>> round(pair.value, 4), pair.converged
        (3.0, True)
    """
    size = len(start)
    room = start.new_empty(BASIS, size) if room is None else room
    basis = Basis(start.div_(start.norm()), room[:size])
    measured = np.zeros((basis.rows + 1, basis.rows))  # A v_j = sum over i of measured[i, j] v_i
    products, at, scale = 0, 1, 0.0
    while True:
        multiply(basis[at - 1], basis[at])
        products += 1
        measured[: at + 1, at - 1] = basis.orthogonalise(at)
        if not np.isfinite(measured[: at + 1, at - 1]).all():
            return Eigenpair(np.nan, None, np.nan, products, False)
        values, vectors = np.linalg.eigh((measured[:at, :at] + measured[:at, :at].T) / 2)
        value, best = float(values[-1]), vectors[:, -1]
        rest = float(np.linalg.norm(measured[: at + 1, :at] @ best - value * np.append(best, 0)))
        scale = max(scale, float(np.abs(values).max()))
        converged = rest <= max(tolerance * abs(value), ROUNDING * scale)
        exhausted = measured[at, at - 1] <= ROUNDING * scale or at == size
        if converged or exhausted or products >= max_products:
            break
        basis[at].div_(measured[at, at - 1])
        if at == basis.rows:
            at = _restart(basis, measured, values, vectors)
        at += 1
    vector = basis.combined(best)
    residual = rest / abs(value) if value else (0.0 if rest == 0 else np.inf)
    return Eigenpair(value, vector.div_(vector.norm()), residual, products, converged)


class Basis:
    """Orthonormal vectors: the first is the start itself, the others are rows of one matrix.

    Args:
        start: The first vector, of length one; its place is used for results.
        others: Room for the others: as many as are kept before a restart, the last is the next one.
    """

    def __init__(self, start: Any, others: Any) -> None:
        self._start, self._others, self.rows = start, others, len(others)

    def __getitem__(self, index: int) -> Any:
        return self._start if index == 0 else self._others[index - 1]

    def orthogonalise(self, at: int) -> np.ndarray:
        """Take from a vector what those before span; their shares, and the length left."""
        shares = self._subtract(at)
        left = float(self[at].norm())
        if left < LEFT * float(np.linalg.norm(shares)):  # once more: rounding left some
            shares = shares + self._subtract(at)
            left = float(self[at].norm())
        return np.append(shares, left)

    def _subtract(self, at: int) -> np.ndarray:
        import torch

        image, others = self[at], self._others[: at - 1]
        shares = torch.cat([torch.dot(self._start, image)[None], others @ image])
        image.addmv_(others.T, shares[1:], alpha=-1).sub_(self._start, alpha=float(shares[0]))
        return shares.double().cpu().numpy()

    def combined(self, weights: np.ndarray) -> Any:
        """A combination of the first vectors, in the place of the start."""
        factors = self._like(weights)
        others = self._others[: len(weights) - 1]
        return self._start.mul_(factors[0]).addmv_(others.T, factors[1:])

    def replace(self, weights: np.ndarray) -> None:
        """Put combinations of all but the last vector, one for each row, in place of the first."""
        import torch

        factors = self._like(weights)
        for begin in range(0, len(self._start), CHUNK):
            place = slice(begin, begin + CHUNK)
            pieces = [self[i][place] for i in range(self.rows)]
            for piece, new in zip(pieces, factors @ torch.stack(pieces), strict=False):
                piece.copy_(new)

    def _like(self, numbers: np.ndarray) -> Any:
        import torch

        like = self._start
        return torch.as_tensor(numbers.copy(), dtype=like.dtype, device=like.device)


def _restart(basis: Basis, measured: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> int:
    """Keep the upper half of the pairs and the next vector; how many pairs."""
    rows = len(values)
    kept = max(rows // 2, 1)
    best = vectors[:, ::-1][:, :kept]
    basis.replace(best.T)
    basis[kept].copy_(basis[rows])
    last = measured[rows, rows - 1] * best[-1]
    measured[:] = 0
    measured[np.arange(kept), np.arange(kept)] = values[::-1][:kept]
    measured[kept, :kept] = last
    return kept
