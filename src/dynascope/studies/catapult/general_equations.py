"""Claims about the equations of general quadratic models; plain numpy descents are the witness.

Bound by the study `quadratic-general`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, share, single
from dynascope.theories.quadratic_models import (
    QuadraticState,
    general_kernel,
    general_step,
    printed_general_kernel,
    printed_pure_step,
    pure_quadratic,
    two_layer_form,
)

STEPS = 50


class Gaps(NamedTuple):
    """Largest relative errors over a descent in the parameters."""

    residuals: float
    kernel: float
    printed: float  # of the kernel after each step by (3.16) as printed
    linear: float  # of residuals without the terms of second order


def _gaps(seed: int, samples: int = 4, size: int = 6) -> Gaps:
    """A random quadratic model f = f0 + J d + d^T H d / 2, followed in d."""
    rng = np.random.default_rng(seed)
    hessians = rng.normal(size=(samples, size, size))
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 20
    jacobian, first = rng.normal(size=(samples, size)), rng.normal(size=samples)
    rate = 1.5 / np.linalg.eigvalsh(jacobian @ jacobian.T)[-1]
    state, d = QuadraticState(first, jacobian), np.zeros(size)
    flat, worst = first.copy(), np.zeros(4)
    for _ in range(STEPS):
        r = first + jacobian @ d + np.einsum("p,npq,q->n", d, hessians, d) / 2
        j = jacobian + np.einsum("npq,q->np", hessians, d)
        after = j - rate * np.einsum("p,npq->nq", r @ j, hessians)
        scale, top = np.abs(first).max(), np.abs(j @ j.T).max()
        found = (
            np.abs(state.residuals - r).max() / scale,
            np.abs(general_kernel(state, hessians, rate) - after @ after.T).max() / top,
            np.abs(printed_general_kernel(state, hessians, rate) - after @ after.T).max() / top,
            np.abs(flat - r).max() / scale,
        )
        worst = np.maximum(worst, found)
        flat = flat - rate * jacobian @ jacobian.T @ flat
        state, d = general_step(state, hessians, rate), d - rate * r @ j
    return Gaps(*worst.tolist())


@claim(
    "residual-equation",
    "Residuals of any quadratic model move by (3.15), exactly.",
    "004 (3.15)",
)
def residual_equation(study: Any, found: Any) -> Evidence:
    """Largest error over random models; without the second order it must miss."""
    gaps = [_gaps(seed) for seed in range(5)]
    worst, linear = max(g.residuals for g in gaps), min(g.linear for g in gaps)
    control = ("without the term of second order", single(linear))
    return compare(at_most(1e-10), single(worst), control)


@claim(
    "kernel-equation-as-printed",
    "The kernel of any quadratic model moves by K - eta (4 G J^T - eta G G^T) / 4.",
    "004 (3.16)",
)
def kernel_as_printed(study: Any, found: Any) -> Evidence:
    """Largest error over random models, relative to the kernel."""
    gaps = [_gaps(seed) for seed in range(5)]
    printed, linear = min(g.printed for g in gaps), min(g.linear for g in gaps)
    return compare(
        at_most(1e-10), single(printed), ("a constant kernel (linear model)", single(linear)),
        "It is not even symmetric. G is n x p, one row a sample.",
    )  # fmt: skip


@claim(
    "kernel-equation",
    "The kernel of any quadratic model moves by K - eta (G J^T + J G^T) + eta^2 G G^T.",
    "corrects 004 (3.16)",
)
def kernel_equation(study: Any, found: Any) -> Evidence:
    """Largest error over random models; the printed form must miss."""
    gaps = [_gaps(seed) for seed in range(5)]
    control = ("as printed", single(min(g.printed for g in gaps)))
    return compare(at_most(1e-10), single(max(g.kernel for g in gaps)), control)


def _pure(form: np.ndarray, squared_norm: float, gamma: float, v: float) -> tuple[float, float]:
    """Largest errors of the map and of the printed map on g = gamma w^T S w / 2, label 0."""
    w = np.random.default_rng(1).normal(size=len(form))
    output, slope = gamma * w @ form @ w / 2, gamma * form @ w
    kernel = float(slope @ slope)
    path = pure_quadratic(v / kernel, gamma, squared_norm, output, kernel).trajectory(STEPS)
    rate, size, worst = v / kernel, np.abs(path.residual).max(), [0.0, 0.0]
    for step in range(STEPS):
        output, slope = gamma * w @ form @ w / 2, gamma * form @ w
        kernel = float(slope @ slope)
        gap = max(abs(path.residual[step] - output) / size, abs(path.kernel[step] / kernel - 1))
        said = printed_pure_step(output, kernel, rate, gamma, squared_norm)
        w = w - rate * output * slope
        after = gamma * form @ w
        worst = [max(worst[0], gap), max(worst[1], abs(said[1] / float(after @ after) - 1))]
    return worst[0], worst[1]


def _cases() -> list[tuple[float, float]]:
    """The two-layer linear network in three dimensions, and a random S with S^2 = |x|^2 I."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3)
    basis = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    mirror = 1.5 * basis @ np.diag(rng.choice([-1.0, 1.0], 20)) @ basis.T
    return [
        gap
        for v in (1.5, 2.5, 3.5)
        for gap in (
            _pure(two_layer_form(x, 8), float(x @ x), 8**-0.5, v),
            _pure(mirror, 1.5**2, 0.2, v),
        )
    ]


