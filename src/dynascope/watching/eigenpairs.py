"""The top eigenpair of a symmetric operator on torch vectors, with its certificate.

The same method as `numerics.eigenpairs`, driven from Python because torch has no compiled loop:
Lanczos with full reorthogonalisation and thick restarts, which stops on the residual. Starting
from the last vector, a few products are enough along a training run.

Memory is the basis and little beside it: a product is written to its place in the basis, and the
result in that of the start. Searches of a run share one room for it: memory that is new to the
process would cost a sixth of a product. Rows of the room that no search has needed take none.
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
        start: Where to start: the last vector of a run, or a random one. Not zero; the result is
            put in its place.
        tolerance: Largest residual that counts as converged.
        max_products: Most products; a value that has not converged then is a lower bound.
        room: A matrix whose rows, one for each vector that is kept before a restart and one for the
            next, are used for the basis; of `BASIS` + 1 rows and made anew by default.

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
    import torch

    size = len(start)
    basis = (start.new_empty(BASIS + 1, size) if room is None else room)[: size + 1]
    rows = len(basis) - 1
    torch.div(start, start.norm(), out=basis[0])
    measured = np.zeros((rows + 1, rows))  # A v_j = sum over i of measured[i, j] v_i
    products, at, scale = 0, 1, 0.0
    while True:
        multiply(basis[at - 1], basis[at])
        products += 1
        measured[: at + 1, at - 1] = _orthogonalise(basis, at)
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
        if at == rows:
            at = _restart(basis, measured, values, vectors)
        at += 1
    vector = torch.mv(basis[:at].T, _like(basis, best), out=start)
    residual = rest / abs(value) if value else (0.0 if rest == 0 else np.inf)
    return Eigenpair(value, vector.div_(vector.norm()), residual, products, converged)


def _orthogonalise(basis: Any, at: int) -> np.ndarray:
    """Take from a vector what those before it span; their shares, and the length left."""
    shares = _subtract(basis, at)
    left = float(basis[at].norm())
    if left < LEFT * float(np.linalg.norm(shares)):  # once more: rounding left some
        shares = shares + _subtract(basis, at)
        left = float(basis[at].norm())
    return np.append(shares, left)


def _subtract(basis: Any, at: int) -> np.ndarray:
    before, vector = basis[:at], basis[at]
    shares = before @ vector
    vector.addmv_(before.T, shares, alpha=-1)
    return shares.double().cpu().numpy()


def _like(basis: Any, numbers: np.ndarray) -> Any:
    import torch

    return torch.as_tensor(numbers.copy(), dtype=basis.dtype, device=basis.device)


def _restart(basis: Any, measured: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> int:
    """Keep the upper half of the pairs and the next vector; how many pairs."""
    rows = len(values)
    kept = max(rows // 2, 1)
    best = vectors[:, ::-1][:, :kept]
    factors = _like(basis, best.T)
    for begin in range(0, basis.shape[1], CHUNK):
        place = slice(begin, begin + CHUNK)
        basis[:kept, place] = factors @ basis[:rows, place]
    basis[kept].copy_(basis[rows])
    last = measured[rows, rows - 1] * best[-1]
    measured[:] = 0
    measured[np.arange(kept), np.arange(kept)] = values[::-1][:kept]
    measured[kept, :kept] = last
    return kept
