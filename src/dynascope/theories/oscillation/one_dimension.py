"""Gradient descent past the edge of stability, for any smooth function of one number.

chen2025 Theorem 3.1 and Lemma 3.2. Gradient descent x <- x - eta f'(x) loses its minimum at
eta = 2 / f''. What is found there is decided by the sign of 3 f3^2 - f2 f4: this is a flip
bifurcation, and the sign says whether the orbit of period 2 is born beyond the limit and
attracts (supercritical) or before it and repels (subcritical).

Symbols: fk is the k-th derivative at the minimum, eta the learning rate, kappa the relative
excess eta f2 / 2 - 1. Two points c - a and c + a are an orbit exactly if
f'(c - a) = -f'(c + a), and then eta = 2 a / f'(c + a): the half-amplitude a runs along a
curve of orbits that starts at the minimum, and no learning rate has to be guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from scipy.optimize import brentq

from dynascope.core.errors import bad
from dynascope.numerics.derivatives import derivatives, scalar
from dynascope.numerics.expressions import parse
from dynascope.theories.oscillation.minimum import find_minimum

Kind = Literal["supercritical", "subcritical", "degenerate", "no orbit"]
HIGHEST = 6  # derivatives are taken up to this order
ROUNDING = 1e-9  # derivatives below this share of f2, in units of the minimum's place, are zero
STEP, GROWTH, PLACES = 0.02, 1.03, 150  # along the curve of orbits, in units of `Flip.length`


@dataclass(frozen=True)
class Orbit:
    """Points that gradient descent visits in turn, ascending, with the orbit's multiplier."""

    learning_rate: float
    points: tuple[float, ...]
    multiplier: float  # factor by which a small error grows in one round; stable below 1

    @property
    def period(self) -> int:
        """How many steps one round takes."""
        return len(self.points)

    @property
    def stable(self) -> bool:
        """Whether nearby starts are drawn to it."""
        return abs(self.multiplier) < 1


@dataclass(frozen=True)
class RateFor:
    """Theorem 3.1 for a given point: the rate that puts it on an orbit of period 2."""

    learning_rate: float
    partner: float  # the other point of the orbit
    bound: float | None  # upper end of the printed bracket; None on the side it does not cover


