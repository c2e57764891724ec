"""Assumptions D.1 to D.5 behind the lemmas: do they hold here, and what would it take?

Symbols, as in appendix D: a signal strengths, alpha the smallest and gamma alpha the largest;
omega the smallest and beta omega the largest |w_ij(0)|; eta the step size; P beta omega the
edge of the initial phase; K, kappa, C free constants. Strict inequalities on free constants
(kappa > 1.1, beta > 1) are read as "at least", since any margin will do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad

_LN10 = math.log(10)


@dataclass(frozen=True)
class Assumption:
    """One assumption in one setting.

    `margin` is how many powers of ten are to spare (negative: missing) in the inequality that
    is closest to failing; None where there is nothing to compare. `needed` says what
    initialisation, rate or signal it would take; empty when the assumption holds.
    """

    name: str
    statement: str
    holds: bool
    margin: float | None
    needed: str


def check_assumptions(
    signal: ArrayLike,
    jacobian: ArrayLike,
    learning_rate: float,
    P: float,
    K: float = 20.0,
    kappa: float = 1.1,
    C: float = 100.0,
    beta: float | None = None,
) -> tuple[Assumption, ...]:
    """Check D.1 to D.5 for a given start, step size and choice of constants.

    Args:
        signal: Signal strengths a, (d,), in any order.
        jacobian: W(0), (d, d).
        learning_rate: eta, in paper time.
        P: Size of the initial phase.
        K: Inverse step size constant, at least 20.
        kappa: Slack of the exponents, at least 1.1.
        C: Constant of the signal gap, above 1.
        beta: Spread allowed to |w_ij(0)|; None takes the smallest, the spread it has.

    Returns:
        The five assumptions in order. If D.1 fails, the others have no constants to speak of
        and are reported as failing without a margin.

    Example:
        >>> found = check_assumptions([0.5, 2.0], 0.01 * np.ones((2, 2)), 0.01, P=2.0)
        >>> [a.name for a in found if not a.holds]
        ['D.2', 'D.4', 'D.5']
    """
    a, w = np.sort(np.asarray(signal, float)), np.abs(np.asarray(jacobian, float))
    if w.shape != a.shape * 2:
        raise bad("jacobian", w.shape, f"a matrix of shape ({a.size}, {a.size})")
    if not P > 0:
        raise bad("P", P, "a positive number")
    first = _bounded(a, w)
    if not first.holds:
        rest = enumerate(_STATEMENTS[1:], start=2)
        return (first, *(Assumption(f"D.{n}", s, False, None, first.needed) for n, s in rest))
    omega, spread = float(w.min()), float(w.max() / w.min())
    beta = spread if beta is None else beta
    if beta < spread:
        raise bad("beta", beta, f"at least the spread of W(0), {spread:.3g}")
    edge = math.log(P) + math.log(beta) + math.log(omega)  # log of P beta omega
    return (
        first,
        _small_step(a, learning_rate, K),
        _small_phase(edge),
        _small_start(a, omega, beta, P, K, kappa, C),
        _distinct_signal(a, edge, beta, P, kappa, C),
    )


_STATEMENTS = (
    "every direction has signal and every entry of W(0) is non-zero",
    "the step size is at most 1/(9 K gamma alpha), with K at least 20",
    "the initial phase ends below 0.4",
    "the start is small against 1/(P K gamma d beta^2), and P, kappa and C fit together",
    "signal strengths differ by more than a factor 3, far enough for the initial phase",
)


def _judge(n: int, margin: float, needed: str) -> Assumption:
    holds = margin >= -1e-12  # equality is allowed; this is round-off of the logarithms
    return Assumption(f"D.{n}", _STATEMENTS[n - 1], holds, margin, "" if holds else needed)


def _bounded(a: np.ndarray, w: np.ndarray) -> Assumption:
    holds = bool((a > 0).all() and (w > 0).all())
    needed = "only directions with signal, and no zero in W(0)"
    return Assumption("D.1", _STATEMENTS[0], holds, None, "" if holds else needed)


def _small_step(a: np.ndarray, learning_rate: float, K: float) -> Assumption:
    largest = learning_rate_bound(a, K)
    margin = min(math.log10(largest / learning_rate), math.log10(K / 20))
    return _judge(2, margin, f"a step size of at most {largest:.3g} and K of at least 20")


def learning_rate_bound(signal: ArrayLike, K: float = 20.0) -> float:
    """Largest step size that D.2 allows, in paper time.

    Example:
        >>> learning_rate_bound([0.25, 1.0]) == 1 / 180
        True
    """
    return float(1 / (9 * K * np.max(signal)))


def _small_phase(edge: float) -> Assumption:
    return _judge(
        3, (math.log(0.4) - edge) / _LN10, f"P beta omega <= 0.4, here 1e{edge / _LN10:.1f}"
    )


def _small_start(
    a: np.ndarray, omega: float, beta: float, P: float, K: float, kappa: float, C: float
) -> Assumption:
    largest = min(
        math.log(_slack(kappa)) - math.log(P * K * a[-1] / a[0] * a.size) - 2 * math.log(beta),
        -0.5 * math.log(2 * beta),
    )
    margins = (
        (largest - math.log(omega)) / _LN10,
        math.log10(P / 2),
        math.log10(kappa / 1.1),
        math.log10((1 + K / (2 * C)) / kappa),
    )
    needed = f"omega <= 1e{largest / _LN10:.2f}, P >= 2 and 1.1 <= kappa <= 1 + K/(2C)"
    return _judge(4, min(margins), needed)


def _slack(kappa: float) -> float:
    return min(kappa - 1, 1 - kappa**-0.5)


def _distinct_signal(
    a: np.ndarray, edge: float, beta: float, P: float, kappa: float, C: float
) -> Assumption:
    if a.size == 1:
        return Assumption("D.5", _STATEMENTS[4], True, None, "")
    reach = math.log(P) / (10 * kappa**2 * -edge + math.log(P * beta)) if edge < 0 else math.inf
    ratio = (1 + np.max(a[:-1] / a[1:])) / 2
    gap = np.min(a[1:] / (3 * a[:-1] + a[0] / C))
    margin = min(
        math.log10(reach / ratio) if reach > 0 else -math.inf,
        math.log10(gap),
        math.log10(C) if C > 1 else -math.inf,
    )
    return _judge(5, margin, _needed_for_distinct(ratio, gap))


def _needed_for_distinct(ratio: float, gap: float) -> str:
    if gap < 1:
        return "signal strengths at least three times the next weaker one"
    return (
        f"a wider initial phase: log P >= {ratio / (1 - ratio):.3g} "
        "(10 kappa^2 log(1/(P beta omega)) + log beta); see find_constants"
    )


@dataclass(frozen=True)
class Constants:
    """The mildest constants under which D.1 to D.5 hold together, or what forbids it.

    `gap` is the smallest a_i - 3 a_j over neighbours in strength, which D.5 wants positive.
    The remaining fields are None when `feasible` is false.
    """

    feasible: bool
    blocked_by: str
    gap: float
    learning_rate: float
    log10_omega: float | None = None
    log10_P: float | None = None
    C: float | None = None


def find_constants(
    signal: ArrayLike, beta: float = 2.0, K: float = 20.0, kappa: float = 1.1
) -> Constants:
    """Solve D.1 to D.5 for the largest initialisation omega that they allow.

    With l = log(1/(P beta omega)), D.3 and D.4 bound l from below and D.5 then bounds P from
    below by log P >= rho (10 kappa^2 l + log beta) / (1 - rho), rho = (a_i + a_j) / (2 a_i)
    of the closest pair; the smallest l and P give the largest omega.

    Args:
        signal: Signal strengths a, (d,), at least two, in any order.
        beta: Spread of the initial entries.
        K: Inverse step size constant.
        kappa: Slack of the exponents.

    Returns:
        The constants, with `learning_rate` the largest step size of D.2 (paper time).

    Example:
        >>> round(find_constants([0.25, 1.0]).log10_omega, 2)
        -82.03
        >>> find_constants([0.5, 1.0]).blocked_by
        'D.5'
    """
    a = np.sort(np.asarray(signal, float))
    if a.size < 2 or beta < 1 or K < 20 or kappa < 1.1:
        raise bad(
            "constants", (a.size, beta, K, kappa), "two strengths, beta>=1, K>=20, kappa>=1.1"
        )
    gap, rate = float(np.min(a[1:] - 3 * a[:-1])), learning_rate_bound(a, K)
    if a[0] <= 0:
        return Constants(False, "D.1", gap, rate)
    C = K / (2 * (kappa - 1))  # the largest that kappa <= 1 + K/(2C) leaves
    if C <= 1:
        return Constants(False, "D.4", gap, rate)
    if gap < a[0] / C:
        return Constants(False, "D.5", gap, rate)
    rho = (1 + np.max(a[:-1] / a[1:])) / 2
    depth = max(math.log(K * a[-1] / a[0] * a.size * beta / _slack(kappa)), math.log(2.5))
    log_P = max(rho * (10 * kappa**2 * depth + math.log(beta)) / (1 - rho), math.log(2))
    log_omega = min(-depth - log_P - math.log(beta), -0.5 * math.log(2 * beta))
    return Constants(True, "", gap, rate, float(log_omega / _LN10), float(log_P / _LN10), C)
