"""The functions that the propositions name, each with a point at which it meets its target."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dynascope.engine.orbits import observe
from dynascope.theories.one_dimension import Flip, flip

QUARTIC = "(x**2-1)**2/4"

# 002 Corollaries 2 to 8, and two that are named without proof: g, and x with g(x) = y.
FITTED = {
    "x^2": ("x**2", 1.0),
    "x^3": ("x**3", 1.0),
    "sin": ("sin(x)", 0.5),
    "tanh": ("tanh(x)", 0.3),
    "exp": ("exp(x)", 0.2),
    "log": ("log(x)", 1.5),
    "sigmoid": ("sigmoid(x)", 0.4),
    "softplus": ("softplus(x)", 0.3),
    "gaussian": ("exp(-x**2)", 0.8),
}


@dataclass(frozen=True)
class Amplitudes:
    """Half-amplitudes of a function's orbit over the excess kappa of the learning rate."""

    edge: Flip
    simulated: tuple[float, ...]  # not a number where descent settles on no orbit of period 2
    law: tuple[float, ...]
    exact: tuple[float, ...]  # of the orbit found without simulation


def loss_of(g: str, at: float) -> str:
    """Text of (g - y)^2, with y the value of g at the given point.

    Example:
        >>> loss_of("x**2", 1.0)
        '(x**2-(1.0))**2'
    """
    from dynascope.numerics.derivatives import derivatives
    from dynascope.numerics.expressions import parse

    return f"({g}-({derivatives(parse(g), at, 0)[0]!r}))**2"


def amplitudes(text: str, near: float, kappas: tuple[float, ...]) -> Amplitudes:
    """Simulate a function's orbit of period 2 at several excesses, beside the law."""
    edge = flip(text, near)
    rates = [edge.stability_limit * (1 + kappa) for kappa in kappas]
    return Amplitudes(
        edge,
        tuple(simulated_half(edge, rate) for rate in rates),
        tuple(edge.half_amplitude(rate) or math.nan for rate in rates),
        tuple(_half(orbit.points) if (orbit := edge.orbit(rate)) else math.nan for rate in rates),
    )


def simulated_half(edge: Flip, rate: float) -> float:
    """Half the distance of the two points that descent settles on; not a number without any."""
    seen = observe(edge.f, rate, edge.minimum - 0.2 * edge.length * _root(edge, rate))
    return _half(seen.points) if seen.period == 2 else math.nan


def _root(edge: Flip, rate: float) -> float:
    """The orbit's natural size near onset, so that a start is always inside its basin."""
    return math.sqrt(abs(rate / edge.stability_limit - 1))


def _half(points: tuple[float, ...]) -> float:
    return (points[1] - points[0]) / 2
