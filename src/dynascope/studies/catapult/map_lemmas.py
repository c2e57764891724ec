"""Claims about the lemmas behind the catapult theorem, with the document's own constants.

Bound by the study `quadratic-map`. u, v, w are the reduced variables, C = eta |x| |y| / sqrt d,
delta = v(0) - 2 above the critical rate, min(v(0), 2 - v(0)) below it; |x|^2 / d = 1 throughout.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.map_regimes import band
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, share, single
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_steps import Reduced, reduced_step

SMALL = 0.02  # C'_u: the increasing phase ends where u passes C'_u delta^2 / log m


class Below(NamedTuple):
    """How much of their bounds sub-critical descents use; above 1 the bound is broken."""

    printed: np.ndarray  # |v(t) - v(0)| over 9 C_u / (m delta)
    kernel: np.ndarray  # the same over 8 (C_u + C sqrt C_u) / (m delta)
    rate: np.ndarray  # sqrt(kappa) - (1 - delta) over C_kappa / (m delta)


def below(width: float, rates: tuple[float, ...]) -> Below:
    """Descents from errors of 1 down to 0.01 for several labels, all wide enough for B.3.1."""
    grid = np.array(list(itertools.product(rates, (0.0, 1.0, -1.0, 3.0), (1.0, -0.1, 0.01))))
    v, label, error = grid.T
    path = QuadraticMap(1.0, width).trajectory(
        300, learning_rate=v, label=label, output=label + error
    )
    size, c = v**2 * error**2, v * np.abs(label)  # C_u and C
    delta = np.where(v < 2, np.minimum(v, 2 - v), v - 2)
    moved = v * np.abs(path.kernel - 1).max(axis=1) * width * delta
    corrected = 8 * (size + c * np.sqrt(size))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.abs(path.residual[:, 1:] / path.residual[:, :-1])
    factor = np.where(np.abs(path.residual[:, 1:]) > 1e-150, factor, 0).max(axis=1)
    allowed = corrected + (size + c * np.sqrt(size)) * delta
    return Below(
        moved / (9 * size), moved / corrected, (factor - (1 - delta)) * width * delta / allowed
    )


SUBCRITICAL, WIDE = (0.3, 0.5, 1.0, 1.5, 1.9), 1e6


@claim(
    "kernel-bound-as-printed",
    "Below the critical rate |v(t) - v(0)| is at most 9 C_u / (m delta).",
    "004 Thm. B.3.1, formal statement",
)
def kernel_bound_as_printed(study: Any, found: Any) -> Evidence:
    """Largest share of the bound that is used, over labels and first errors."""
    used, above = below(WIDE, SUBCRITICAL).printed, below(WIDE, (2.5,)).printed
    return compare(
        at_most(1), single(float(used.max())), ("v = 2.5", single(float(above.max()))),
        "|w(0)| is C sqrt(C_u) / m, not C C_u / m^1.5: from a small first error w outweighs u.",
    )  # fmt: skip


@claim(
    "kernel-bound",
    "Below the critical rate |v(t) - v(0)| is at most 8 (C_u + C sqrt C_u) / (m delta).",
    "corrects 004 Thm. B.3.1",
)
def kernel_bound(study: Any, found: Any) -> Evidence:
    """Largest share of the bound that is used."""
    used, above = below(WIDE, SUBCRITICAL).kernel, below(WIDE, (2.5,)).kernel
    return compare(at_most(1), single(float(used.max())), ("v = 2.5", single(float(above.max()))))


@claim(
    "loss-rate",
    "Below the critical rate the error shrinks at least by 1 - delta + O(1 / (m delta)) a step.",
    "004 Thm. B.3.1, with the constant that the corrected w(0) gives",
)
def loss_rate(study: Any, found: Any) -> Evidence:
    """Largest share of the allowance that is used."""
    used, above = below(WIDE, SUBCRITICAL).rate, below(WIDE, (2.5,)).rate
    return compare(at_most(1), single(float(used.max())), ("v = 2.5", single(float(above.max()))))


@claim(
    "increasing-phase",
    "While u is below C' delta^2 / log m the error grows by nearly 1 + delta a step and v stands.",
    "004 Lemma 3.3.2, formal statement",
)
def increasing_phase(study: Any, found: Any) -> Evidence:
    """Largest share of both bounds used within the phase; at the peak they must be broken."""
    within, beyond = [], []
    grid = itertools.product((2.2, 2.5, 3.0, 3.5), (0.1, -0.1, 0.5), (1e6, 1e8, 1e10))
    for v, label, width in grid:
        used = _phase(QuadraticMap(v, width, label))
        if used:
            within.append(used[0])
            beyond.append(used[1])
    words = "the step at which the loss is highest"
    return compare(
        at_most(1), single(max(within)), (words, single(min(beyond))),
        f"{len(within)} descents that meet the lemma's conditions with C' = {SMALL}.",
    )  # fmt: skip


def _phase(descent: QuadraticMap) -> tuple[float, float] | None:
    """Used share of the lemma's bounds within the phase and at the peak; None if too narrow."""
    v, m = descent.learning_rate, descent.width
    delta, c, size = v - 2, v * abs(descent.label), v**2 * (descent.output - descent.label) ** 2
    rate = 28 * SMALL + SMALL * delta + c * SMALL**0.5
    needed = (
        rate * delta / (size * (c + 1)), ((2 * size + 4 * c * size**0.5) / rate) ** 2,
        576 * c**2 / (SMALL * delta**2), np.exp(28 * SMALL * delta), np.exp(4 * rate),
    )  # fmt: skip
    if m < max(needed):
        return None
    path = descent.trajectory(200)
    u = v**2 * path.residual**2 / m
    log, peak = np.log(m), int(u.argmax())
    factor = np.abs(
        path.residual[1:] / np.where(path.residual[:-1] == 0, np.inf, path.residual[:-1])
    )
    slow = (1 + delta - factor) * log / (rate * delta)
    drift = v * np.abs(path.kernel[:-1] - 1) * log / (28 * SMALL * delta)
    used = np.maximum(slow, drift)
    phase = np.arange(len(used)) < np.argmax(u > SMALL * delta**2 / log)
    return float(used[phase].max()), float(used[peak])


