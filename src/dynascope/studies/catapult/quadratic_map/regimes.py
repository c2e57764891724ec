"""The three regimes: what descent does below, between and past the thresholds 2 and 4 of v."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.probes.slopes import fit_slope, log_slope
from dynascope.studies.catapult.quadratic_map import runs
from dynascope.studies.catapult.quadratic_map.runs import (
    LABELS,
    WIDTHS,
    Distances,
    Settings,
    Side,
    study,
)
from dynascope.studies.comparisons import at_least, at_most, between, near
from dynascope.studies.measures import exact, farthest, share
from dynascope.studies.nodes import case
from dynascope.theories import QuadraticMap
from dynascope.theories.catapult.phases import REGIMES, PhaseDiagram, margin

DRIFT_WIDTHS = np.logspace(3, 7, 9)
BETWEEN = "v from 2 + epsilon to 4 - epsilon"


def as_said(diagram: PhaseDiagram, largest: float) -> Measured:
    """Share of descents outside the margins whose regime is the one that v(0) says."""
    v, away = diagram.critical, margin(diagram.y)[:, None]
    said = np.where(v < 2, "monotone", np.where(v < largest, "catapult", "diverges"))
    clear = (np.abs(v - 2) > away) & (np.abs(v - 4) > away)
    return exact((np.array(REGIMES)[diagram.regime] == said)[clear].mean())


def share_that(side: Side, regime: str) -> Measured:
    """Share of random starts of one side that show a regime."""
    return share(side[1].regime == regime)


study.claim(
    "regimes",
    "Outside the margins the three regimes are those of the rate against 2 and 4 over lambda.",
    zhu2024("Fig. 3.1, section 3.3"), as_said, at_least(0.99, "ours"),
    on=(runs.diagrams["width"], 4.0),
    fails_on=case("the thresholds of a linear model", runs.diagrams["width"], 2.0),
    holds_on=case("regimes as said, planted", runs.planted_diagram, 4.0),
)  # fmt: skip
for _slug, _words, _place, _regime, _side, _other, _where in (
    ("monotone-below", "Below the critical rate the loss never rises.", "Thm. B.3.1",
     "monotone", "below", "between", BETWEEN),
    ("comes-back",
     "Between 2 + epsilon and 4 - epsilon every descent ends below the loss it began with.",
     "Thm. 3.3.1, Lemma 3.3.3", "catapult", "between", "past", "v from 4 + epsilon to 6"),
    ("diverges-past-four", "From (4 + epsilon) / lambda on descent diverges.", "Thm. B.7.1",
     "diverges", "past", "between", BETWEEN),
):  # fmt: skip
    study.claim(
        _slug, _words, zhu2024(_place), share_that, at_least(0.999, "ours"),
        on=(runs.sides[_side, 1.0], _regime),
        fails_on=case(_where, runs.sides[_other, 1.0], _regime),
        holds_on=case("label 0, by the product law", runs.sides[_side, 0.0], _regime),
    )  # fmt: skip


@study.compute(reads=(), seconds=lambda s: 1.0)
def drifts(s: Settings) -> dict[str, np.ndarray]:
    """Largest change of the kernel, (rates, `DRIFT_WIDTHS`), and planted ones like 1 / m."""
    descent, found = QuadraticMap(1.0, 1.0, label=1.0), {}
    for name, v in {"below": (0.5, 1.0, 1.5), "above": (2.5,)}.items():
        path = descent.trajectory(400, learning_rate=np.array(v)[:, None], width=DRIFT_WIDTHS)
        found[name] = np.abs(path.kernel - 1).max(axis=-1)
    return found | {"planted": 7 / DRIFT_WIDTHS[None]}


def drift_slope(drifts: np.ndarray) -> Measured:
    """Slope of the kernel's largest change in the width, the one farthest from -1."""
    return exact(farthest([log_slope(DRIFT_WIDTHS, row) for row in drifts], -1))


def distance_slope(distances: dict[int, Distances], v: float, over_error: bool) -> Measured:
    """Slope in the width of the weights' largest distance, perhaps over the first error."""
    widths = np.array(list(distances), float)
    far = [own[v][0] / (own[v][1] if over_error else 1) for own in distances.values()]
    return fit_slope(widths, np.array(far)).measured


study.claim(
    "kernel-drift",
    "Below the critical rate the kernel moves by O(1/m): a slope of -1 in the width.",
    zhu2024("Thm. B.3.1"), drift_slope, near(-1, 0.05, "ours"),
    on=drifts["below"], fails_on=case("v = 2.5", drifts["above"]),
    holds_on=case("7 / m, planted", drifts["planted"]),
)  # fmt: skip
study.claim(
    "bounded-path",
    "Below the critical rate the weights stay in a ball that does not grow with the width, in "
    "units of the first error.",
    zhu2024("Fig. 3.2a"), distance_slope, between(-0.1, 0.1, "ours"),
    on=(runs.distances, 1.0, True), fails_on=case("v = 3", runs.distances, 3.0, True),
    holds_on=case("distances that stay, planted", runs.planted_distances, 1.0, True),
)  # fmt: skip
study.claim(
    "path-grows",
    "In a catapult the weights travel a distance that grows like the root of the width.",
    zhu2024("Fig. 3.2a, with the order derived"), distance_slope, near(0.5, 0.1, "ours"),
    on=(runs.distances, 3.0, False), fails_on=case("v = 1", runs.distances, 1.0, False),
    holds_on=case("distances like the root of m, planted", runs.planted_distances, 3.0, False),
)  # fmt: skip


