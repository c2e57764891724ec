"""Claims about the top eigenspace of the kernel on pictures (004 Figs. B.2, B.3).

Bound by the study `quadratic-general`, once for each architecture and model. Along the top
eigenvector p1(t) a step is <p1, r'> = (1 - eta lambda1 + a) <p1, r> and p1^T K' p1 = lambda1 - b:
`bend` is a, `fall` is b. The loss is large where it is above its first value; a run in which it
never is has no share and no slope (NaN), which leaves its claims undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.general_pictures import (
    CONVOLUTION,
    DENSE,
    NAMES,
    NETWORK,
    QUADRATIC,
    Kind,
    Top,
)
from dynascope.studies.catapult.variants import variant
from dynascope.studies.comparisons import Evidence, at_least, compare, near, single
from dynascope.studies.slopes import log_slope


class Subject(NamedTuple):
    """What a claim is about."""

    kind: Kind
    slug: str  # before that of the property
    words: str
    source: str


QUADRATIC_DENSE = Subject((DENSE, QUADRATIC), "", "the quadratic model", "004 Fig. B.2")
NETWORK_DENSE = Subject((DENSE, NETWORK), "network-", "the network", "004 Fig. B.3")
QUADRATIC_CONVOLUTION = Subject(
    (CONVOLUTION, QUADRATIC), "convolution-", "the convolution's quadratic model", "004 Fig. B.2"
)
NETWORK_CONVOLUTION = Subject(
    (CONVOLUTION, NETWORK), "convolution-network-", "the convolutional network", "004 Fig. B.3"
)


def _large(top: Top) -> np.ndarray:
    return top.loss[:-1] > top.loss[0]


def _listed(values: dict[str, float]) -> str:
    return "; ".join(f"{NAMES[data]} {value:.3f}" for data, value in values.items()) + "."


def positive(subject: Subject) -> Callable:
    """The claim that both terms are positive while the loss is large, on every data set."""
    words = f"While the loss of {subject.words} is large, p1^T R_f p1 and p1^T R_K p1 are positive."
    return variant(
        f"{subject.slug}terms-positive", words, subject.source, _positive, kind=subject.kind
    )


def _positive(study: Any, found: Any, kind: Kind) -> Evidence:
    """Share of such steps, and of steps after the peak with a small loss; worst seeds."""
    tops = found.tops[kind]
    kept = {d: _least([_share_positive(t, late=False) for t in own]) for d, own in tops.items()}
    late = np.max([_share_positive(t, late=True) for own in tops.values() for t in own])
    control = ("after the catapult, with a small loss", single(late))
    worst = max(_largest_exception(top) for own in tops.values() for top in own)
    note = f"{_listed(kept)} Exceptions have losses of up to {worst:.0%} of the peak."
    return compare(at_least(1), single(_least(kept.values())), control, note)


def _least(values: Iterable[float]) -> float:
    """The smallest, NaN if one is; the built-in `min` may pass over it."""
    return float(np.min(list(values)))


def _both_positive(top: Top) -> np.ndarray:
    return (top.bend > 0) & (top.fall > 0)


def _largest_exception(top: Top) -> float:
    """The largest loss at which a term is not positive, over the highest loss."""
    return float(top.loss[:-1][~_both_positive(top)].max(initial=0) / top.loss.max())


def _share_positive(top: Top, *, late: bool) -> float:
    after = np.arange(len(top.bend)) > top.loss.argmax()
    chosen = after & ~_large(top) if late else _large(top)
    return float(_both_positive(top)[chosen].mean()) if chosen.any() else float("nan")


def scale(subject: Subject) -> Callable:
    """The claim that both terms grow in proportion to the loss, on every data set."""
    words = f"While the loss of {subject.words} rises, both terms grow in proportion to it."
    slug = f"{subject.slug}terms-scale-with-loss"
    return variant(slug, words, subject.source, _scale, kind=subject.kind)


def _scale(study: Any, found: Any, kind: Kind) -> Evidence:
    """Slope in the loss of both terms, the one farthest from 1; that of lambda1 itself."""
    tops = found.tops[kind]
    slopes = {d: _farthest([s for top in own for s in _slopes(top)]) for d, own in tops.items()}
    values = [log_slope(*_rising(t, t.value[:-1])) for own in tops.values() for t in own]
    control = ("lambda1 itself", single(np.max(values)))
    worst = _farthest(list(slopes.values()))
    note = f"{_listed(slopes)} A term that is not positive somewhere has no slope (nan)."
    return compare(
        near(1, 0.25), single(worst), control, note if np.isnan(worst) else _listed(slopes)
    )


def _rising(top: Top, term: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Loss and term while the loss is large and rises: later lambda1 is smaller, and both terms."""
    chosen = _large(top) & (np.arange(len(top.bend)) <= top.loss.argmax())
    return top.loss[:-1][chosen], term[chosen]


def _slopes(top: Top) -> list[float]:
    return [log_slope(*_rising(top, term)) for term in (top.bend, top.fall)]


def _farthest(slopes: list[float]) -> float:
    """The slope farthest from 1; a term that is not positive has none, which is farthest."""
    return max(slopes, key=lambda s: np.inf if np.isnan(s) else abs(s - 1))


def spike(subject: Subject) -> Callable:
    """The claim that the spike lies along p1, on every data set."""
    words = f"At least nine tenths of the highest loss of {subject.words} lie along p1."
    return variant(
        f"{subject.slug}spike-along-p1", words, subject.source, _spike, kind=subject.kind
    )


def _spike(study: Any, found: Any, kind: Kind) -> Evidence:
    """Share of the loss along p1 and p2 at the peak, worst seeds."""
    tops = found.tops[kind]
    first = {d: min(_share_at_peak(t, t.along) for t in own) for d, own in tops.items()}
    second = max(_share_at_peak(t, t.second) for own in tops.values() for t in own)
    control = ("along the second eigenvector", single(second))
    return compare(at_least(0.9), single(min(first.values())), control, _listed(first))


def _share_at_peak(top: Top, part: np.ndarray) -> float:
    at = int(top.loss.argmax())
    return float(part[at] / top.loss[at])


@claim(
    "climb-terms-follow-loss",
    "Up to the peak both terms follow the loss with a correlation of at least 0.9, in both "
    "architectures, both models and on all pictures.",
    "004 Figs. B.2, B.3, in a weaker reading",
)
def climb_follows(study: Any, found: Any) -> Evidence:
    """Smallest correlation over terms and runs; that of lambda1 itself must be lower."""
    correlations = [
        (_correlation(top, term), f"{kind[0]} {kind[1]}, {NAMES[data]}")
        for kind, data, top in _every(found)
        for term in (top.bend, top.fall)
    ]
    least, at = correlations[
        int(np.argmin([value for value, _ in correlations]))
    ]  # NaN is the smallest
    control = (
        "lambda1 itself",
        single(np.max([_correlation(top, top.value) for _, _, top in _every(found)])),
    )
    return compare(at_least(0.9), single(least), control, f"Smallest: {at}.")


def _every(found: Any) -> Iterator[tuple[Kind, str, Top]]:
    """Every run on pictures."""
    for kind, tops in found.tops.items():
        for data, own in tops.items():
            yield from ((kind, data, top) for top in own)


def _correlation(top: Top, term: np.ndarray) -> float:
    """Of the loss and a term, from the start to the step at the peak."""
    count = min(int(top.loss.argmax()) + 1, len(top.bend))
    return float(np.corrcoef(top.loss[:count], term[:count])[0, 1]) if count > 1 else float("nan")