@claim(
    "stays-below-four",
    "From v(0) = 4 - epsilon the kernel stays half a margin below 4 while u is small.",
    "004 Prop. B.5.1",
)
def stays_below_four(study: Any, found: Any) -> Evidence:
    """Highest v in the phase, from 4 in margins; from above 4 it must break."""

    def highest(side: float) -> float:
        worst = -np.inf
        for m, label in itertools.product((1e6, 1e8), (0.1, -0.1)):
            v = 4 + side * band(m)
            path = QuadraticMap(v, m, label).trajectory(100)
            small = v**2 * path.residual**2 / m <= SMALL * (v - 2) ** 2 / np.log(m)
            phase = np.arange(101) < np.argmax(~small)
            worst = max(worst, float((v * path.kernel[phase] - 4).max() / band(m)))
        return worst

    control = ("v(0) = 4 + epsilon", single(highest(1.0)))
    return compare(at_most(-0.5), single(highest(-1.0)), control)


@claim(
    "kernel-falls-as-printed",
    "For v < 4 the kernel falls in every step from u > 4 C / (m (4 - v)^2).",
    "004 Prop. B.5.2",
)
def kernel_falls_as_printed(study: Any, found: Any) -> Evidence:
    """Share of random states just above the threshold from which v falls."""
    counterexample = 2 * 4 * 2 / 1000  # u at twice the threshold for C = 2, m = 1000, v = 3
    after = 3 - counterexample + 4 * 2 * (counterexample / 1000) ** 0.5
    return compare(
        at_least(1), single(float(_fall(study, 4, 1).mean())),
        ("half the corrected threshold", single(float(_fall(study, 8, 2).mean()))),
        f"C = 2, m = 1000, v = 3, u = {counterexample:g}, w < 0: v becomes {after:.4f}.",
    )  # fmt: skip


@claim(
    "kernel-falls",
    "For v < 4 the kernel falls in every step from u > 16 C^2 / (m (4 - v)^2).",
    "corrects 004 Prop. B.5.2",
)
def kernel_falls(study: Any, found: Any) -> Evidence:
    """Share of random states above the threshold from which v falls."""
    control = ("half that threshold", single(float(_fall(study, 8, 2).mean())))
    return compare(at_least(1), single(float(_fall(study, 16, 2).mean())), control)


