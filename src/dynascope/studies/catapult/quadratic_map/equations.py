"""The map: its equations, what holds exactly in them, and its fixed points.

The fixed points of (3.11), (3.12) are g = y with any kernel; g = 0 with kernel 0; and u = 4,
v = 4 + w. There is no other: v = u + w and u (4 - v) + 4 w = (4 - u)(u + w).
"""

import math
from collections.abc import Callable

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import derived, zhu2024
from dynascope.studies.catapult.quadratic_map import runs
from dynascope.studies.catapult.quadratic_map.runs import Followed, Settings, study
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.theories import QuadraticMap
from dynascope.theories.catapult.steps import Reduced, quadratic_step, reduced_step


def gap_to_weights(followed: Followed) -> Measured:
    """Worst relative gap of the map to descent in the weights."""
    gaps = []
    for descent, seen in followed:
        said = descent.trajectory(len(seen.kernel) - 1)
        gaps.append(np.abs(said.residual - seen.residual).max() / np.abs(seen.residual).max())
        gaps.append(np.abs(said.kernel / seen.kernel - 1).max())
    return exact(np.max(gaps))


def gap_of_reduced(followed: Followed, signed: bool) -> Measured:
    """Worst gap of v in the weights to the map in u, v, w, with the sign of w or without."""
    worst = 0.0
    for descent, seen in followed:
        rate, state = descent.learning_rate, descent.reduced()
        for kernel in seen.kernel:
            worst = np.maximum(worst, abs(state.v - rate * kernel) / (rate * kernel))
            if not worst < 1:  # another map, which may run away
                break
            state = reduced_step(state, rate * descent.curvature**0.5 * descent.label)
            state = state if signed else state._replace(w=abs(state.w))
    return exact(worst)


_quadratic, _linear = runs.followed["quadratic"], runs.followed["linear"]
study.claim(
    "update-equations",
    "Output and tangent kernel of the quadratic model move by (3.11) and (3.12), exactly.",
    zhu2024("(3.10), (3.11), (3.12)"), gap_to_weights, at_most(1e-10, "printed"), on=_quadratic,
    fails_on=case("the weights of the linear model, whose kernel is constant", _linear),
    holds_on=case("paths of the map itself, planted to twelve digits", runs.planted_path),
    note=f"100 steps at v = {', '.join(map(str, runs.CHECKED))}, width 500, 7 inputs. (3.12) is "
    "used as a product: as printed, with a quotient by g - y, it is 0/0 at convergence.",
)  # fmt: skip
study.claim(
    "reduced-map", "If the sign of w is that of (g - y) y, u, v and w move by (3.13) and (3.14).",
    zhu2024("(3.13), (3.14)"), gap_of_reduced, at_most(1e-10, "derived"), on=(_quadratic, True),
    fails_on=case("|w| in place of w", _quadratic, False),
    holds_on=case("label 0, where w is 0", runs.followed["no label"], False),
)  # fmt: skip


def share_near_one(kernels: np.ndarray) -> Measured:
    """Share of kernels between half and three halves."""
    return share(np.abs(kernels - 1) <= 0.5)


study.claim(
    "initial-kernel", "The first kernel lies between half and three halves of |x|^2 / d.",
    zhu2024("Prop. B.9.1"), share_near_one, at_least(0.99, "ours"),
    on=runs.first_kernels[500], fails_on=case("width 3", runs.first_kernels[3]),
    holds_on=case("kernels from 0.6 to 1.4, planted", runs.planted_kernels),
)  # fmt: skip