@dataclass(frozen=True)
class Flip:
    """What happens at the edge of stability of one minimum."""

    function: str
    minimum: float
    derivatives: tuple[float, ...]  # f0 to f6 at the minimum
    f: Callable = field(repr=False, compare=False)  # what jax traces
    slope: Callable[[float], float] = field(repr=False, compare=False)
    curvature: Callable[[float], float] = field(repr=False, compare=False)

    @property
    def stability_limit(self) -> float:
        """The learning rate 2 / f'' beyond which the minimum repels."""
        return 2 / self.derivatives[2]

    @property
    def criticality(self) -> float:
        """3 f3^2 - f2 f4: positive if a stable orbit of period 2 is born beyond the limit."""
        _, _, f2, f3, f4, *_ = self.derivatives
        return 3 * f3**2 - f2 * f4

    @property
    def order(self) -> int | None:
        """Order of the lowest derivative beyond the second that is not zero; None if all are."""
        return next((k for k in range(3, HIGHEST + 1) if not self._vanishes(k)), None)

    @property
    def kind(self) -> Kind:
        """What the limit is, by Theorem 3.1 (order 3) or Lemma 3.2 (order 4 and more).

        A parabola has no orbit. Any other function whose derivatives up to order 6 cancel is
        degenerate: higher ones decide.
        """
        if self._leading() != 0:
            return "supercritical" if self._leading() > 0 else "subcritical"
        return "no orbit" if self._is_parabola() else "degenerate"

    @property
    def length(self) -> float:
        """Half-amplitude that the law below gives at twice the limit: the natural unit."""
        leading, power = self._leading(), self._power()
        return abs(leading) ** (-1 / power) if leading else max(1.0, abs(self.minimum))

    def half_amplitude(self, learning_rate: float) -> float | None:
        """Half the distance of the two points near onset; None where no orbit is born.

        sqrt(6 kappa f2^2 / (3 f3^2 - f2 f4)), or (-120 kappa f2 / f6)^(1/4) where f3 = f4 = 0.
        """
        kappa = check_rate(learning_rate) / self.stability_limit - 1
        if self._leading() == 0 or kappa * self._leading() < 0:
            return None
        return self.length * abs(kappa) ** (1 / self._power())

    def multiplier(self, learning_rate: float) -> float | None:
        """Two-step multiplier of the orbit of period 2; None if there is none."""
        orbit = self.orbit(learning_rate)
        return orbit.multiplier if orbit else None

    def orbit(self, learning_rate: float) -> Orbit | None:
        """The orbit of period 2 that belongs to this minimum; None if there is none."""
        rate = check_rate(learning_rate)
        if self.kind == "no orbit":
            return None
        low, centre = 0.0, self.minimum
        before = self.stability_limit - rate
        for a, c, eta in self._curve():
            if (eta - rate) * before <= 0 and before != 0:
                a = brentq(self._excess(rate, centre), max(low, a * 1e-9), a, xtol=1e-16)
                return self._orbit(rate, self._centre(a, centre), a)
            low, centre, before = a, c, eta - rate
        return None

    def branch(self, highest: float) -> list[Orbit]:
        """Orbits of period 2 along their curve, until the learning rate passes `highest`."""
        found = []
        for a, c, eta in self._curve():
            if eta > highest:
                break
            found.append(self._orbit(eta, c, a))
        return found

    def rate_for(self, point: float) -> RateFor | None:
        """The learning rate for which a given point lies on an orbit of period 2.

        Its partner has the opposite slope on the other side of the minimum; None if no point
        has, between the minimum and where the slope turns back.
        """
        side = math.copysign(1.0, self.minimum - point)
        wanted = self.slope(point)
        if point == self.minimum or wanted * side >= 0:
            return None
        near = self.minimum
        for distance in self._distances():
            far = self.minimum + side * distance
            value = self.slope(far)
            if value * side >= -wanted * side:
                partner = brentq(lambda x: self.slope(x) + wanted, near, far, xtol=1e-15)
                eta = (point - partner) / wanted
                return RateFor(eta, partner, self._bound(self.minimum - point))
            if not math.isfinite(value) or value * side <= 0:
                return None
            near = far
        return None

    def _bound(self, distance: float) -> float | None:
        """2 / (f2 - f_k eps^(k-2)) for odd k, 2 / (f2 + f_k eps^(k-2)) for even k."""
        k = self.order
        if k is None:
            return None
        sign = -1 if k % 2 else 1
        change = sign * self.derivatives[k] * distance ** (k - 2)
        below = self.derivatives[2] + change
        return 2 / below if change < 0 < below else None

    def _leading(self) -> float:
        """Factor in kappa = leading * a^power, to lowest order; 0 if all vanish up to order 6."""
        _, _, f2, f3, f4, _, f6 = self.derivatives
        if self._power() == 4:
            return 0.0 if self._vanishes(6) else -f6 / (120 * f2)
        terms = 3 * f3**2 + abs(f2 * f4)  # the criticality is their difference
        zero = self.order is None or abs(self.criticality) <= ROUNDING * terms
        return 0.0 if zero else self.criticality / (6 * f2**2)

    def _vanishes(self, k: int) -> bool:
        unit = max(1.0, abs(self.minimum))
        return abs(self.derivatives[k]) * unit ** (k - 2) <= ROUNDING * self.derivatives[2]

    def _is_parabola(self) -> bool:
        """Whether the slope is a straight line, as far as a length to both sides."""
        f2 = self.derivatives[2]
        away = [share * self.length for share in (-1.0, -0.3, 0.3, 1.0)]
        return all(
            abs(self.slope(self.minimum + a) - f2 * a) <= ROUNDING * f2 * self.length for a in away
        )

    def _power(self) -> int:
        return 4 if self.order in (5, 6) else 2

    def _curve(self) -> Iterator[tuple[float, float, float]]:
        """Half-amplitude, centre and learning rate along the curve of orbits."""
        centre = self.minimum
        for a in self._distances():
            centre = self._centre(a, centre)
            eta = self._eta(a, centre)
            if not (math.isfinite(eta) and eta > 0):
                return
            yield a, centre, eta

    def _distances(self) -> Iterator[float]:
        """Equal steps near the minimum, equal factors farther out, up to about 20 lengths."""
        distance = 0.0
        for _ in range(PLACES):
            distance = max(distance + STEP * self.length, distance * GROWTH)
            yield distance

    def _centre(self, a: float, guess: float) -> float:
        """The c with f'(c - a) + f'(c + a) = 0, by Newton's method from a centre close by."""
        for _ in range(50):
            rest = self.slope(guess - a) + self.slope(guess + a)
            below = self.curvature(guess - a) + self.curvature(guess + a)
            if not math.isfinite(rest) or below == 0:
                return math.nan
            guess -= rest / below
            if abs(rest / below) <= 4e-16 * max(1.0, abs(guess)):
                break
        return guess

    def _eta(self, a: float, centre: float) -> float:
        slope = self.slope(centre + a)
        return 2 * a / slope if slope else math.inf

    def _excess(self, rate: float, guess: float) -> Callable[[float], float]:
        return lambda a: self._eta(a, self._centre(a, guess)) - rate

    def _orbit(self, rate: float, centre: float, a: float) -> Orbit:
        points = (centre - a, centre + a)
        return Orbit(rate, points, self.round_multiplier(rate, points))

    def round_multiplier(self, learning_rate: float, points: tuple[float, ...]) -> float:
        """Product of 1 - eta f'' over the points of one round."""
        return math.prod(1 - learning_rate * self.curvature(x) for x in points)


def flip(f: str | Callable, near: float) -> Flip:
    """The edge of stability of a function's minimum.

    Args:
        f: A function of one number that jax can trace, or text such as "(x**2-1)**2/4".
        near: Where the search for the minimum starts.

    Returns:
        Minimum, stability limit, criticality, law of the amplitude, orbits, multipliers.

    Example:
        >>> edge = flip("(x**2-1)**2/4", near=0.9)
        >>> edge.minimum, edge.stability_limit, edge.criticality, edge.kind
        (1.0, 1.0, 96.0, 'supercritical')
        >>> [round(x, 9) for x in edge.orbit(1.05).points]
        [0.872871561, 1.091089451]
    """
    function = parse(f) if isinstance(f, str) else f
    name = f if isinstance(f, str) else getattr(f, "__name__", "f")
    value, slope, curvature = (scalar(function, k) for k in (0, 1, 2))
    if not math.isfinite(value(near)):  # slopes can be finite all the same, as that of log is
        raise bad("near", near, "a point where the function is finite")
    minimum = find_minimum(slope, curvature, near)
    found = derivatives(function, minimum, HIGHEST)
    if not math.isfinite(found[0]):
        hint = f"the search ended at x = {minimum:.6g}, where the function is not finite"
        raise bad("near", near, "a point near a minimum", hint)
    return Flip(name, minimum, found, function, slope, curvature)


def check_rate(learning_rate: float) -> float:
    """The rate as a float; raises unless it is positive and finite."""
    if not (math.isfinite(learning_rate) and learning_rate > 0):
        raise bad("learning_rate", learning_rate, "a finite number above 0")
    return float(learning_rate)
