"""Claims about when each concept is learned; bound by the study of the stages.

`found.law[d, scale]` are measured times, those of the Schur law and naive ones, (seed, d) each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_most, compare, single


@claim(
    "schur-law",
    "From starts of scale 0.02 the Schur law gives the time of every direction with a median "
    "error of at most 1 %, in two, three and four dimensions.",
    "this project; replaces log(1/w_kk(0)) / (2 a_k)",
)
def schur_small(study: Any, found: Any) -> Evidence:
    """Worst direction; the naive estimate must miss the weakest one."""
    return _law_evidence(found, 0.02, 0.01)


@claim(
    "schur-law-larger-starts",
    "From starts of scale 0.1 the median error is at most 6 %.",
    "this project; replaces log(1/w_kk(0)) / (2 a_k)",
)
def schur_large(study: Any, found: Any) -> Evidence:
    """Worst direction; the naive estimate must miss the weakest one."""
    return _law_evidence(found, 0.1, 0.06)


def _law_evidence(found: Any, scale: float, bound: float) -> Evidence:
    """Median errors over seeds of the worst direction, and of the naive estimate at its best."""
    errors = {
        d: [np.median(np.abs(predicted / times - 1), axis=0) for predicted in (schur, naive)]
        for (d, s), (times, schur, naive) in found.law.items()
        if s == scale
    }
    worst = max(float(schur.max()) for schur, _ in errors.values())
    weakest = min(float(naive[0]) for _, naive in errors.values())
    control = ("the naive estimate for the weakest direction, at its best", single(weakest))
    return compare(at_most(bound), single(worst), control)