def _fall(study: Any, factor: float, power: int) -> np.ndarray:
    """Whether v falls from random states with u from 1 to 2 times factor C^power / (m (4-v)^2)."""
    rng = np.random.default_rng(study.seed)
    m, c = 10 ** rng.uniform(2, 6, study.draws), rng.uniform(0.05, 4, study.draws)
    v = rng.uniform(0, 3.99, study.draws)
    u = factor * c**power / (m * (4 - v) ** 2) * rng.uniform(1.0001, 2, study.draws)
    sign = rng.choice([-1.0, 1.0], study.draws)
    size = c / np.sqrt(m)
    after = reduced_step(Reduced(u, v, sign * np.sqrt(u) * size, sign), size)
    return after.v < v


@claim(
    "falls-below-three",
    "A catapult that starts between 3 and 4 - epsilon brings v below 3.",
    "004 Prop. B.5.3",
)
def falls_below_three(study: Any, found: Any) -> Evidence:
    """Share of random starts; past four v must not come down."""

    def reached(low: float, high: float) -> np.ndarray:
        v, others = _starts(study, low, high)
        path = QuadraticMap(1.0, 1.0).trajectory(400, learning_rate=v, **others)
        return np.nanmin(v[:, None] * path.kernel, axis=1) <= 3

    words = "v from 4 + epsilon to 5"
    return compare(at_least(0.999), share(reached(3, 4)), (words, share(reached(4, 5))))


def _starts(study: Any, low: float, high: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Random v between two thresholds, epsilon away from either, with widths and labels."""
    rng = np.random.default_rng(study.seed)
    count = min(study.draws, 4000)
    width = 10 ** rng.uniform(4, 8, count)
    margin = band(width)
    v = low + margin + (high - low - 2 * margin) * rng.uniform(0, 1, count)
    return v, {"width": width, "label": rng.uniform(-1, 1, count)}


@claim(
    "keeps-falling",
    "Once v is below 3 it falls in every step until u is O(1/m): u <= 16 C^2 / m.",
    "004 Prop. B.5.4, Lemma 3.3.3",
)
def keeps_falling(study: Any, found: Any) -> Evidence:
    """Share of steps below 3 with larger u in which v falls; with smaller u it need not."""
    v, others = _starts(study, 2.2, 4)
    path = QuadraticMap(1.0, 1.0).trajectory(400, learning_rate=v, **others)
    kernel = v[:, None] * path.kernel
    u = v[:, None] ** 2 * path.residual**2 / others["width"][:, None]
    limit = (16 * (v * others["label"]) ** 2 / others["width"])[:, None]
    falls, low = np.diff(kernel) < 0, kernel[:, :-1] < 3
    large, moving = u[:, :-1] > limit, u[:, :-1] > 1e-3 * limit  # below it rounding decides
    control = ("steps with smaller u", share(falls[low & ~large & moving]))
    ends = float((u.min(axis=1) / limit[:, 0]).max())
    return compare(
        at_least(0.9999), share(falls[low & large]), control,
        f"The smallest u of every descent is below {ends:.1g} of that.",
    )  # fmt: skip


@claim(
    "comes-back-lower",
    "Where u is small and v above 3, v is lower two steps after the next increasing phase.",
    "004 Prop. B.8.1",
)
def comes_back_lower(study: Any, found: Any) -> Evidence:
    """Share of random states; states above four must come back higher."""
    words = "v from 4 + epsilon to 5"
    return compare(at_least(0.99), share(_lower(study, 3, 4)), (words, share(_lower(study, 4, 5))))


def _lower(study: Any, low: float, high: float) -> np.ndarray:
    v, others = _starts(study, low, high)
    rng, m = np.random.default_rng(study.seed + 1), others["width"]
    c = v * np.abs(others["label"])
    size, first = v * others["label"] / np.sqrt(m), v.copy()
    u = 4 * c / (m * (4 - v) ** 2) * 10 ** rng.uniform(-4, 0, len(v))
    sign = rng.choice([-1.0, 1.0], len(v))
    state, end = Reduced(u, v, sign * np.sqrt(u) * size, sign), 4 * c**2 * (v - 2) ** 2 / np.log(m)
    after, left = np.full(len(v), -1), np.full(len(v), np.nan)
    for step in range(200):
        after = np.where((after < 0) & (state.u > end), step, after)  # T' + 1
        left = np.where(step == after + 1, state.v, left)
        with np.errstate(over="ignore", invalid="ignore"):
            state = reduced_step(state, size)
    return (left < first)[after >= 0]