@claim(
    "pure-equations-as-printed",
    "Without a linear part the kernel falls by gamma |x|^2 g^2 (4 - eta lambda) a step.",
    "004 appendix B.13",
)
def pure_as_printed(study: Any, found: Any) -> Evidence:
    """Smallest error over models and rates; it lacks a factor gamma and a factor eta."""
    printed = min(gap[1] for gap in _cases())
    form = np.diag(np.linspace(-2, 2, 20))
    control = ("S of many sizes", single(_pure(form, 1.0, 0.2, 1.5)[1]))
    return compare(at_most(1e-10), single(printed), control)


@claim(
    "pure-equations",
    "Without a linear part the model is a quadratic map with gamma^2 |x|^2 for |x|^2 / (m d).",
    "corrects 004 appendix B.13",
)
def pure_equations(study: Any, found: Any) -> Evidence:
    """Largest error over models and rates; for an S of many sizes it must miss."""
    worst = max(gap[0] for gap in _cases())
    form = np.diag(np.linspace(-2, 2, 20))
    control = ("S of many sizes", single(_pure(form, 1.0, 0.2, 1.5)[0]))
    return compare(at_most(1e-10), single(worst), control)


@claim(
    "pure-catapult",
    "Without a linear part there is a catapult between 2 and 4 over the first kernel.",
    "004 Prop. B.13.1",
)
def pure_catapult(study: Any, found: Any) -> Evidence:
    """Share of rates; below 2 there is none."""

    def catapults(low: float, high: float) -> np.ndarray:
        v = np.linspace(low, high, 400)
        base = pure_quadratic(1.0, 1e-3, 1.0, 0.3, 1.0)
        return base.outcome(3000, learning_rate=v).regime == "catapult"

    below = share(catapults(0.1, 1.95))
    return compare(at_least(0.98), share(catapults(2.05, 3.95)), ("below 2", below))


@claim(
    "square-condition-as-printed",
    "The two-layer linear network has S^2 = |x|^2 I.",
    "004 appendix B.13: the network as a case of Prop. B.13.1",
)
def square_as_printed(study: Any, found: Any) -> Evidence:
    """Relative error for inputs of dimension 3."""
    return compare(
        at_most(1e-12), single(_power_gap(3, 2)), ("dimension 5", single(_power_gap(5, 2))),
        f"It has it only for one-dimensional inputs, where the error is {_power_gap(1, 2):.1g}.",
    )  # fmt: skip


@claim(
    "cube-condition",
    "S^3 = |x|^2 S is enough, and the two-layer linear network has it for every input.",
    "corrects 004 Prop. B.13.1",
)
def cube(study: Any, found: Any) -> Evidence:
    """Relative error for inputs of dimension 3; a random S must miss."""
    rng = np.random.default_rng(2)
    form = rng.normal(size=(12, 12))
    form, size = (form + form.T) / 2, 3.0
    other = np.abs(form @ form @ form - size * form).max() / np.abs(form).max()
    control = ("a random S", single(float(other)))
    return compare(at_most(1e-12), single(_power_gap(3, 3)), control)


def _power_gap(dimension: int, power: int) -> float:
    """Largest error of S^power = |x|^2 S^(power - 2), relative to |x|^2."""
    x = np.random.default_rng(0).normal(size=dimension)
    form = two_layer_form(x, 6)
    left = np.linalg.matrix_power(form, power)
    right = (x @ x) * np.linalg.matrix_power(form, power - 2)
    return float(np.abs(left - right).max() / (x @ x))
