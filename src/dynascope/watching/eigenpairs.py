"""The top eigenpair of a symmetric operator on torch vectors, with its certificate.

The same method as `numerics.eigenpairs`, driven from Python because torch has no compiled loop:
Lanczos with full reorthogonalisation and thick restarts, which stops on the residual. Starting
from the last vector, a few products are enough along a training run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

BASIS = 16  # vectors kept before a restart: the memory of a measurement
# The value's own error is of second order in the residual: 1e-2 leaves about 1e-4 of it, and never
# more than 1e-2.
TOLERANCE, MAX_PRODUCTS = 1e-2, 200


class Eigenpair(NamedTuple):
    """The largest eigenvalue and what certifies it."""

    value: float
    vector: Any  # unit vector, on the device of the start
    residual: float  # |A v - value v| / |value|, from a product of its own
    products: int
    converged: bool


def top_eigenpair(
    multiply: Callable[[Any], Any],
    start: Any,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Eigenpair:
    """The algebraically largest eigenvalue of v -> A v, and its vector.

    Args:
        multiply: A symmetric product on flat torch vectors.
        start: Where to start: the last vector of a run, or a random one. Not zero.
        tolerance: Largest residual that counts as converged.
        max_products: Most products; a value that has not converged then is a lower bound.

    Returns:
        The pair; `converged` is false if the products ran out.

    Example:
        >>> import torch
        >>> diagonal = torch.tensor([1.0, -7.0, 3.0])
        >>> pair = top_eigenpair(lambda v: diagonal * v, torch.ones(3))
        >>> round(pair.value, 4), pair.converged
        (3.0, True)
    """
    size = start.numel()
    rows = min(BASIS, size)
    basis = start.new_zeros((rows + 1, size))
    basis[0] = start / start.norm()
    small = np.zeros((rows, rows))
    at, products, wanted, scale = 0, 0, tolerance, 0.0
    while True:
        image = multiply(basis[at])
        products += 1
        column, length = _orthogonalise(basis, image, at)
        small[: at + 1, at] = small[at, : at + 1] = column
        at += 1
        values, vectors = np.linalg.eigh(small[:at, :at])
        rest = length * abs(vectors[-1, -1])
        scale = max(scale, float(np.abs(values).max()))
        exhausted = length <= 1e-6 * scale or at == size
        enough = rest <= 0.9 * wanted * abs(values[-1]) or exhausted or products >= max_products - 1
        if enough or not np.isfinite(rest):
            vector = _combine(vectors[:, -1:], basis[:at])[0]
            pair = _certify(multiply, vector, products + 1, tolerance, scale)
            if pair.converged or exhausted or pair.products >= max_products or np.isnan(pair.value):
                return pair
            products, wanted = pair.products, wanted / 4  # the estimate was too kind
        if exhausted:
            return pair
        basis[at] = image / length
        if at == rows:
            at = _restart(basis, small, values, vectors)


def _orthogonalise(basis: Any, image: Any, at: int) -> tuple[np.ndarray, float]:
    """Take from `image`, in place, what the first rows span; what it was, and what is left."""
    known = basis[: at + 1]
    first = known @ image
    image -= first @ known
    second = known @ image  # once more: rounding left some
    image -= second @ known
    return (first + second).cpu().double().numpy(), float(image.norm())


def _restart(basis: Any, small: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> int:
    """Keep the upper half of the pairs and the next vector; how many are kept."""
    rows = len(values)
    kept = max(rows // 2, 1)
    best = vectors[:, ::-1][:, :kept]
    basis[:kept] = _combine(best, basis[:rows])
    basis[kept] = basis[rows].clone()
    small[:] = 0
    small[np.arange(kept), np.arange(kept)] = values[::-1][:kept]
    return kept


def _combine(weights: np.ndarray, rows: Any) -> Any:
    import torch

    return torch.as_tensor(weights.T.copy(), dtype=rows.dtype, device=rows.device) @ rows


def _certify(
    multiply: Callable, vector: Any, products: int, tolerance: float, scale: float
) -> Eigenpair:
    vector = vector / vector.norm()
    image = multiply(vector)
    value = float(vector @ image)
    rest = float((image - value * vector).norm())
    zero = rest <= 1e-6 * scale  # rounding of float32
    residual = rest / abs(value) if value else (0.0 if rest == 0 else float("inf"))
    return Eigenpair(value, vector, residual, products, rest <= tolerance * abs(value) or zero)
