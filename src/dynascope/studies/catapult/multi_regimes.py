"""Claims about which direction is catapulted, in the quadratic model and in the network.

Bound by the study `quadratic-multi`. Rates 0 to 3 lie below both critical rates, between them,
above both, and past twice the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.variants import variant
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    between,
    compare,
    single,
)
from dynascope.studies.slopes import log_slope
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_directions import along_directions, half_rate

QUADRATIC, NETWORK = "quadratic model", "network"
WIDTHS = np.logspace(5, 9, 17)


def _changes(found: Any, model: str, rate: int, direction: int) -> np.ndarray:
    """Largest relative change of an eigenvalue on the way, one number per seed."""
    return np.array([
        np.nanmax(np.abs(v / v[0] - 1))
        for v in (lane.kernels[direction, rate] for lane in found.lanes[model])
    ])


def _drops(found: Any, model: str, rate: int, direction: int) -> np.ndarray:
    """How far an eigenvalue has fallen in the end, one number per seed."""
    return np.array([
        1 - v[-1] / v[0] for v in (lane.kernels[direction, rate] for lane in found.lanes[model])
    ])


def _constant(study: Any, found: Any, model: str) -> Evidence:
    """Largest change of either; between the rates the first must change more."""
    both = [_changes(found, model, 0, k).max() for k in (0, 1)]
    control = ("between the critical rates", single(_changes(found, model, 1, 0).min()))
    return compare(at_most(0.01), single(max(both)), control)


def _only_first(study: Any, found: Any, model: str) -> Evidence:
    """Largest change of the second; the first must change more."""
    second = _changes(found, model, 1, 1).max()
    first = _changes(found, model, 1, 0).min()
    words = "the first eigenvalue"
    note = f"The first falls by at least {_drops(found, model, 1, 0).min():.1%}."
    return compare(at_most(0.01), single(second), (words, single(first)), note)


def _both(study: Any, found: Any, model: str) -> Evidence:
    """Smallest fall of either."""
    least = [_drops(found, model, 2, k).min() for k in (0, 1)]
    control = ("below both", single(max(_drops(found, model, 0, k).max() for k in (0, 1))))
    note = f"First by at least {least[0]:.0%}, second by at least {least[1]:.0%}."
    return compare(at_least(0.2), single(min(least)), control, note)


def _diverges(study: Any, found: Any, model: str) -> Evidence:
    """Share of seeds; at a rate of 1.2 times the second none may."""
    past, before = (
        single(float(np.mean([lane.diverged[rate] for lane in found.lanes[model]])))
        for rate in (3, 2)
    )
    return compare(at_least(1), past, ("1.2 times the second critical rate", before))


constant = variant(
    "kernel-stands",
    "Below both critical rates both eigenvalues stand, within 1 %.",
    "004 Fig. 3.3",
    _constant,
    model=QUADRATIC,
)
network_constant = variant(
    "network-kernel-stands",
    "In the network too both eigenvalues stand below both critical rates, within 1 %.",
    "004 Fig. B.1",
    _constant,
    model=NETWORK,
)
only_first = variant(
    "only-the-first-falls",
    "Between the critical rates the second eigenvalue stands within 1 % while the first falls.",
    "004 Fig. 3.3, Thm. 3.3.6 (1)",
    _only_first,
    model=QUADRATIC,
)
network_only_first = variant(
    "network-only-the-first-falls",
    "In the network too only the first eigenvalue falls between the critical rates: the second "
    "stands within 1 %.",
    "004 Fig. B.1, as described",
    _only_first,
    model=NETWORK,
)
both = variant(
    "both-fall",
    "Above both critical rates both eigenvalues fall, by at least a fifth.",
    "004 Fig. 3.3, Thm. 3.3.6 (2)",
    _both,
    model=QUADRATIC,
)
network_both = variant(
    "network-both-fall",
    "In the network too both eigenvalues fall by at least a fifth above both critical rates.",
    "004 Fig. B.1",
    _both,
    model=NETWORK,
)
diverges = variant(
    "diverges",
    "At 2.1 times the first critical rate descent diverges.",
    "004 appendix B.11",
    _diverges,
    model=QUADRATIC,
)
network_diverges = variant(
    "network-diverges",
    "The network too diverges at 2.1 times the first critical rate.",
    "004 Fig. B.1, with the largest rate of the quadratic model",
    _diverges,
    model=NETWORK,
)


@claim(
    "network-first-falls-most",
    "In the network between the critical rates the first eigenvalue falls at least three times as "
    "far as the second moves.",
    "004 Fig. B.1, in a weaker reading",
)
def network_first_most(study: Any, found: Any) -> Evidence:
    """Smallest ratio of the falls; above both rates they must be alike."""

    def ratio(rate: int) -> float:
        first, second = (_drops(found, NETWORK, rate, k) for k in (0, 1))
        return float((first / np.maximum(np.abs(second), 1e-12)).min())

    return compare(at_least(3), single(ratio(1)), ("above both", single(ratio(2))))


def _map(lane: Any, rate: int, direction: int) -> QuadraticMap:
    """The exact descent along a direction at one of the four rates."""
    start = lane.start
    eta = half_rate(float(lane.rates[rate]), len(start.x))
    maps = along_directions(start.x, start.y, start.outputs, start.kernels, 1.0, eta)
    return maps[int(np.argsort([-k for k in start.kernels])[direction])]


def _slopes(found: Any, rate: int, direction: int) -> list[float]:
    """Slope of the peak of one direction's loss in the width, per seed."""
    return [
        log_slope(WIDTHS, _map(lane, rate, direction).outcome(3000, width=WIDTHS).peak_loss)
        for lane in found.lanes[QUADRATIC]
    ]


