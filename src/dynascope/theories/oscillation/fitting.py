"""Which functions g oscillate stably when (g(x) - y)^2 is minimised, and what composition does.

chen2025 Proposition 1: at a point with g(x) = y and g' != 0, the edge of stability is supercritical
if g' g''' < 6 g''^2. Proposition 2 says that composing two such functions gives a third. That
is false: exp, then log, is the identity, whose loss is a parabola. The sign that its proof
loses is that of g' g'' f'', for g after f; where that is not negative the rule is true, as
F' F''' - 6 F''^2 = (g' g''' - 6 g''^2) f'^4 + (f' f''' - 6 f''^2) g'^2 - 9 g' g'' f'^2 f''.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynascope.numerics.derivatives import derivatives
from dynascope.numerics.expressions import parse

Function = str | Callable
ROUNDING = 1e-9  # values below this share of their terms are zero

# First inner, then outer function, and the point: both satisfy Proposition 1, the whole does not.
COUNTEREXAMPLES = (("exp(x)", "log(x)", 0.5), ("x**2", "x**0.45", 1.0))


@dataclass(frozen=True)
class FitCondition:
    """Proposition 1 at a point."""

    value: float  # g' g''' - 6 g''^2
    slope: float  # g'

    @property
    def holds(self) -> bool:
        """Whether descent on (g - y)^2 has a stable orbit of period 2 just beyond the edge."""
        return self.slope != 0 and self.value < 0

    @property
    def criticality(self) -> float:
        """3 f3^2 - f2 f4 of the loss (g - y)^2."""
        return -16 * self.slope**2 * self.value


@dataclass(frozen=True)
class Composition:
    """Proposition 2 at a point: both parts, the whole, and the sign that decides."""

    inner: FitCondition
    outer: FitCondition
    whole: FitCondition
    sign: float  # g' g'' f''

    @property
    def printed(self) -> bool:
        """What Proposition 2 as printed concludes."""
        return self.inner.holds and self.outer.holds

    @property
    def corrected(self) -> bool:
        """What may be concluded: both parts satisfy Proposition 1, and the sign is right."""
        return self.printed and self.sign >= 0


def fit_condition(g: Function, at: float) -> FitCondition:
    """Proposition 1 for a function at a point.

    Args:
        g: The function that is fitted; text or a function that jax can trace.
        at: Where it meets its target.

    Returns:
        The value and whether the condition holds.

    Example:
        >>> fit_condition("x**2", 1.0)
        FitCondition(value=-24.0, slope=2.0)
    """
    return _from_jet(*derivatives(_traced(g), at, 3)[1:])


def composition(inner: Function, outer: Function, at: float) -> Composition:
    """Proposition 2 for an outer function after an inner one, at a point.

    Example:
        >>> found = composition("exp(x)", "log(x)", 0.5)
        >>> found.printed, found.whole.holds, found.corrected
        (True, False, False)
    """
    f = derivatives(_traced(inner), at, 3)
    g = derivatives(_traced(outer), f[0], 3)
    return compose_jets(np.array(f[1:]), np.array(g[1:]))


def compose_jets(inner: np.ndarray, outer: np.ndarray) -> Composition:
    """The same from the first three derivatives of each part, (3,)."""
    (f1, f2, f3), (g1, g2, g3) = inner.tolist(), outer.tolist()
    first, second = g1 * f1, g2 * f1**2 + g1 * f2
    third = g3 * f1**3 + 3 * g2 * f1 * f2 + g1 * f3
    return Composition(
        _from_jet(f1, f2, f3), _from_jet(g1, g2, g3), _from_jet(first, second, third), g1 * g2 * f2
    )


def _from_jet(g1: float, g2: float, g3: float) -> FitCondition:
    value = g1 * g3 - 6 * g2**2
    terms = abs(g1 * g3) + 6 * g2**2
    rounding = ROUNDING * (g1**2 if terms < ROUNDING * g1**2 else terms)
    return FitCondition(0.0 if abs(value) <= rounding else value, g1)


def _traced(g: Function) -> Callable:
    return parse(g) if isinstance(g, str) else g
