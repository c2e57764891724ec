"""Starts with three and four descents, found by a search over uniform U, to four digits."""

import numpy as np

from dynascope.studies.swing_by.starts import Rows

MANY_DESCENTS: dict[str, Rows] = {  # U(0), weakest concept first
    "triple, text": (
        (0.03534, 0.0729, 0.08815), (0.09989, 0.02534, 0.0789), (0.0387, 0.0068, 0.02808),
    ),
    "triple, program": (
        (0.09258, 0.01829, 0.0995), (0.07062, 0.06672, 0.03576), (0.0401, 0.06528, 0.00455),
    ),
    "quadruple, text": (
        (0.09259, 0.07167, 0.00768, 0.09404), (0.03929, 0.06283, 0.01755, 0.05212),
        (0.02205, 0.06548, 0.03059, 0.09968), (0.01089, 0.0564, 0.01836, 0.02954),
    ),
    "quadruple, program": (
        (0.05288, 0.01384, 0.09625, 0.06984), (0.03545, 0.09614, 0.01002, 0.04492),
        (0.03086, 0.09924, 0.00885, 0.05276), (0.02228, 0.06955, 0.04706, 0.08529),
    ),
}  # fmt: skip


def gram(weights: Rows, correlated: bool = True) -> Rows:
    """W = U U^T of given rows of U, as a model takes it, or its diagonal alone.

    Example:
        >>> gram(((1.0, 2.0), (0.0, 3.0))), gram(((1.0, 2.0), (0.0, 3.0)), correlated=False)
        (((5.0, 6.0), (6.0, 9.0)), ((5.0, 0.0), (0.0, 9.0)))
    """
    u = np.array(weights)
    w = u @ u.T if correlated else np.diag(np.diagonal(u @ u.T))
    return tuple(map(tuple, w.tolist()))