@claim(
    "theorem-between",
    "Between the critical rates the loss along p1 peaks in proportion to the width.",
    "004 Thm. 3.3.6 (1)",
)
def theorem_one(study: Any, found: Any) -> Evidence:
    """Slope of the peak, the one farthest from 1."""
    worst = max(_slopes(found, 1, 0), key=lambda s: abs(s - 1))
    control = ("below both", single(max(_slopes(found, 0, 0))))
    return compare(between(0.93, 1.05), single(worst), control)


@claim(
    "theorem-second-rests",
    "Between the critical rates the loss along p2 never rises, at any width.",
    "004 Thm. 3.3.6 (1)",
)
def theorem_second_rests(study: Any, found: Any) -> Evidence:
    """Largest peak over first loss along p2; along p1 it must rise."""

    def rise(direction: int) -> list[float]:
        found_ = []
        for lane in found.lanes[QUADRATIC]:
            descent = _map(lane, 1, direction)
            first = (descent.output - descent.label) ** 2 / 2
            found_.append(float(descent.outcome(3000, width=WIDTHS).peak_loss.max() / first))
        return found_

    return compare(at_most(1 + 1e-9), single(max(rise(1))), ("along p1", single(min(rise(0)))))


@claim(
    "theorem-above",
    "Above both critical rates the loss along p1 and along p2 peaks in proportion to the width.",
    "004 Thm. 3.3.6 (2)",
)
def theorem_two(study: Any, found: Any) -> Evidence:
    """Slope of the peaks, the one farthest from 1."""
    worst = max(_slopes(found, 2, 0) + _slopes(found, 2, 1), key=lambda s: abs(s - 1))
    control = ("below both", single(max(_slopes(found, 0, 0))))
    return compare(between(0.93, 1.05), single(worst), control)


@claim(
    "far-apart",
    "If the second critical rate is past the largest rate, p2 is never catapulted.",
    "004 appendix B.12",
)
def far_apart(study: Any, found: Any) -> Evidence:
    """Largest rise along p2 at any rate below 4 / lambda1, with lambda2 at 0.45 and 0.8 of it."""
    descent = _map(found.lanes[QUADRATIC][0], 1, 1)
    first = _map(found.lanes[QUADRATIC][0], 1, 0)

    def rise(part: float) -> float:
        rates = np.linspace(0.2, 3.98, 200) / first.kernel
        seen = descent.outcome(2000, learning_rate=rates, kernel=part * first.kernel, width=1e6)
        return float(seen.peak_loss.max() / ((descent.output - descent.label) ** 2 / 2))

    return compare(at_most(1 + 1e-9), single(rise(0.45)), ("lambda2 at 0.8", single(rise(0.8))))


def _above(found: Any, end: int) -> float:
    """Share of catapulted directions with a rate above 2 / lambda, at the start or the end."""
    flags = []
    for lane in found.lanes[QUADRATIC]:
        for rate, direction in ((1, 0), (2, 0), (2, 1)):
            eta = half_rate(float(lane.rates[rate]), len(lane.start.x))
            flags.append(eta > 2 / lane.kernels[direction, rate, end])
    return float(np.mean(flags))


@claim(
    "after-as-printed",
    "Once a catapult is over the rate is above 2 / lambda of its direction.",
    "004 appendix B.11",
)
def after_as_printed(study: Any, found: Any) -> Evidence:
    """Share of catapulted directions."""
    lanes = found.lanes[QUADRATIC]
    rests = np.mean([
        half_rate(float(lane.rates[0]), len(lane.start.x)) > 2 / lane.kernels[0, 0, -1]
        for lane in lanes
    ])
    return compare(
        at_least(1), single(_above(found, -1)), ("rates below both", single(float(rests))),
        "It must read below: that is why descent then converges.",
    )  # fmt: skip


@claim(
    "after",
    "Once a catapult is over the rate is below 2 / lambda of its direction.",
    "corrects 004 appendix B.11",
)
def after(study: Any, found: Any) -> Evidence:
    """Share of catapulted directions; at the start it must not hold."""
    return compare(
        at_least(1), single(1 - _above(found, -1)), ("at the start", single(1 - _above(found, 0)))
    )
