"""Claims about the kernel of one-dimensional data and the equations that move it.

Bound by the study `quadratic-multi`; `found.lanes` has the direction of the larger kernel first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.catapult.line_data import start_of
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    between,
    compare,
    share,
    single,
)
from dynascope.theories.quadratic_directions import (
    along_directions,
    half_rate,
    matrix_step,
    printed_reduction,
)

STABLE = slice(0, 3)  # the rates that do not diverge
CHECKED = 40  # steps of the matrix equations


def _direction(lane: Any, k: int) -> Any:
    """The k-th direction by kernel, largest first."""
    order = np.argsort([-v for v in lane.start.kernels])
    return lane.start.found[order[k]]


def _critical_rates(study: Any) -> np.ndarray:
    """N / lambda of the larger kernel, over twenty seeds."""
    return np.array([min(start_of(study.task, study.width, s).critical) for s in range(20)])


@claim(
    "critical-values-as-printed",
    "For half the sum of squares, as in the text, the critical rate 2 / lambda is near 0.37.",
    "004 Fig. 3.3 with the loss of section 3.3",
)
def critical_as_printed(study: Any, found: Any) -> Evidence:
    """2 / lambda over twenty seeds."""
    rates = _critical_rates(study)
    return compare(
        between(0.3, 0.5), average(half_rate(1.0, study.task.count) * rates),
        ("inputs ten times as large", average(half_rate(1.0, study.task.count) * rates / 100)),
        "lambda is the sum of squared inputs of one sign, about 320.",
    )  # fmt: skip


@claim(
    "critical-values",
    "For the mean of squares the critical rate n / lambda is near 0.37.",
    "004 Fig. 3.3 with the loss of chapter 4",
)
def critical(study: Any, found: Any) -> Evidence:
    """N / lambda over twenty seeds; for the half sum it must miss."""
    rates = _critical_rates(study)
    control = ("2 / lambda, for half the sum", average(half_rate(1.0, study.task.count) * rates))
    return compare(between(0.3, 0.5), average(rates), control)


@claim(
    "eigenvectors",
    "The inputs of one sign are an eigenvector of the kernel at every step, in both models.",
    "004 Prop. B.11.1",
)
def eigenvectors(study: Any, found: Any) -> Evidence:
    """Largest |K p - lambda p| over lambda; the labels are no eigenvector."""
    worst = max(
        float(np.nanmax(lane.residual[:, STABLE] / lane.kernels[:, STABLE]))
        for lanes in found.lanes.values()
        for lane in lanes
    )
    start = found.lanes["network"][0].start
    kernel, q = _kernel(start), start.y / np.linalg.norm(start.y)
    image = kernel @ q
    control = ("the labels", single(np.linalg.norm(image - (q @ image) * q) / (q @ image)))
    return compare(at_most(1e-10), single(worst), control)


def _kernel(start: Any) -> np.ndarray:
    """The kernel at the start from its two eigenvalues."""
    parts = zip(start.found, start.kernels, strict=True)
    return sum((k * np.outer(d.unit, d.unit) for d, k in parts), np.zeros((len(start.x),) * 2))


@claim(
    "rank-two",
    "The kernel has rank two: it vanishes outside these two directions, at every step.",
    "004 Prop. B.11.1",
)
def rank(study: Any, found: Any) -> Evidence:
    """|K q| over the largest eigenvalue, q outside; with two-dimensional inputs it must not."""
    worst = max(
        float(np.nanmax(lane.outside[STABLE] / lane.kernels[0, STABLE]))
        for lanes in found.lanes.values()
        for lane in lanes
    )
    return compare(at_most(1e-10), single(worst), ("inputs in the plane", single(_plane_rest())))


def _plane_rest() -> float:
    """Third over first eigenvalue of the kernel for inputs in the plane."""
    rng = np.random.default_rng(0)
    x, u, v = rng.normal(size=(64, 2)), rng.normal(size=(500, 2)), rng.choice([-1.0, 1.0], 500)
    on = x @ u.T >= 0
    hidden, through = x @ u.T * on, on * v
    values = np.linalg.eigvalsh((through @ through.T) * (x @ x.T) + hidden @ hidden.T)
    return float(values[-3] / values[-1])


@claim(
    "decomposition-as-printed",
    "The kernel is lambda1 p1 p1^T + lambda2 p2 p2^T with p the inputs of one sign.",
    "004 appendix B.11",
)
def unit_as_printed(study: Any, found: Any) -> Evidence:
    """Relative error of that sum; it needs vectors of length one."""
    start = found.lanes["network"][0].start
    kernel = _kernel(start)

    def error(factor: float) -> float:
        parts = zip(start.found, start.kernels, strict=True)
        said = sum(factor * d.size * k * np.outer(d.unit, d.unit) for d, k in parts)
        return float(np.linalg.norm(said - kernel) / np.linalg.norm(kernel))

    return compare(
        at_most(1e-10), single(error(1.0)), ("inputs twice as large", single(error(4.0)))
    )


@claim(
    "largest-kernel",
    "The largest eigenvalue lies between M / 2 and 3 M / 2, M the larger sum of squared inputs.",
    "004 Prop. B.11.2, whose ratio of double sums is that",
)
def largest_kernel(study: Any, found: Any) -> Evidence:
    """Share of draws of the weights at width 500; at width 3 it must fail."""
    sizes = np.array([d.size for d in found.lanes["network"][0].start.found])

    def inside(width: int) -> np.ndarray:
        u = np.random.default_rng(0).normal(size=(study.draws, width))
        sides = [np.where(side, u**2 + 1, 0).mean(axis=1) for side in (u >= 0, u <= 0)]
        top = np.maximum(*(s * part for s, part in zip(sizes, sides, strict=True)))
        return (top >= sizes.max() / 2) & (top <= 1.5 * sizes.max())

    return compare(at_least(0.99), share(inside(500)), ("width 3", share(inside(3))))


@claim(
    "matrix-equations",
    "Residuals and kernel of the quadratic model move by (B.7) and (B.8), exactly.",
    "004 (B.7), (B.8)",
)
def matrix_equations(study: Any, found: Any) -> Evidence:
    """Largest relative gap over forty steps while both directions are catapulted."""
    exact, linear = zip(
        *(_matrix_gap(study, lane) for lane in found.lanes["quadratic model"]), strict=True
    )
    control = ("without the terms of second order", single(min(linear)))
    return compare(at_most(1e-10), single(max(exact)), control)


def _matrix_gap(study: Any, lane: Any) -> tuple[float, float]:
    start, eta = lane.start, half_rate(float(lane.rates[2]), len(lane.start.x))
    worst = []
    for width in (float(study.width), np.inf):
        r, k, gap = start.outputs - start.y, _kernel(start), 0.0
        for step in range(CHECKED):
            seen = lane.outputs[2, step] - start.y
            gap = max(gap, float(np.abs(r - seen).max() / np.abs(seen).max()))
            for i in (0, 1):
                unit, value = _direction(lane, i).unit, lane.kernels[i, 2, step]
                gap = max(gap, abs(float(unit @ k @ unit) / value - 1))
            r, k = matrix_step(r, k, start.x, start.y, width, eta)
        worst.append(gap)
    return worst[0], worst[1]


@claim(
    "reduction",
    "Each direction is the descent of a single example, with s = |p|^2 in place of |x|^2 / d.",
    "corrects 004 (B.9) to (B.12)",
)
def reduction(study: Any, found: Any) -> Evidence:
    """Largest relative gap at the three stable rates; without s it must miss."""
    exact, without = [], []
    for lane in found.lanes["quadratic model"]:
        for rate in range(3):
            gaps = [
                _reduction_gap(study, lane, rate, k, factor) for k in (0, 1) for factor in (1, 0)
            ]
            exact += gaps[::2]
            without += gaps[1::2]
    return compare(
        at_most(1e-9), single(max(exact)), ("s left out", single(max(without))),
        "The two directions are exactly independent.",
    )  # fmt: skip


def _reduction_gap(study: Any, lane: Any, rate: int, k: int, power: int) -> float:
    start = lane.start
    eta = half_rate(float(lane.rates[rate]), len(start.x))
    maps = along_directions(start.x, start.y, start.outputs, start.kernels, study.width, eta)
    direction = _direction(lane, k)
    descent = maps[start.found.index(direction)]
    path = descent.trajectory(study.steps, input_scale=descent.input_scale**power)
    seen = (lane.outputs[rate] - start.y) @ direction.unit
    gap = np.abs(path.residual - seen).max() / np.abs(seen).max()
    return float(max(gap, np.abs(path.kernel / lane.kernels[k, rate] - 1).max()))


@claim(
    "reduction-as-printed",
    "u1 = 2 eta^2 Pi1 L / m and w1 = eta^2 <(g - y), y> / m over one sign move by (B.9), (B.10).",
    "004 (B.9) to (B.12)",
)
def reduction_as_printed(study: Any, found: Any) -> Evidence:
    """Largest error of the next eigenvalue, relative to it; a constant kernel misses too."""
    printed, constant = [], []
    for lane in found.lanes["quadratic model"]:
        eta = half_rate(float(lane.rates[2]), len(lane.start.x))
        for step in range(CHECKED):
            before, after = lane.kernels[0, 2, step : step + 2]
            residuals = lane.outputs[2, step] - lane.start.y
            said = printed_reduction(
                residuals, lane.start.y, before, _direction(lane, 0), study.width, eta
            )
            printed.append(abs(said / after - 1))
            constant.append(abs(before / after - 1))
    return compare(
        at_most(1e-3), single(max(printed)), ("a constant kernel", single(max(constant))),
        "With unit vectors |p|^2 is missing, and w1 is no projection on p1.",
    )  # fmt: skip


@claim(
    "nothing-outside",
    "The loss outside both directions never changes: what is left in the end is irreducible.",
    "004 Prop. B.11.3",
)
def outside(study: Any, found: Any) -> Evidence:
    """Largest relative change of that part; the part inside changes."""
    rest: list[float] = []
    inside: list[float] = []
    for lane in found.lanes["quadratic model"]:
        residuals = lane.outputs[STABLE] - lane.start.y
        along = sum((residuals @ d.unit)[..., None] * d.unit for d in lane.start.found)
        for part, kept in ((residuals - along, rest), (along, inside)):
            loss = np.sum(part**2, axis=-1)
            kept.append(float(np.abs(loss / loss[:, :1] - 1).max()))
    return compare(at_most(1e-9), single(max(rest)), ("the loss inside", single(min(inside))))


@claim(
    "growth-as-printed",
    "While descent diverges lambda1 grows by |g|^2 |p1|^2 / m times eta (lambda1 - 4 eta).",
    "004 appendix B.11, divergence",
)
def growth_as_printed(study: Any, found: Any) -> Evidence:
    """Largest relative error in the last step before divergence."""
    late, early = _growth_errors(study, found, printed=True)
    return compare(at_most(0.1), single(late), ("the first step", single(early)))


@claim(
    "growth",
    "While descent diverges lambda1 grows by |g|^2 |p1|^2 / m times eta (eta lambda1 - 4).",
    "corrects 004 appendix B.11, divergence",
)
def growth(study: Any, found: Any) -> Evidence:
    """Largest relative error in the last step before divergence; at first g is not large."""
    late, early = _growth_errors(study, found, printed=False)
    return compare(at_most(0.1), single(late), ("the first step", single(early)))


def _growth_errors(study: Any, found: Any, printed: bool) -> tuple[float, float]:
    late: list[float] = []
    early: list[float] = []
    for lane in found.lanes["quadratic model"]:
        eta, d = half_rate(float(lane.rates[3]), len(lane.start.x)), _direction(lane, 0)
        values = lane.kernels[0, 3]
        last = int(np.isfinite(values).sum()) - 2
        for step, kept in ((last, late), (0, early)):
            side = np.where(d.unit != 0, lane.outputs[3, step], 0)
            shape = values[step] - 4 * eta if printed else eta * values[step] - 4
            said = float(side @ side) * d.size / study.width * eta * shape
            kept.append(abs(said / (values[step + 1] - values[step]) - 1))
    return max(late), min(early)
