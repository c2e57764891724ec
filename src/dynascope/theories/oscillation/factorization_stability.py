"""What gradient descent does to a factorised target at a learning rate, and which pair decides.

The top direction follows the quartic's map. Whether it may do so undisturbed is decided by errors
along it: the antisymmetric ones (1,p) with directions that are fitted, and the single entries in
the rows of directions for which the factors have no column left. Beyond, nothing closed is known
of how far the motion goes: there the reduced system, of the top direction and the offending one
alone, is iterated to see whether it stays bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.theories.oscillation.doubling import predict
from dynascope.theories.oscillation.factorization import (
    Multipliers,
    orbit_multipliers,
    single_factors,
    transfer,
)
from dynascope.theories.oscillation.one_dimension import Flip, check_rate, flip
from dynascope.theories.oscillation.quartic import BOUNDED_UNTIL, DOUBLING, quartic_orbit

WAIT, KEPT = 5_000, 20_000  # steps dropped, then kept, of a chaotic top direction
REDUCED_STEPS = 10_000
LARGE = 1e6  # in units of the square root of the largest singular value
NUDGE = 1e-3  # how far off its orbit the reduced system starts


@dataclass(frozen=True)
class FactorizationVerdict:
    """Verdict for ||Y Z^T - C||^2 / 2, or for ||X X^T - C||^2 / 4, from a balanced start."""

    verdict: str  # converges, period-N, quasi-periodic, chaotic, diverges, undecided
    strengths: tuple[float, ...]  # learning rate times singular value, descending
    points: tuple[float, ...]  # largest singular value of the factor on the orbit, ascending
    multipliers: tuple[Multipliers, ...]  # of the orbit of period 2; none without one
    offending: tuple[float, float] | None  # the singular values of C that break the orbit
    reason: str


def factorization_verdict(
    target: ArrayLike, learning_rate: float, *, inner: int | None = None, symmetric: bool = False
) -> FactorizationVerdict:
    """What gradient descent on a factorisation does at a learning rate.

    Args:
        target: C; any matrix, or symmetric positive definite for the model X X^T.
        learning_rate: The learning rate.
        inner: Columns of the factors; as many as the smaller side of the target if not given.
            With fewer than its rank the directions of its smallest singular values are left out.
        symmetric: Whether the model is X X^T instead of Y Z^T.

    Returns:
        Verdict, orbit, multipliers (those of Y Z^T) and the pair of singular values that decides.
        `undecided` where a direction that is left out disturbs the orbit and motion stays bounded.

    Example:
        >>> found = factorization_verdict(np.diag([1.1, 0.5]), 1.0)
        >>> found.verdict, [round(x, 6) for x in found.points]
        ('period-2', [0.854309, 1.170537])
        >>> factorization_verdict(np.diag([1.5, 0.6]), 1.0).offending
        (1.5, 0.6)
        >>> [factorization_verdict(np.diag([1.2, 0.95]), 1.0, inner=r).verdict for r in (2, 1)]
        ['diverges', 'period-2']
    """
    matrix, rate = _checked(target, symmetric), check_rate(learning_rate)
    columns = min(matrix.shape) if inner is None else inner
    if columns < 1:
        raise bad("inner", inner, "a whole number of at least 1")
    singular = np.linalg.svd(matrix, compute_uv=False)
    singular = singular[singular > 1e-12 * singular[0]]  # as many as the rank
    strengths = tuple((rate * singular).tolist())
    word, x = _top(strengths[0])
    multipliers: tuple[Multipliers, ...] = ()
    if strengths[0] > 1:
        multipliers = tuple(orbit_multipliers(strengths, matrix.shape, columns))
    points = tuple(sorted((x / math.sqrt(rate)).tolist())) if word.startswith("period") else ()
    pair, reason = (singular[0], singular[0]), f"K = {strengths[0]:.6g}"
    if word == "converges":
        least = (math.sqrt(singular[0]),)
        return FactorizationVerdict(word, strengths, least, (), None, f"{reason} is at most 1")
    if word == "diverges":
        reason += " is beyond 2: the top direction escapes alone"
        return FactorizationVerdict(word, strengths, (), multipliers, _plain(pair), reason)
    offender = _offender(strengths, x, columns, symmetric)
    if offender is None:
        reason += ", and no other direction disturbs it"
        return FactorizationVerdict(word, strengths, points, multipliers, None, reason)
    b = strengths[offender]
    bounded = _reduced_stays_bounded(strengths[0], b, 1 if offender >= columns else 2, symmetric)
    if offender < columns:
        side = "beyond" if strengths[0] + b > 2 else "before"
        reason += f", b = {b:.6g}: K + b = {strengths[0] + b:.6g} is {side} 2"
        word = "quasi-periodic" if bounded else "diverges"
    else:
        reason += f", b = {b:.6g} is left out by {columns} columns, and errors towards it grow"
        word = "undecided" if bounded else "diverges"
    pair = (singular[0], singular[offender])
    return FactorizationVerdict(word, strengths, (), multipliers, _plain(pair), reason)


def _plain(pair: tuple) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def _top(strength: float) -> tuple[str, np.ndarray]:
    """What the top direction does alone, and the states it visits, in the order of time."""
    if strength <= 1:
        return "converges", np.array([math.sqrt(strength)])
    if strength < DOUBLING:
        orbit = quartic_orbit(strength, 1.0)
        assert orbit is not None  # there is one for every strength above 1
        return "period-2", np.array(orbit.points)
    if strength > BOUNDED_UNTIL:
        return "diverges", np.empty(0)
    orbit = predict(_quartic(), strength).orbit
    if orbit is None:
        states = _walk(strength, 0.9 * math.sqrt(strength), WAIT + KEPT)[WAIT:]
        growth = np.log(np.abs(1 - 3 * states**2 + strength)).mean()
        return ("chaotic" if growth > 1e-3 else "undecided"), states
    return f"period-{orbit.period}", _walk(
        strength, orbit.points[0] * math.sqrt(strength), orbit.period
    )


@cache
def _quartic() -> Flip:
    return flip("(x**2-1)**2/4", 1.0)


def _walk(strength: float, x: float, steps: int) -> np.ndarray:
    """States of x <- x - (x^2 - K) x."""
    found = np.empty(steps)
    for t in range(steps):
        found[t] = x
        x -= (x * x - strength) * x
    return found


def _offender(
    strengths: tuple[float, ...], x: np.ndarray, columns: int, symmetric: bool
) -> int | None:
    """The direction whose error grows fastest along the top one's states; None if none grows."""
    rates = []
    for p, b in enumerate(strengths[1:], 1):
        if p < columns:
            matrices = transfer(x, strengths[0], b, "antisymmetric")
            rates.append(-math.inf if symmetric else _growth(matrices))
        else:
            kinds = single_factors(x, b)[: 1 if symmetric else 2]
            with np.errstate(divide="ignore"):
                rates.append(max(float(np.log(np.abs(kind)).mean()) for kind in kinds))
    worst = int(np.argmax(rates)) if rates else 0
    return worst + 1 if rates and rates[worst] > 1e-12 else None


