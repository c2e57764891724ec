"""Several top eigenpairs of a symmetric operator on torch vectors at once, with certificates.

A block of vectors is multiplied together; what each pair lacks (its residual) is the next block.
The vectors and their products are both kept, so a pair that starts well is certified by the very
products that found it: along a training run, one product for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dynascope.watching.eigenpairs import MAX_PRODUCTS, ROUNDING

BLOCKS = 6  # blocks that are kept before a restart with the best two


class Spectrum(NamedTuple):
    """The largest eigenvalues, falling, and what certifies them."""

    values: np.ndarray  # (count,)
    vectors: Any  # (count, size) orthonormal
    residuals: np.ndarray  # (count,) |A v - value v| / |value|
    products: int  # of all of them together
    converged: np.ndarray  # (count,) bool


def top_spectrum(
    multiply: Callable[[Any], Any],
    starts: Any,
    count: int,
    tolerance: float,
    max_products: int = MAX_PRODUCTS,
) -> Spectrum:
    """The algebraically largest eigenvalues of v -> A v, each as often as it occurs.

    Args:
        multiply: A symmetric product with every row of a matrix.
        starts: Rows to start from, at least `count` of them.
        count: How many pairs; at most the size of a vector.
        tolerance: Largest residual that counts as converged.
        max_products: Most products; a value that has not converged then is a lower bound.

    Returns:
        The pairs.

    Example:
        >>> import torch
        >>> diagonal = torch.tensor([1.0, 3.0, 3.0, -7.0])
        >>> found = top_spectrum(lambda v: diagonal * v, torch.eye(4) + 0.1, 2, 1e-4)
        >>> found.values.round(3).tolist(), found.converged.all().item()
        ([3.0, 3.0], True)
    """
    import torch

    basis = images = starts[:0]
    fresh = _orthonormal(starts, basis)
    products, scale = 0, 0.0
    while True:
        basis = torch.cat([basis, fresh])
        images = torch.cat([images, multiply(fresh)])
        products += len(fresh)
        inside = (basis @ images.T).double().cpu().numpy()
        if not np.isfinite(inside).all():
            nothing = np.full(count, np.nan)
            return Spectrum(nothing, starts[:count], nothing, products, np.zeros(count, bool))
        values, weights = (part[..., ::-1] for part in np.linalg.eigh((inside + inside.T) / 2))
        scale = max(scale, float(np.abs(values).max()))
        turned = torch.as_tensor(weights.T.copy(), dtype=basis.dtype, device=basis.device)
        vectors, top = turned[:count] @ basis, values[:count]
        factors = torch.as_tensor(top.copy(), dtype=basis.dtype, device=basis.device)
        rests = turned[:count] @ images - factors[:, None] * vectors
        lengths = rests.norm(dim=1).double().cpu().numpy()
        converged = lengths <= np.maximum(tolerance * np.abs(top), ROUNDING * scale)
        wanting = torch.as_tensor(~converged, device=basis.device)
        if len(basis) > (BLOCKS - 1) * count:
            best = turned[: 2 * count]
            basis, images = best @ basis, best @ images
        fresh = _orthonormal(rests[wanting], basis)
        if converged.all() or products >= max_products or not len(fresh):
            residuals = lengths / np.where(top == 0, np.where(lengths, 0, 1), np.abs(top))
            return Spectrum(top.copy(), vectors, residuals, products, converged)


def _orthonormal(rows: Any, known: Any) -> Any:
    """An orthonormal basis of what rows have beside the span of known ones, which are so too."""
    import torch

    rows = rows / rows.norm(dim=1, keepdim=True).clamp_min(torch.finfo(rows.dtype).tiny)
    for _ in range(2):  # once more: rounding left some
        rows = rows - (rows @ known.T) @ known
        q, r = torch.linalg.qr(rows.T)
        rows = q.T[r.diagonal().abs() > 10 * ROUNDING]
    return rows
