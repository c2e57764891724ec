"""Claims about the map of one example: its equations, its three regimes, its thresholds.

Each is bound by the study `quadratic-map`; v stands for the rate times the first kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.weights import descend, draw
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    between,
    compare,
    near,
    share,
    single,
)
from dynascope.studies.slopes import log_slope
from dynascope.theories import QuadraticMap
from dynascope.theories.quadratic_phases import REGIMES
from dynascope.theories.quadratic_steps import reduced_step

CHECKED = (0.5, 1.9, 2.5, 3.0, 3.7)  # v of the descents that are followed in their weights
WIDTHS = np.logspace(4, 7, 13)
LABELS = (0.0, 1.0, -1.0, 3.0)


def band(width: Any) -> Any:
    """The margin epsilon = log m / sqrt m around the document's thresholds."""
    return np.log(width) / np.sqrt(width)


@claim(
    "update-equations",
    "Output and tangent kernel of the quadratic model move by (3.11) and (3.12), exactly.",
    "004 (3.10), (3.11), (3.12)",
)
def update_equations(study: Any, found: Any) -> Evidence:
    """Worst relative gap to descent in the weights; the linear model must miss."""
    exact, linear = [], []
    for descent, seen in found.followed.values():
        path, size = descent.trajectory(len(seen.kernel) - 1), np.abs(seen.residual).max()
        gaps = np.abs(path.residual - seen.residual) / size, np.abs(path.kernel / seen.kernel - 1)
        exact.append(np.max(gaps))
        linear.append(np.abs(1 - descent.kernel / seen.kernel).max())
    return compare(
        at_most(1e-10),
        single(max(exact)),
        ("the linear model, whose kernel is constant", single(max(linear))),
        f"100 steps at v = {', '.join(map(str, CHECKED))}, width 500, 7 inputs. (3.12) is used "
        "as a product: as printed, with a quotient by g - y, it is 0/0 at convergence.",
    )


@claim(
    "reduced-map",
    "u, v and w move by (3.13) and (3.14) if the sign of w is that of (g - y) y.",
    "004 (3.13), (3.14)",
)
def reduced_map(study: Any, found: Any) -> Evidence:
    """Worst gap of v to the map; w without its sign must miss."""
    signed, unsigned = zip(*(_reduced_gaps(d) for d, _ in found.followed.values()), strict=True)
    control = ("|w| in place of w", single(max(unsigned)))
    return compare(at_most(1e-10), single(max(signed)), control)


def _reduced_gaps(descent: QuadraticMap) -> tuple[float, float]:
    path, size = descent.trajectory(100), descent.learning_rate * descent.curvature**0.5
    worst = []
    for signed in (True, False):
        state, gap = descent.reduced(), 0.0
        for kernel in path.kernel if signed else path.kernel[:10]:
            gap = max(gap, abs(state.v - descent.learning_rate * kernel) / state.v)
            state = reduced_step(state, size * descent.label)
            state = state if signed else state._replace(w=abs(state.w))
        worst.append(gap)
    return worst[0], worst[1]


@claim(
    "monotone-below",
    "Below the critical rate the loss never rises.",
    "004 Thm. B.3.1",
)
def monotone_below(study: Any, found: Any) -> Evidence:
    """Share of random starts from epsilon to 2 - epsilon; above 2 it must rise."""
    words = "v from 2 + epsilon to 4 - epsilon"
    below, above = (found.seen[side].regime == "monotone" for side in ("below", "between"))
    return compare(at_least(0.999), share(below), (words, share(above)))


@claim(
    "kernel-drift",
    "Below the critical rate the kernel moves by O(1/m): a slope of -1 in the width.",
    "004 Thm. B.3.1",
)
def kernel_drift(study: Any, found: Any) -> Evidence:
    """Slope of the largest change at v = 0.5, 1, 1.5, the one farthest from -1."""
    widths = np.logspace(3, 7, 9)
    slopes = [_drift_slope(v, widths) for v in (0.5, 1.0, 1.5, 2.5)]
    worst = max(slopes[:3], key=lambda s: abs(s + 1))
    return compare(near(-1, 0.05), single(worst), ("v = 2.5", single(slopes[3])))


def _drift_slope(v: float, widths: np.ndarray) -> float:
    path = QuadraticMap(v, 1.0, label=1.0).trajectory(400, width=widths)
    return log_slope(widths, np.abs(path.kernel - 1).max(axis=1))


@claim(
    "peak-grows-with-width",
    "Between the critical rate and twice it the loss rises to a peak in proportion to the width.",
    "004 Thm. 3.3.1",
)
def peak_grows(study: Any, found: Any) -> Evidence:
    """Slope of the peak loss over m = 1e4 to 1e7, the one farthest from 1."""
    slopes = []
    for v in (2.5, 3.0, 1.5):
        peaks = QuadraticMap(v, 1.0, label=1.0).outcome(600, width=WIDTHS).peak_loss
        slopes.append(log_slope(WIDTHS, peaks))
    worst = max(slopes[:2], key=lambda s: abs(s - 1))
    return compare(between(0.93, 1.05), single(worst), ("v = 1.5", single(slopes[2])))


