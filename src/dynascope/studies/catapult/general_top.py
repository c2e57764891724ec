"""Claims about the top eigenspace of the kernel on pictures (004 Figs. B.2, B.3).

Bound by the study `quadratic-general`. Along the top eigenvector p1(t) a step is
<p1, r'> = (1 - eta lambda1 + a) <p1, r> and p1^T K' p1 = lambda1 - b: `bend` is a, `fall` is b.
The loss is large where it is above its first value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.general_runs import Top
from dynascope.studies.catapult.slopes import log_slope
from dynascope.studies.comparisons import Evidence, at_least, compare, near, single

QUADRATIC, NETWORK = "quadratic model", "network"


def _large(top: Top) -> np.ndarray:
    return top.loss[:-1] > top.loss[0]


def _positive(found: Any, model: str) -> Evidence:
    """Share of steps with a large loss, and after the peak with a small one, of both signs +."""

    def shares(late: bool) -> list[float]:
        kept = []
        for top in found.tops[model]:
            steps = np.arange(len(top.bend)) > top.loss.argmax()
            chosen = steps & ~_large(top) if late else _large(top)
            kept.append(float(((top.bend > 0) & (top.fall > 0))[chosen].mean()))
        return kept

    words = "after the catapult, with a small loss"
    return compare(at_least(1), single(min(shares(False))), (words, single(max(shares(True)))))


def _scale(found: Any, model: str) -> Evidence:
    """Slope in the loss of both terms, the one farthest from 1; that of lambda1 itself."""
    slopes, values = [], []
    for top in found.tops[model]:
        # While it rises: in the fall lambda1 is smaller, and with it both terms.
        chosen = _large(top) & (np.arange(len(top.bend)) <= top.loss.argmax())
        loss = top.loss[:-1][chosen]
        slopes += [log_slope(loss, term[chosen]) for term in (top.bend, top.fall)]
        values.append(log_slope(loss, top.value[:-1][chosen]))
    worst = max(slopes, key=lambda s: abs(s - 1))
    return compare(near(1, 0.25), single(worst), ("lambda1 itself", single(max(values))))


def _spike(found: Any, model: str) -> Evidence:
    """Share of the loss along p1 and p2 at the peak, worst seed."""
    first, second = [], []
    for top in found.tops[model]:
        at = int(top.loss.argmax())
        first.append(top.along[at] / top.loss[at])
        second.append(top.second[at] / top.loss[at])
    control = ("along the second eigenvector", single(max(second)))
    return compare(at_least(0.9), single(min(first)), control)


@claim(
    "terms-positive",
    "While the loss of the quadratic model is large, p1^T R_f p1 and p1^T R_K p1 are positive.",
    "004 Fig. B.2",
)
def positive(study: Any, found: Any) -> Evidence:
    """Share of such steps."""
    return _positive(found, QUADRATIC)


@claim(
    "terms-scale-with-loss",
    "While the loss of the quadratic model rises, both terms grow in proportion to it.",
    "004 Fig. B.2",
)
def scale(study: Any, found: Any) -> Evidence:
    """Slope of each term in the loss."""
    return _scale(found, QUADRATIC)


@claim(
    "spike-along-p1",
    "At least nine tenths of the quadratic model's highest loss lie along p1.",
    "004 Fig. B.2",
)
def spike(study: Any, found: Any) -> Evidence:
    """Share of the loss along p1."""
    return _spike(found, QUADRATIC)


@claim(
    "network-terms-positive",
    "While the loss of the network is large, p1^T R_f p1 and p1^T R_K p1 are positive.",
    "004 Fig. B.3",
)
def network_positive(study: Any, found: Any) -> Evidence:
    """Share of such steps."""
    return _positive(found, NETWORK)


@claim(
    "network-terms-scale-with-loss",
    "While the loss of the network rises, both terms grow in proportion to it.",
    "004 Fig. B.3",
)
def network_scale(study: Any, found: Any) -> Evidence:
    """Slope of each term in the loss."""
    return _scale(found, NETWORK)


@claim(
    "network-spike-along-p1",
    "At least nine tenths of the network's highest loss lie along p1.",
    "004 Fig. B.3",
)
def network_spike(study: Any, found: Any) -> Evidence:
    """Share of the loss along p1."""
    return _spike(found, NETWORK)
