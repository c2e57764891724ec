"""The top eigenpair of a symmetric operator on torch vectors, with its certificate.

The same method as `numerics.eigenpairs`, driven from Python because torch has no compiled loop:
Lanczos with full reorthogonalisation and thick restarts, which stops on the residual. Starting
from the last vector, a few products are enough along a training run.

A vector is a list of tensors, as a model's parameters are. Memory is the basis and little beside
it: a product becomes the next vector of the basis, and everything after that happens in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

BASIS = 16  # vectors kept before a restart, with one more for the next product
# The value's own error is of second order in the residual: 1e-2 leaves about 1e-4 of it, and never
# more than 1e-2.
TOLERANCE, MAX_PRODUCTS = 1e-2, 200
ROUNDING = 1e-6  # of float32: below this share of the operator's scale a residual is zero
CHUNK = 2**16  # numbers of each vector that a restart combines at a time

Vector = list[Any]  # of torch tensors


class Eigenpair(NamedTuple):
    """The largest eigenvalue and what certifies it."""

    value: float
    vector: Any  # of length one; a list of tensors, or one array for jax
    residual: float  # |A v - value v| / |value|
    products: int
    converged: bool


def top_eigenpair(
    multiply: Callable[[Vector], Vector],
    start: Vector,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Eigenpair:
    """The algebraically largest eigenvalue of v -> A v, and its vector.

    The residual comes from the products that were made: with V the basis and A V = V' M for the
    M that was measured, A V s - value V s is V' (M s - value s), whose length needs M and s only.
    That holds to rounding, whether or not the operator is as symmetric as it should be.

    Args:
        multiply: A symmetric product, with a result that may be changed.
        start: Where to start: the last vector of a run, or a random one. Not zero; it is changed.
        tolerance: Largest residual that counts as converged.
        max_products: Most products; a value that has not converged then is a lower bound.

    Returns:
        The pair; `converged` is false if the products ran out.

    Example:
        >>> import torch
        >>> diagonal = torch.tensor([1.0, -7.0, 3.0])
        >>> pair = top_eigenpair(lambda v: [diagonal * v[0]], [torch.ones(3)])
        >>> round(pair.value, 4), pair.converged
        (3.0, True)
    """
    size = sum(part.numel() for part in start)
    rows = min(BASIS, size)
    scale_by(start, 1 / length(start))
    basis = [start]
    measured = np.zeros((rows + 1, rows))  # A basis[j] = sum over i of measured[i, j] basis[i]
    products, scale = 0, 0.0
    while True:
        at = len(basis)
        basis.append(multiply(basis[-1]))
        products += 1
        measured[: at + 1, at - 1] = _orthogonalise(basis)
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
        scale_by(basis[-1], 1 / measured[at, at - 1])
        if at == rows:
            _restart(basis, measured, values, vectors)
    vector = basis[0]
    scale_by(vector, best[0])
    for weight, other in zip(best[1:], basis[1:at], strict=True):
        for part, new in zip(vector, other, strict=True):
            part.add_(new, alpha=float(weight))
    scale_by(vector, 1 / length(vector))
    residual = rest / abs(value) if value else (0.0 if rest == 0 else np.inf)
    return Eigenpair(value, vector, residual, products, converged)


def length(vector: Vector) -> float:
    """The Euclidean length of all parts together."""
    import torch

    return float(torch.stack([part.norm().double() for part in vector]).norm())


def scale_by(vector: Vector, factor: float) -> None:
    """Multiply in place."""
    for part in vector:
        part.mul_(float(factor))


def _orthogonalise(basis: list[Vector]) -> np.ndarray:
    """Take from the last vector what those before span; their shares, and the length left."""
    shares = _subtract(basis)
    left = length(basis[-1])
    if left < 0.5 * float(np.linalg.norm(shares)):  # once more: rounding left some
        shares = shares + _subtract(basis)
        left = length(basis[-1])
    return np.append(shares, left)


def _subtract(basis: list[Vector]) -> np.ndarray:
    import torch

    *known, image = basis
    dots = [
        torch
        .stack([torch.dot(a.view(-1), b.view(-1)) for a, b in zip(vector, image)])
        .double()
        .sum()
        for vector in known
    ]
    shares = torch.stack(dots).cpu().numpy()
    for vector, share in zip(known, shares, strict=True):
        for a, b in zip(vector, image, strict=True):
            b.sub_(a, alpha=float(share))
    return shares


def _restart(
    basis: list[Vector], measured: np.ndarray, values: np.ndarray, vectors: np.ndarray
) -> None:
    """Keep the upper half of the pairs and the next vector."""
    rows = len(values)
    kept = max(rows // 2, 1)
    best = vectors[:, ::-1][:, :kept]
    _combine(basis[:rows], best.T)
    basis[kept:] = basis[rows:]
    last = measured[rows, rows - 1] * best[-1]
    measured[:] = 0
    measured[np.arange(kept), np.arange(kept)] = values[::-1][:kept]
    measured[kept, :kept] = last


def _combine(vectors: list[Vector], weights: np.ndarray) -> None:
    """Put combinations of the vectors, one for each row of weights, in place of the first ones."""
    import torch

    for parts in zip(*vectors, strict=True):
        like = parts[0]
        factors = torch.as_tensor(weights.copy(), dtype=like.dtype, device=like.device)
        for pieces in zip(*(part.view(-1).split(CHUNK) for part in parts), strict=True):
            for piece, new in zip(pieces, factors @ torch.stack(pieces), strict=False):
                piece.copy_(new)