@claim(
    "peak-lower-bound",
    "The peak is at least of the order m (v - 2)^2 / log m: their ratio does not fall with m.",
    "004 Thm. 3.3.1",
)
def peak_lower_bound(study: Any, found: Any) -> Evidence:
    """Smallest slope of the ratio; below the critical rate it must fall."""
    slopes = []
    for v in (2.2, 2.5, 3.0, 3.5, 3.9, 1.5):
        peaks = QuadraticMap(v, 1.0, label=1.0).outcome(600, width=WIDTHS).peak_loss
        slopes.append(log_slope(WIDTHS, peaks * np.log(WIDTHS) / (WIDTHS * (v - 2) ** 2)))
    control = ("v = 1.5", single(slopes[-1]))
    return compare(at_least(-0.05), single(min(slopes[:-1])), control)


@claim(
    "comes-back",
    "Between 2 + epsilon and 4 - epsilon every descent ends below the loss it began with.",
    "004 Thm. 3.3.1, Lemma 3.3.3",
)
def comes_back(study: Any, found: Any) -> Evidence:
    """Share of random starts; past four none may."""
    between_, past = (found.seen[side].regime == "catapult" for side in ("between", "past"))
    return compare(at_least(0.999), share(between_), ("v from 4 + epsilon to 6", share(past)))


@claim(
    "diverges-past-four",
    "From (4 + epsilon) / lambda on descent diverges.",
    "004 Thm. B.7.1",
)
def diverges_past_four(study: Any, found: Any) -> Evidence:
    """Share of random starts; below four none may."""
    past, before = (found.seen[side].regime == "diverges" for side in ("past", "between"))
    words = "v from 2 + epsilon to 4 - epsilon"
    return compare(at_least(0.999), share(past), (words, share(before)))


@claim(
    "largest-rate",
    "The largest rate that converges is within epsilon of 4 / lambda, for every label.",
    "004 Thms. 3.3.1, B.7.1",
)
def largest_rate(study: Any, found: Any) -> Evidence:
    """Distance from 4 in units of epsilon, by sections; the linear model ends at 2."""
    widths = np.array([1e3, 1e4, 1e5])
    labels = np.array(LABELS)[:, None]
    rates = QuadraticMap(1.0, 1.0).divergence_rate(width=widths, label=labels)
    worst = float((np.abs(rates - 4) / band(widths)).max())
    listed = "; ".join(f"y = {y:g}: {r[0]:.4f}" for y, r in zip(LABELS, rates, strict=True))
    control = ("the linear model", single(float((2 / band(widths)).min())))
    return compare(at_most(1), single(worst), control, f"At width 1000: {listed}.")


@claim(
    "largest-rate-exact",
    "With label 0 the largest rate is 4 / lambda at every width.",
    "derived; sharpens 004 Thm. B.7.1",
)
def largest_rate_exact(study: Any, found: Any) -> Evidence:
    """Largest distance from 4 over widths 1e2 to 1e6; label 1 must differ."""
    base, widths = QuadraticMap(1.0, 1.0), np.logspace(2, 6, 5)
    exact, other = (
        float(np.abs(base.divergence_rate(width=widths, label=y) - 4).max()) for y in (0.0, 1.0)
    )
    return compare(at_most(1e-6), single(exact), ("label 1", single(other)))


@claim(
    "largest-rate-like-one-over-width",
    "With another label the largest rate approaches 4 / lambda like 1/m, faster than epsilon.",
    "derived; sharpens 004 Thms. 3.3.1, B.7.1",
)
def largest_rate_slope(study: Any, found: Any) -> Evidence:
    """Slope of the distance for labels 1, -1, 3, the one farthest from -1."""
    widths, slopes = np.logspace(3, 6, 7), []
    for label in LABELS[1:]:
        rates = QuadraticMap(1.0, 1.0).divergence_rate(width=widths, label=label)
        slopes.append(log_slope(widths, np.abs(rates - 4)))
    worst = max(slopes, key=lambda s: abs(s + 1))
    control = ("epsilon = log m / sqrt m itself", single(log_slope(widths, band(widths))))
    return compare(near(-1, 0.1), single(worst), control)


@claim(
    "interval-does-not-shrink",
    "The catapult interval does not shrink with the width: the largest rate stays twice the "
    "critical one.",
    "004 section 3.3 (the discontinuity at infinite width)",
)
def interval(study: Any, found: Any) -> Evidence:
    """Largest distance of the ratio from 2 over m = 1e2 to 1e6; a linear model has ratio 1."""
    rates = QuadraticMap(1.0, 1.0, label=1.0).divergence_rate(width=np.logspace(2, 6, 5))
    return compare(
        at_most(0.1), single(float(np.abs(rates / 2 - 2).max())), ("a linear model", single(1.0))
    )


