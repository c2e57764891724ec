"""Claims about the fixed points of the map, and about what holds exactly.

Bound by the study `quadratic-map`. The fixed points of (3.11), (3.12) are g = y with any
kernel; g = 0 with kernel 0; and u = 4, v = 4 + w. There is no other: v = u + w and
u (4 - v) + 4 w = (4 - u)(u + w).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, share, single
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_steps import Reduced, quadratic_step, reduced_step

SETTINGS = [(m, y, rate) for m in (1e2, 1e4, 1e6) for y in (1.0, -2.0) for rate in (0.8, 2.5)]


def _move(residual: float, kernel: float, m: float, y: float, rate: float) -> float:
    """How far one step leads from a state, relative to the state."""
    after = quadratic_step(residual, kernel, rate, 1 / m, y)
    return math.hypot((after[0] - residual) / residual, rate * (after[1] - kernel))


def _multipliers(residual: float, kernel: float, m: float, y: float, rate: float) -> np.ndarray:
    """Eigenvalues of the map's derivative; complex steps differentiate a polynomial exactly."""
    columns = [
        [z.imag / 1e-30 for z in quadratic_step(residual + a, kernel + b, rate, 1 / m, y)]
        for a, b in ((1e-30j, 0j), (0j, 1e-30j))
    ]
    return np.linalg.eigvals(np.array(columns).T)


def _empty(m: float, y: float, rate: float) -> tuple[float, float]:
    """The point g = 0 with kernel 0: all weights that matter are zero."""
    return -y, 0.0


def _large(m: float, y: float, rate: float) -> tuple[float, float]:
    """The point u = 4, v = 4 + w, with r > 0."""
    residual = 2 * math.sqrt(m) / rate
    return residual, (4 + rate**2 * residual * y / m) / rate


@claim(
    "equilibria-as-printed",
    "There is an equilibrium with v near 2 and u between 4/3 and 2 times C^2 / m.",
    "004 proof of Thm. 3.3.4, case (2.1)",
)
def equilibria_as_printed(study: Any, found: Any) -> Evidence:
    """Smallest move that one step makes anywhere on the printed stretch."""
    least = math.inf
    for (m, y, rate), share_ in ((s, k) for s in SETTINGS for k in np.linspace(4 / 3, 2, 21)):
        u = share_ * (rate * y) ** 2 / m
        w = -rate * abs(y) * math.sqrt(u / m)
        residual = -math.copysign(math.sqrt(u * m) / rate, y)
        least = min(least, _move(residual, (2 + u + w) / rate, m, y, rate))
    words = "twice the printed u"
    m, y, rate = SETTINGS[0]
    other = _move(-2 * y, 2 / rate, m, y, rate)
    return compare(
        at_most(1e-6), single(least), (words, single(other)),
        "There g - y changes its sign in every step, and w with it: it is no equilibrium.",
    )  # fmt: skip


@claim(
    "equilibria",
    "g = 0 with kernel 0, and u = 4 with v = 4 + w, are equilibria.",
    "corrects 004 proof of Thm. 3.3.4",
)
def equilibria(study: Any, found: Any) -> Evidence:
    """Largest move of one step from either; a tenth beside it must move."""
    moves, beside = [], []
    for setting in SETTINGS:
        for place in (_empty, _large):
            residual, kernel = place(*setting)
            moves.append(_move(residual, kernel, *setting))
            beside.append(_move(1.1 * residual, kernel, *setting))
    control = ("g - y a tenth larger", single(min(beside)))
    return compare(at_most(1e-12), single(max(moves)), control)


@claim(
    "other-equilibria-unstable",
    "Every equilibrium with a loss is unstable.",
    "004 Thm. 3.3.4, with the right list of equilibria",
)
def unstable(study: Any, found: Any) -> Evidence:
    """Smallest largest multiplier; at g = y below 2 / eta it is 1."""
    radii = [
        np.abs(_multipliers(*place(*s), *s)).max() for s in SETTINGS for place in (_empty, _large)
    ]
    zero = np.sort(_multipliers(*_large(1e4, 0.0, 1.0), 1e4, 0.0, 1.0).real)
    m, y, rate = SETTINGS[0]
    still = float(np.abs(_multipliers(0.0, 1.5 / rate, m, y, rate)).max())
    return compare(
        at_least(1 + 1e-9), single(float(min(radii))), ("g = y, v = 1.5", single(still)),
        f"For label 0 the multipliers at u = 4, v = 4 are {zero[0]:.6g} and {zero[1]:.6g}.",
    )  # fmt: skip


@claim(
    "multipliers",
    "At g = y the error is multiplied by 1 - v and the kernel stands: u by (1 - v)^2.",
    "004 proof of Thm. 3.3.4, scenario (1)",
)
def multipliers(study: Any, found: Any) -> Evidence:
    """Largest gap of the derivative's eigenvalues; those of v + 0.01 must miss."""

    def gap(shift: float) -> float:
        worst = 0.0
        for m, y, rate in SETTINGS:
            for v in (0.2, 1.0, 1.9, 2.5):
                found = np.sort(_multipliers(0.0, v / rate, m, y, rate).real)
                said = np.sort([1.0, 1 - v - shift])
                worst = max(worst, float(np.abs(found - said).max()))
        return worst

    return compare(at_most(1e-12), single(gap(0.0)), ("v + 0.01", single(gap(0.01))))


