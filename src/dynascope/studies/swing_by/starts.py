"""Starts of the symmetric model that several studies use, and the signal they meet.

The starts with three and four descents were found by a search over uniform U and are written
out to four digits, weakest concept first.
"""

from __future__ import annotations

import numpy as np

from dynascope.numerics.precision import precision
from dynascope.tasks import IdentityMapping

Rows = tuple[tuple[float, ...], ...]

MANY_DESCENTS: dict[str, Rows] = {  # U(0)
    "triple, text": (
        (0.03534, 0.0729, 0.08815),
        (0.09989, 0.02534, 0.0789),
        (0.0387, 0.0068, 0.02808),
    ),
    "triple, program": (
        (0.09258, 0.01829, 0.0995),
        (0.07062, 0.06672, 0.03576),
        (0.0401, 0.06528, 0.00455),
    ),
    "quadruple, text": (
        (0.09259, 0.07167, 0.00768, 0.09404),
        (0.03929, 0.06283, 0.01755, 0.05212),
        (0.02205, 0.06548, 0.03059, 0.09968),
        (0.01089, 0.0564, 0.01836, 0.02954),
    ),
    "quadruple, program": (
        (0.05288, 0.01384, 0.09625, 0.06984),
        (0.03545, 0.09614, 0.01002, 0.04492),
        (0.03086, 0.09924, 0.00885, 0.05276),
        (0.02228, 0.06955, 0.04706, 0.08529),
    ),
}


def gram(weights: Rows) -> Rows:
    """W = U U^T of given rows of U, as a model takes it.

    Example:
        >>> gram(((1.0, 2.0), (0.0, 3.0)))
        ((5.0, 6.0), (6.0, 9.0))
    """
    u = np.array(weights)
    return _rows(u @ u.T)


def uncorrelated(jacobian: Rows) -> Rows:
    """The same W(0) with all entries off the diagonal at zero.

    Example:
        >>> uncorrelated(((5.0, 6.0), (6.0, 9.0)))
        ((5.0, 0.0), (0.0, 9.0))
    """
    return _rows(np.diag(np.diagonal(np.array(jacobian))))


def correlated(size: float, correlation: float) -> Rows:
    """W(0) of two equally long rows of U with a given cosine between them.

    Example:
        >>> correlated(0.01, 0.5)
        ((0.01, 0.005), (0.005, 0.01))
    """
    return ((size, size * correlation), (size * correlation, size))


def signal(task: IdentityMapping) -> np.ndarray:
    """Signal strengths a of a task, in float64.

    Example:
        >>> signal(IdentityMapping(means=(1.0, 2.0), scales=(0.0, 0.0))).tolist()
        [0.5, 2.0]
    """
    with precision("float64"):
        return np.asarray(task.moments())


def _rows(matrix: np.ndarray) -> Rows:
    return tuple(map(tuple, matrix.tolist()))