@claim(
    "growth-term-as-printed",
    "While descent diverges, R_lambda is positive.",
    "004 section 3.3, divergence",
)
def growth_as_printed(study: Any, found: Any) -> Evidence:
    """Share of late steps of diverging descents with R_lambda > 0."""
    fell = np.concatenate([_falls(v, 1.0) for v in (4.2, 4.5, 5.0)])
    control = ("label 0, where R_lambda = c eta r^2 (4 - v)", share(_falls(5.0, 0.0)))
    return compare(at_least(0.9), share(fell), control, "It must read R_lambda < 0.")


@claim(
    "growth-term",
    "While descent diverges, R_lambda is negative: the kernel grows.",
    "corrects 004 section 3.3, divergence",
)
def growth(study: Any, found: Any) -> Evidence:
    """Share of late steps with R_lambda < 0; while a catapult falls it must be positive."""
    rose = np.concatenate([~_falls(v, 1.0) for v in (4.2, 4.5, 5.0)])
    return compare(at_least(0.9), share(rose), ("v = 3", share(~_falls(3.0, 1.0))))


def _falls(v: float, label: float) -> np.ndarray:
    """Whether the kernel fell, in each step once u is above 16 C^2 / m (4 - v)^2."""
    path = QuadraticMap(v, 1e6, label).trajectory(60)
    u = v**2 * path.residual[:-1] ** 2 / 1e6
    large = u > np.maximum(16 * (v * label) ** 2 / 1e6 / (4 - v * path.kernel[:-1]) ** 2, 1e-9)
    kept = large & np.isfinite(path.kernel[1:])
    return (np.diff(path.kernel) < 0)[kept]


@claim(
    "slightly-above-as-printed",
    "Slightly above the critical rate kernel and loss both decrease monotonically.",
    "004 after (3.12)",
)
def slightly_above(study: Any, found: Any) -> Evidence:
    """Peak loss over first loss at v = 2.02 to 2.1; the kernel falls, the loss does not."""
    rates = np.array([2.02, 2.05, 2.1, 3.0])
    seen = QuadraticMap(1.0, 1e4, label=1.0).outcome(2000, learning_rate=rates)
    rise = seen.peak_loss / (0.7**2 / 2)
    return compare(
        at_most(1), single(float(rise[:3].max())), ("v = 3", single(float(rise[3]))),
        "The loss first rises in proportion to the width.",
    )  # fmt: skip


@claim(
    "bounded-path",
    "Below the critical rate the weights stay in a ball that does not grow with the width.",
    "004 Fig. 3.2a",
)
def bounded_path(study: Any, found: Any) -> Evidence:
    """Slope of the largest distance from the start in the width; past it, the path grows."""
    below, above = (log_slope(study.path_widths, found.distances[v]) for v in (1.0, 3.0))
    return compare(between(-0.1, 0.1), single(below), ("v = 3", single(above)))


@claim(
    "path-grows",
    "In a catapult the weights travel a distance that grows like the root of the width.",
    "004 Fig. 3.2a, with the order derived",
)
def path_grows(study: Any, found: Any) -> Evidence:
    """Slope of the largest distance from the start."""
    below, above = (log_slope(study.path_widths, found.distances[v]) for v in (1.0, 3.0))
    return compare(near(0.5, 0.1), single(above), ("v = 1", single(below)))


@claim(
    "regimes",
    "Outside the margins the three regimes are those of the rate against 2 and 4 over lambda.",
    "004 Fig. 3.1, section 3.3",
)
def regimes(study: Any, found: Any) -> Evidence:
    """Share of the phase diagram; a linear model would diverge from 2 on."""
    diagram = found.by_width
    v, margin = diagram.critical, band(diagram.y)[:, None]
    clear = (np.abs(v - 2) > margin) & (np.abs(v - 4) > margin)
    said = np.where(v < 2, 0, np.where(v < 4, 1, 2))[clear]
    linear = np.where(said == 0, 0, 2)
    seen = diagram.regime[clear]
    note = f"{clear.sum():,} of {clear.size:,} descents lie outside the margins."
    assert REGIMES[:3] == ("monotone", "catapult", "diverges")
    return compare(
        at_least(0.99), share(seen == said), ("a linear model", share(seen == linear)), note
    )


@claim(
    "initial-kernel",
    "The first kernel lies between half and three halves of |x|^2 / d.",
    "004 Prop. B.9.1",
)
def initial_kernel(study: Any, found: Any) -> Evidence:
    """Share of draws at width 500 and, where it must fail, at width 3."""

    def inside(width: int) -> np.ndarray:
        z = np.random.default_rng(study.seed).normal(size=(study.draws, width))
        kernels = np.where(z >= 0, z**2 + 1, 0).mean(axis=1)  # in units of |x|^2 / d
        return (kernels >= 0.5) & (kernels <= 1.5)

    return compare(at_least(0.99), share(inside(500)), ("width 3", share(inside(3))))


def distances(widths: tuple[int, ...], seed: int) -> dict[float, np.ndarray]:
    """Largest distance of the weights from their start, by v, one number per width."""
    found = {}
    for v in (1.0, 3.0):
        starts = [draw(width, 1, seed) for width in widths]
        paths = [descend(s, s.map(v, 1.0), 40) for s in starts]
        found[v] = np.array([p.distance.max() for p in paths])
    return found