def _growth(matrices: np.ndarray) -> float:
    """Growth per step of an error under these matrices in turn, as a logarithm.

    Few matrices are one round of an orbit, whose growth is exact; many are a stretch of a
    trajectory, along which an error is followed.
    """
    if len(matrices) <= 64:
        product = np.linalg.multi_dot([*matrices[::-1], np.eye(2)])
        radius = float(np.abs(np.linalg.eigvals(product)).max())
        return math.log(radius) / len(matrices) if radius else -math.inf
    error, total = np.array([0.6, 0.8]), 0.0
    for matrix in matrices:
        error = matrix @ error
        size = math.hypot(*error)
        error, total = error / size, total + math.log(size)
    return total / len(matrices)


def _reduced_stays_bounded(strength: float, other: float, columns: int, symmetric: bool) -> bool:
    """Whether descent on diag(K, b) with 2 x `columns` factors stays bounded, from its orbit."""
    target = np.diag([strength, other])
    start = np.diag(np.sqrt([0.9 * strength, other]))
    y = (start + NUDGE * np.array([[0.3, -0.8], [1.0, 0.5]]))[:, :columns]
    z = (start - NUDGE * np.array([[0.6, 0.4], [-0.7, 0.9]]))[:, :columns]
    z = y if symmetric else z
    for _ in range(REDUCED_STEPS):
        error = y @ z.T - target
        y, z = y - error @ z, z - error.T @ y
        if not abs(y).max() + abs(z).max() < LARGE * math.sqrt(strength):
            return False
    return True


def _checked(target: ArrayLike, symmetric: bool) -> np.ndarray:
    matrix = np.asarray(target, float)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all() or not matrix.any():
        expected = "a matrix of finite numbers, not all zero"
        raise bad("target", f"an array of shape {matrix.shape}", expected)
    if symmetric:
        square = matrix.shape[0] == matrix.shape[1]
        if not (square and np.allclose(matrix, matrix.T, rtol=1e-12, atol=0)):
            raise bad("target", f"a matrix of shape {matrix.shape}", "a symmetric matrix for X X^T")
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least <= 0:
            raise bad("target", f"least eigenvalue {least:.6g}", "a positive definite matrix")
    return matrix