def in_margins(rates: np.ndarray) -> Measured:
    """Largest distance of largest rates from 4 in margins epsilon, at widths 1e3, 1e4, 1e5."""
    return exact((np.abs(rates - 4) / margin(WIDTHS))[:, 2:7:2].max())


def from_four(rates: np.ndarray) -> Measured:
    """Largest distance of largest rates from 4, at widths 1e2, 1e3 ... 1e6."""
    return exact(np.abs(rates - 4)[:, ::2].max())


def from_twice(rates: np.ndarray) -> Measured:
    """Largest distance of the ratio of largest and critical rate from 2, at the same widths."""
    return exact(np.abs(rates / 2 - 2)[:, ::2].max())


def approach_slope(rates: np.ndarray) -> Measured:
    """Slope of the distance from 4 over widths 1e3 to 1e6, the one farthest from -1."""
    slopes = [log_slope(WIDTHS[2:], np.abs(found - 4)) for found in rates[:, 2:]]
    return exact(farthest(slopes, -1))


def share_of_sign(rates: tuple[float, ...], label: float, sign: int) -> Measured:
    """Share of steps with that sign of R_lambda, once u > 16 C^2 / m (4 - v)^2.

    R_lambda is what a step takes from the kernel: above 0 it falls, below 0 it grows.
    """
    flags = []
    for v in rates:
        path = QuadraticMap(v, 1e6, label).trajectory(60)
        u = v**2 * path.residual[:-1] ** 2 / 1e6
        large = u > np.maximum(16 * (v * label) ** 2 / 1e6 / (4 - v * path.kernel[:-1]) ** 2, 1e-9)
        taken = -np.diff(path.kernel)[large & np.isfinite(path.kernel[1:])]
        flags.append(sign * taken > 0)
    return exact(np.concatenate(flags).mean())


rates = runs.rates
study.claim(
    "largest-rate",
    "The largest rate that converges is within epsilon of 4 / lambda, for every label.",
    zhu2024("Thms. 3.3.1, B.7.1"), in_margins, at_most(1, "printed"), on=rates["every label"],
    fails_on=case("a linear model, which has no curvature", rates["linear"]),
    holds_on=case("3 / m from 4, planted", rates["planted"]),
    note=lambda rates: "At width 1000: "
    + "; ".join(f"y = {y:g}: {r[2]:.4f}" for y, r in zip(LABELS, rates, strict=True)) + ".",
)  # fmt: skip
study.claim(
    "largest-rate-exact", "With label 0 the largest rate is 4 / lambda at every width.",
    zhu2024("Thm. B.7.1", how="derived; sharpens"), from_four, at_most(1e-6, "derived"),
    on=rates["no label"], fails_on=case("label 1", rates["label 1"]),
    holds_on=case("4, planted", rates["planted at 4"]),
)  # fmt: skip
study.claim(
    "largest-rate-like-one-over-width",
    "For labels other than 0 the largest rate approaches 4 / lambda like 1/m, faster than epsilon.",
    zhu2024("Thms. 3.3.1, B.7.1", how="derived; sharpens"), approach_slope, near(-1, 0.1, "ours"),
    on=rates["labels"],
    fails_on=case("epsilon = log m / sqrt m from 4, planted", rates["planted like epsilon"]),
    holds_on=case("3 / m from 4, planted", rates["planted"]),
)  # fmt: skip
study.claim(
    "interval-does-not-shrink",
    "The catapult interval does not shrink with the width: the largest rate stays twice the "
    "critical one.",
    zhu2024("section 3.3 (the discontinuity at infinite width)"), from_twice, at_most(0.1, "ours"),
    on=rates["label 1"], fails_on=case("a linear model", rates["linear"]),
    holds_on=case("3 / m from 4, planted", rates["planted"]),
)  # fmt: skip
PAST = (4.2, 4.5, 5.0)
study.claim(
    "growth-term-as-printed", "While descent diverges, R_lambda is positive.",
    zhu2024("section 3.3, divergence"), share_of_sign, at_least(0.9, "ours"),
    on=case("", PAST, 1.0, 1),
    fails_on=case("label 0, where R_lambda = c eta r^2 (4 - v) and v = 5", (5.0,), 0.0, 1),
    holds_on=case("label 0 and v = 3, by the same form", (3.0,), 0.0, 1),
    note="It must read R_lambda < 0.", partner="growth-term",
)  # fmt: skip
study.claim(
    "growth-term", "While descent diverges, R_lambda is negative: the kernel grows.",
    zhu2024("section 3.3, divergence", how="corrects"), share_of_sign, at_least(0.9, "ours"),
    on=case("", PAST, 1.0, -1), fails_on=case("v = 3", (3.0,), 1.0, -1),
    holds_on=case("label 0 and v = 5, where it is c eta r^2 (4 - v)", (5.0,), 0.0, -1),
    partner="growth-term-as-printed",
)  # fmt: skip
