"""How inputs are scaled, as a named option, and how to calibrate a scale.

Documents seldom say it, and it decides the critical learning rate: for a ReLU network without
offsets, inputs times c give a tangent kernel times c^2 and a critical rate divided by c^2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynascope.core.errors import bad, unknown

SCALINGS = ("raw", "centred", "channel", "unit")


def scaled(x: np.ndarray, how: str, reference: np.ndarray | None = None) -> np.ndarray:
    """Inputs in one of the named scalings, as float32 of the same shape.

    Args:
        x: (samples, ...) inputs; bytes are divided by 255 first.
        how: "raw" (as they are), "centred" ((x - 1/2) / (1/2)), "channel" (mean 0 and
            deviation 1 of every channel over `reference`), "unit" (every row has the norm
            sqrt(number of inputs); rows of zeros stay).
        reference: The inputs whose statistics "channel" uses, usually the training set; `x`
            itself if not given. Inputs (n, height, width, channels) have channels.

    Returns:
        The scaled copy.

    Example:
        >>> scaled(np.array([[0, 255]], np.uint8), "centred").tolist()
        [[-1.0, 1.0]]
        >>> float(np.linalg.norm(scaled(np.ones((1, 9)) * 5, "unit")))
        3.0
    """
    if how not in SCALINGS:
        raise unknown("scaling", how, SCALINGS)
    values = _fractions(x)
    if how == "centred":
        return (values - 0.5) / 0.5
    if how == "channel":
        base = values if reference is None else _fractions(reference)
        axes = (0, 1, 2) if base.ndim == 4 else None
        mean, deviation = base.mean(axes), base.std(axes)
        return ((values - mean) / np.where(deviation > 0, deviation, 1)).astype(np.float32)
    if how == "unit":
        rows = values.reshape(len(values), -1)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        factor = np.divide(rows.shape[1] ** 0.5, norms, where=norms > 0, out=np.ones_like(norms))
        return (rows * factor).reshape(values.shape)
    return values


def pooled(x: np.ndarray, side: int) -> np.ndarray:
    """Pictures with every block of side x side pixels averaged, as float32.

    Args:
        x: (samples, height, width) or (samples, height, width, channels); bytes are divided
            by 255.
        side: Of the blocks; it divides height and width.

    Returns:
        The smaller pictures.

    Example:
        >>> pooled(np.array([[[0.0, 1.0], [2.0, 3.0]]]), 2).tolist()
        [[[1.5]]]
    """
    values = _fractions(x)
    if side == 1:
        return values
    if values.ndim < 3 or any(size % side for size in values.shape[1:3]):
        raise bad("pool", side, f"a divisor of the sides of pictures, not of {x.shape[1:]}")
    count, height, width, *channels = values.shape
    blocks = values.reshape(count, height // side, side, width // side, side, *channels)
    return blocks.mean(axis=(2, 4), dtype=np.float32)


def _fractions(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) / 255 if x.dtype == np.uint8 else np.asarray(x, np.float32)


def calibrate_scale(
    x: np.ndarray, target_critical_rate: float, critical_rate: Callable[[np.ndarray], float]
) -> float:
    """The factor on the inputs that brings the critical learning rate to a target.

    Args:
        x: (samples, inputs).
        target_critical_rate: What the critical rate of the scaled inputs shall be.
        critical_rate: Gives the critical rate of inputs, for a network that is homogeneous in
            them (ReLU, no offsets): measured, or that of the infinitely wide network.

    Returns:
        The factor c = sqrt(critical_rate(x) / target).

    Example:
        >>> rate = lambda x: len(x) / np.linalg.norm(x, 2) ** 2  # of a linear model
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> float(round(rate(x * calibrate_scale(x, 3.6, rate)), 12))
        3.6
    """
    if not 0 < target_critical_rate < float("inf"):
        raise bad("target_critical_rate", target_critical_rate, "a finite number above 0")
    now = float(critical_rate(np.asarray(x)))
    if not 0 < now < float("inf"):
        raise bad("critical_rate", now, "a finite critical rate above 0", "are the inputs zero?")
    return (now / target_critical_rate) ** 0.5