@claim(
    "ends-below-two",
    "Every descent that converges ends with a rate between 0 and 2 over its kernel.",
    "004 Thm. 3.3.4",
)
def ends_below_two(study: Any, found: Any) -> Evidence:
    """Share of converged random starts; before training it must not hold."""
    before, after = [], []
    for side in ("below", "between"):
        seen, v = found.seen[side], found.rates[side]
        kept = seen.loss < 1e-12
        before.append(v[kept] < 2)
        after.append((seen.kernel[kept] > 0) & (v[kept] * seen.kernel[kept] < 2))
    control = ("the same descents before they begin", share(np.concatenate(before)))
    return compare(at_least(0.999), share(np.concatenate(after)), control)


@claim(
    "product-law",
    "With label 0, 4 - v grows by exactly 1 + u in every step.",
    "derived from 004 (3.13), (3.14)",
)
def product_law(study: Any, found: Any) -> Evidence:
    """Largest gap over random realisable states; with a label it must miss."""
    rng = np.random.default_rng(study.seed)
    v = rng.uniform(0.1, 4.5, study.draws)
    u = rng.uniform(0, 1, study.draws) * v**2 / 4

    def gap(size: float) -> float:
        after = reduced_step(Reduced(u, v, np.sqrt(u) * size, 1.0), size)
        return float(np.abs((4 - after.v) - (1 + u) * (4 - v)).max())

    return compare(at_most(1e-12), single(gap(0.0)), ("a label", single(gap(0.01))))


@claim(
    "peak-bound",
    "With label 0 the peak of u is at most v(0) / (4 - v(0)).",
    "derived from the product law",
)
def peak_bound(study: Any, found: Any) -> Evidence:
    """Largest share of the bound that is used; past four there is none."""

    def used(v: np.ndarray) -> float:
        widths = np.logspace(2, 8, 25)[:, None]
        seen = QuadraticMap(1.0, 1.0).outcome(600, learning_rate=v, width=widths)
        return float((2 * v**2 * seen.peak_loss / widths / np.abs(v / (4 - v))).max())

    inside, past = used(np.linspace(2.05, 3.95, 39)), used(np.array([4.2]))
    return compare(at_most(1), single(inside), ("v = 4.2", single(past)))


@claim(
    "chaos-at-four",
    "With label 0 and v = 4 the kernel stands and u = 4 sin^2(a) becomes 4 sin^2(3 a).",
    "derived from 004 (3.13), (3.14)",
)
def chaos_at_four(study: Any, found: Any) -> Evidence:
    """Largest gap over angles; at v = 3.9 it must miss."""
    angle = np.random.default_rng(study.seed).uniform(0, np.pi / 2, study.draws)

    def gap(v: float) -> float:
        after = reduced_step(Reduced(4 * np.sin(angle) ** 2, v, 0.0, 1.0), 0.0)
        moved = np.abs(after.u - 4 * np.sin(3 * angle) ** 2).max()
        return float(max(moved, np.abs(after.v - v).max()))

    return compare(at_most(1e-11), single(gap(4.0)), ("v = 3.9", single(gap(3.9))))


@claim(
    "realisable",
    "Weights exist only for 2 sqrt(c) |g| <= lambda, and descent never leaves that set.",
    "derived: the arithmetic mean of the two layers' parts of the kernel",
)
def realisable(study: Any, found: Any) -> Evidence:
    """Largest 2 sqrt(c) |g| / lambda along catapults; from outside it stays outside."""
    v = np.linspace(0.2, 3.8, 19)

    def worst(factor: float) -> float:
        # On the edge itself the set is invariant, so rounding decides; start a little inside.
        start = factor * 0.99 * np.sqrt(1e3) / 2
        path = QuadraticMap(1.0, 1e3, output=start).trajectory(60, learning_rate=v)
        return float(np.nanmax(2 * np.abs(path.residual) / np.sqrt(1e3) / np.abs(path.kernel)))

    return compare(at_most(1), single(worst(1.0)), ("twice that output", single(worst(2.0))))


@claim(
    "time-to-peak",
    "Each factor ten in width delays the peak by log 10 / (2 log(v - 1)) steps.",
    "derived from 004 Lemma 3.3.2",
)
def time_to_peak(study: Any, found: Any) -> Evidence:
    """Largest error of the mean delay over four decades; another rate's law must miss."""
    gaps, others = [], []
    for v in (2.2, 2.5):
        seen = QuadraticMap(v, 1.0, label=1.0).outcome(400, width=np.array([1e3, 1e7]))
        delay = float(np.diff(seen.peak_step)[0]) / 4
        gaps.append(abs(delay - _decade(v)))
        others.append(abs(delay - _decade(v + 0.6)))
    return compare(at_most(1), single(max(gaps)), ("the law of v + 0.6", single(min(others))))


def _decade(v: float) -> float:
    return math.log(10) / (2 * math.log(v - 1))


@claim(
    "peak-prediction",
    "Up to v = 3 the peak is -2 delta - 4 log(1 - delta / 2) in u, within 15 %.",
    "derived: the slow limit of 004 (3.13), (3.14)",
)
def peak_prediction(study: Any, found: Any) -> Evidence:
    """Largest relative error; the theorem's order taken as a value must miss."""
    ours, order, steps = [], [], []
    for v in (2.05, 2.2, 2.5, 3.0):
        for width in np.logspace(5, 8, 7):
            descent = QuadraticMap(v, width, label=1.0)
            (loss, when), seen = descent.predicted_peak(), descent.outcome(1500)
            ours.append(abs(loss / seen.peak_loss - 1))
            order.append(abs(width * (v - 2) ** 2 / math.log(width) / seen.peak_loss - 1))
            steps.append(abs(when - seen.peak_step))
    return compare(
        at_most(0.15), single(float(max(ours))),
        ("m delta^2 / log m as a value", single(float(max(order)))),
        f"Its step is predicted within {float(max(steps)):.1f}.",
    )  # fmt: skip