@study.compute(
    each=lambda s: (0.0, 0.01), reads=("draws", "seed"), seconds=lambda s: 0.1 + 1e-6 * s.draws
)
def steps_of_v(s: Settings, label_size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random realisable u and v, and v after a step, with a label of such a size."""
    rng = np.random.default_rng(s.seed)
    v = rng.uniform(0.1, 4.5, s.draws)
    u = rng.uniform(0, 1, s.draws) * v**2 / 4
    after = reduced_step(Reduced(u, v, np.sqrt(u) * label_size, 1.0), label_size)
    return u, v, after.v


@study.finding(steps_of_v[0.0])
def planted_steps(s: Settings, found: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same states, with v moved by the product law."""
    u, v, _ = found
    return u, v, 4 - (1 + u) * (4 - v)


def keeps_product(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Measured:
    """Share of random states at which 4 - v grows by 1 + u, to 1e-12."""
    u, v, after = found
    return share(np.abs((4 - after) - (1 + u) * (4 - v)) <= 1e-12)


ANGLES = tuple(np.linspace(0, np.pi / 2, 1001))
KNOWN = {0.0: 0.0, np.pi / 6: 4.0, np.pi / 3: 0.0, np.pi / 2: 4.0}  # angle: u after a step


def gap_to_chaos(v: float, angles: tuple[float, ...]) -> Measured:
    """Largest gap of u to 4 sin^2(3 a), and of v to itself, over angles a."""
    angle = np.array(angles)
    after = reduced_step(Reduced(4 * np.sin(angle) ** 2, v, 0.0, 1.0), 0.0)
    gaps = np.abs(after.v - v).max(), np.abs(after.u - 4 * np.sin(3 * angle) ** 2).max()
    return exact(np.max(gaps))


def output_over_kernel(factor: float) -> Measured:
    """Largest 2 sqrt(c) |g| / lambda along descents, which weights keep at most 1."""
    # On the edge itself the set is invariant, so rounding decides; start a little inside.
    start, v = factor * 0.99 * np.sqrt(1e3) / 2, np.linspace(0.2, 3.8, 19)
    path = QuadraticMap(1.0, 1e3, output=start).trajectory(60, learning_rate=v)
    shares = 2 * np.abs(path.residual) / np.sqrt(1e3) / np.abs(path.kernel)
    return exact(np.nan_to_num(shares, nan=np.inf).max())  # what diverges has left the set


study.claim(
    "product-law", "With label 0, 4 - v grows by exactly 1 + u in every step.",
    zhu2024("(3.13), (3.14)", how="derived from"), keeps_product, in_all_seeds("derived"),
    on=steps_of_v[0.0], fails_on=case("a label", steps_of_v[0.01]),
    holds_on=case("v moved by the law, planted", planted_steps),
)  # fmt: skip
study.claim(
    "chaos-at-four",
    "With label 0 and v = 4 the kernel stands and u = 4 sin^2(a) becomes 4 sin^2(3 a).",
    zhu2024("(3.13), (3.14)", how="derived from"), gap_to_chaos, at_most(1e-11, "derived"),
    on=case("", 4.0, ANGLES), fails_on=case("v = 3.9", 3.9, ANGLES),
    holds_on=case("angles of 0, 30, 60 and 90 degrees, which lead to 0 or 4", 4.0, tuple(KNOWN)),
)  # fmt: skip
study.claim(
    "realisable",
    "Weights exist only for 2 sqrt(c) |g| <= lambda, and descent never leaves that set.",
    derived("derived: the arithmetic mean of the two layers' parts of the kernel"),
    output_over_kernel, at_most(1, "derived"),
    on=case("", 1.0), fails_on=case("twice that output", 2.0),
    holds_on=case("no output, which never changes", 0.0),
)  # fmt: skip

State = tuple[float, float, float, float, float]  # residual g - y, kernel, m, y and rate


def large(m: float, y: float, rate: float) -> State:
    """The point u = 4, v = 4 + w, with r > 0."""
    residual = 2 * math.sqrt(m) / rate
    return residual, (4 + rate**2 * residual * y / m) / rate, m, y, rate


def printed(part: float, m: float, y: float, rate: float) -> State:
    """The point v = 2 + u + w, u = part C^2 / m, with the sign of r that makes w negative."""
    u = part * (rate * y) ** 2 / m
    residual = -math.copysign(math.sqrt(u * m) / rate, y)
    return residual, (2 + u - rate * abs(y) * math.sqrt(u / m)) / rate, m, y, rate


GIVEN = [(m, y, rate) for m in (1e2, 1e4, 1e6) for y in (1.0, -2.0) for rate in (0.8, 2.5)]
# At g = 0 with kernel 0 all weights that matter are zero.
WITH_A_LOSS = [(-y, 0.0, m, y, rate) for m, y, rate in GIVEN] + [large(*at) for at in GIVEN]


# At g = y nothing is left to learn.
WITHOUT = {v: [(0.0, v / rate, m, y, rate) for m, y, rate in GIVEN] for v in (1.5, 2.5)}


def move(states: list[State], over: Callable) -> Measured:
    """How far one step leads from states, relative to them: the largest, or the smallest."""
    moves = []
    for residual, kernel, m, y, rate in states:
        after = quadratic_step(residual, kernel, rate, 1 / m, y)
        away = (after[0] - residual) / max(abs(residual), abs(y))
        moves.append(math.hypot(away, rate * (after[1] - kernel)))
    return exact(over(moves))


def multipliers_at(residual: float, kernel: float, m: float, y: float, rate: float) -> np.ndarray:
    """Eigenvalues of the map's derivative; complex steps differentiate a polynomial exactly."""
    nearby = (residual + 1e-30j, kernel + 0j), (residual + 0j, kernel + 1e-30j)
    columns = [np.imag(quadratic_step(*state, rate, 1 / m, y)) / 1e-30 for state in nearby]
    return np.sort(np.linalg.eigvals(np.array(columns).T))


def least_stable(states: list[State]) -> Measured:
    """Smallest over the states of the largest multiplier's size."""
    return exact(np.min([np.abs(multipliers_at(*state)).max() for state in states]))


def gap_to_multipliers(states: dict[float, list[State]], shift: float) -> Measured:
    """Largest gap of the multipliers at g = y to 1 and 1 - v - shift."""
    gaps = [
        np.abs(multipliers_at(*state).real - np.sort([1.0, 1 - v - shift])).max()
        for v, own in states.items()
        for state in own
    ]
    return exact(np.max(gaps))


def below_two(v: np.ndarray) -> Measured:
    """Share of descents with a rate between 0 and 2 over the kernel."""
    return share((v > 0) & (v < 2))


AT_REST = {v: [(0.0, v / rate, m, y, rate) for m, y, rate in GIVEN] for v in (0.2, 1.0, 1.9, 2.5)}
FLAT = {v: [(0.0, v, runs.FLAT, 1.0, 1.0)] for v in AT_REST}
PRINTED = [printed(k, *given) for given in GIVEN for k in np.linspace(4 / 3, 2, 21)]
study.claim(
    "equilibria-as-printed",
    "There is an equilibrium with v near 2 and u between 4/3 and 2 times C^2 / m.",
    zhu2024("proof of Thm. 3.3.4, case (2.1)"), move, at_most(1e-6, "printed"),
    on=case("", PRINTED, min), fails_on=case("twice the printed u", [
        printed(2 * k, *given) for given in GIVEN for k in (4 / 3, 2)], min),
    holds_on=case("g = y, where nothing moves", WITHOUT[1.5], min), partner="equilibria",
    note="There g - y changes its sign in every step, and w with it: it is no equilibrium.",
)  # fmt: skip
study.claim(
    "equilibria", "Equilibria are g = 0 with kernel 0, and u = 4 with v = 4 + w.",
    zhu2024("proof of Thm. 3.3.4", how="corrects"), move, at_most(1e-12, "derived"),
    on=case("", WITH_A_LOSS, max), partner="equilibria-as-printed",
    fails_on=case("g - y a tenth larger", [(1.1 * r, *rest) for r, *rest in WITH_A_LOSS], max),
    holds_on=case("g = y, where nothing moves", WITHOUT[1.5], max),
)  # fmt: skip
study.claim(
    "other-equilibria-unstable", "Every equilibrium with a loss is unstable.",
    zhu2024("Thm. 3.3.4, with the right list of equilibria"),
    least_stable, at_least(1 + 1e-9, "derived"), on=case("", WITH_A_LOSS),
    fails_on=case("g = y, v = 1.5", WITHOUT[1.5]),
    holds_on=case("g = y, v = 2.5, which repels by 1.5 a step", WITHOUT[2.5]),
    note="For label 0 the multipliers at u = 4, v = 4 are {.real:.6g} and {.real:.6g}.".format(
        *multipliers_at(*large(1e4, 0.0, 1.0))),
)  # fmt: skip
study.claim(
    "multipliers",
    "At g = y the error is multiplied by 1 - v and the kernel stands: u by (1 - v)^2.",
    zhu2024("proof of Thm. 3.3.4, scenario (1)"), gap_to_multipliers, at_most(1e-12, "printed"),
    on=case("", AT_REST, 0.0), fails_on=case("the law of v + 0.01", AT_REST, 0.01),
    holds_on=case("a linear model, whose map is diagonal", FLAT, 0.0),
)  # fmt: skip
study.claim(
    "ends-below-two",
    "Every descent that converges ends with a rate between 0 and 2 over its kernel.",
    zhu2024("Thm. 3.3.4"), below_two, at_least(0.999, "ours"), on=runs.ended["after"],
    fails_on=case("the same descents before they begin", runs.ended["before"]),
    holds_on=case("planted from 0.1 to 1.9", runs.ended["planted"]),
)  # fmt: skip
