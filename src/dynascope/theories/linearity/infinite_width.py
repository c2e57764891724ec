"""The tangent kernel of an infinitely wide ReLU network, in closed form.

zhu2024 section 0: products over sqrt(inputs), standard normal weights, no factor sqrt(2). With the
covariance S of one layer's pre-activations and the angle theta between two of them, the next
layer has S <- sqrt(S_ii S_jj) (sin theta + (pi - theta) cos theta) / 2 pi, and the kernel
K <- K (pi - theta) / 2 pi + S.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.errors import bad


def infinite_width_kernel(
    x: Any, depth: int, *, other: Any = None, bias: bool = False
) -> np.ndarray:
    """The tangent kernel of a fully connected ReLU network of infinite width, in float64.

    Args:
        x: Inputs, one row a sample, (n, inputs).
        depth: Number of weight matrices; 1 is a linear model.
        other: Further inputs (m, inputs); the kernel is then between `x` and these.
        bias: Whether layers have offsets, standard normal and trained.

    Returns:
        The kernel, (n, n) or (n, m).

    Example:
        >>> for depth in range(1, 5):  # two orthogonal inputs with |x|^2 = their size
        ...     print(infinite_width_kernel(2**0.5 * np.eye(2), depth)[0].round(5))
        [1. 0.]
        [1.      0.15915]
        [0.75    0.17143]
        [0.5     0.13255]
    """
    rows = _rows("x", x)
    columns = rows if other is None else _rows("other", other)
    if rows.shape[1] != columns.shape[1]:
        raise bad("other", columns.shape, f"rows of {rows.shape[1]} numbers, as x has")
    if depth < 1:
        raise bad("depth", depth, "a whole number of at least 1")
    offset, size = float(bias), rows.shape[1]
    here, there = ((r**2).sum(axis=1) / size + offset for r in (rows, columns))
    s = rows @ columns.T / size + offset
    kernel = s.copy()
    for _ in range(depth - 1):
        length = np.sqrt(np.outer(here, there))
        cosine = np.clip(np.divide(s, length, out=np.ones_like(s), where=length > 0), -1.0, 1.0)
        angle = np.arccos(cosine)
        s = length * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi) + offset
        kernel = kernel * (np.pi - angle) / (2 * np.pi) + s
        here, there = here / 2 + offset, there / 2 + offset
    return kernel


def _rows(name: str, x: Any) -> np.ndarray:
    rows = np.asarray(x, float)
    if rows.ndim != 2 or not rows.size:
        raise bad(name, rows.shape, "one row a sample, (samples, inputs)")
    return rows
