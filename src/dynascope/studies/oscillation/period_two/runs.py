"""Named functions past their limits, the theorem's brackets, two descents, random compositions.

chen2025 Theorem 3.1, Lemma 3.2, Propositions 1 and 2 with their corollaries, Fig. B.1.
"""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.instruments.orbits.descent import observe
from dynascope.numerics.derivatives import derivatives
from dynascope.numerics.expressions import parse
from dynascope.numerics.iteration import steps
from dynascope.studies.study import Study
from dynascope.theories.oscillation.fitting import COUNTEREXAMPLES, compose_jets, fit_condition
from dynascope.theories.oscillation.one_dimension import Flip, flip
from dynascope.theories.oscillation.quartic import QUARTIC

FAR = 0.2  # an excess at which a law for small ones must be wrong
# Corollaries 2 to 8, and two that are named without proof: g, and x with g(x) = y.
FITTED = {
    "x^2": ("x**2", 1.0), "x^3": ("x**3", 1.0), "sin": ("sin(x)", 0.5), "tanh": ("tanh(x)", 0.3),
    "exp": ("exp(x)", 0.2), "log": ("log(x)", 1.5), "sigmoid": ("sigmoid(x)", 0.4),
    "softplus": ("softplus(x)", 0.3), "gaussian": ("exp(-x**2)", 0.8),
}  # fmt: skip
LINE = {"line": ("2*x", 0.5)}  # g' g''' = 6 g''^2 = 0
ALONE = ("steep", "cosine")  # losses that are no fits
NEAR = np.linspace(0.02, 0.2, 10)  # distances from a minimum
LOSSES = {  # text, where to search for the minimum, distances below it
    "quartic": (QUARTIC, 1.0, np.linspace(0.2, 0.001, 40)),
    "sine": ("2*sin(x)", -1.5, NEAR),
    "fifth": ("x**2/2+x**5/120-x**6/720", 0.1, NEAR),  # f3 = f4 = 0, f5 = 1, f6 = -1
    "cosh": ("(exp(x)+exp(-x))/2", 0.3, NEAR),
    "cosine": ("-2*cos(x)", 0.1, NEAR),  # its orbit is +-a with a = eta sin a
    "steep": ("x**2+x**4", 0.1, NEAR),  # subcritical: 3 f3^2 - f2 f4 = -48
}


@dataclass(frozen=True)
class Settings(Spec, tag="studies.period-two"):
    """Excesses of the learning rate, and how many random compositions."""

    kappas: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03)
    pairs: int = 10_000
    seed: int = 0


study = Study(
    "period-two",
    title="Past the edge of stability descent settles on an orbit of period 2",
    sources=(chen2025("Thm. 3.1, Lemma 3.2, Props. 1, 2, Fig. B.1"),),
    settings=Settings,
    scales={"smoke": {"kappas": (0.001, 0.01), "pairs": 500}, "laptop": {},
            "paper": {"kappas": (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), "pairs": 100_000}},
    notes=(
        "The condition 3 f3^2 - f2 f4 > 0 says that the flip bifurcation at 2 / f2 is "
        "supercritical. So the orbit also attracts, and f3 != 0 is not needed.",
        "Proposition 2 is false as printed; its claim and that of the corrected rule are both "
        "judged. The corollary for log has a wrong sign in g''' but a right conclusion.",
        "Fig. B.1 does not give its starts; ours are 0.1 below the minimum.",
    ),
)  # fmt: skip


def loss_of(g: str, at: float) -> str:
    """Text of (g - y)^2, with y the value of g at the given point.

    Example:
        >>> loss_of("x**2", 1.0)
        '(x**2-(1.0))**2'
    """
    return f"({g}-({derivatives(parse(g), at, 0)[0]!r}))**2"


class PastLimit(NamedTuple):
    """A loss at some excesses kappa of the learning rate over its limit."""

    simulated: np.ndarray  # half-amplitudes; not a number where descent has no period 2
    law: np.ndarray  # half-amplitudes by the law near onset
    length: float  # the law's half-amplitude at twice the limit
    multiplier: float  # at the first excess, on the side of the limit where the orbit is
    condition: bool  # whether g satisfies Proposition 1, or the loss itself Theorem 3.1


@study.compute(each=lambda s: (*FITTED, *LINE, *ALONE), reads=("kappas",), seconds=lambda s: 8)
def fits(s: Settings, name: str) -> PastLimit:
    """(g - y)^2 for every named g and for a line, and two losses that are no fits."""
    g, at = (FITTED | LINE).get(name) or LOSSES[name][:2]
    edge = flip(g if name in ALONE else loss_of(g, at), at)
    rates = [edge.stability_limit * (1 + kappa) for kappa in (*s.kappas, FAR)]
    side = -1 if edge.kind == "subcritical" else 1
    multiplier = edge.multiplier(edge.stability_limit * (1 + side * s.kappas[0]))
    return PastLimit(
        np.array([_simulated_half(edge, rate) for rate in rates]),
        np.array([edge.half_amplitude(rate) or math.nan for rate in rates]),
        edge.length, math.inf if multiplier is None else multiplier,
        edge.kind == "supercritical" if name in ALONE else fit_condition(g, at).holds,
    )  # fmt: skip


def _simulated_half(edge: Flip, rate: float) -> float:
    """Half the distance of the two points that descent settles on; not a number without any."""
    # The orbit's natural size near onset, so that the start is always inside its basin.
    size = edge.length * math.sqrt(rate / edge.stability_limit - 1)
    seen = observe(edge.f, rate, edge.minimum - 0.2 * size)
    return (seen.points[1] - seen.points[0]) / 2 if seen.period == 2 else math.nan


@study.compute(each=lambda s: LOSSES, reads=(), seconds=lambda s: 2)
def brackets(s: Settings, name: str) -> dict[str, np.ndarray]:
    """Theorem 3.1 by point below a minimum: rate, bound, whether it holds there."""
    text, near, distances = LOSSES[name]
    edge = flip(text, near)
    points = (edge.minimum - distances).tolist()
    found = [edge.rate_for(x) for x in points]
    kept = [_kept(edge, x) for x in points]  # the side that the theorem names, where f3 > 0
    return {
        "points": np.array(points), "kept": np.array(kept),
        "rates": np.array([r.learning_rate if r else math.nan for r in found]),
        "bounds": np.array([r.bound or math.nan if r else math.nan for r in found]),
    }  # fmt: skip


def _kept(edge: Flip, x: float) -> bool:
    """Whether a point returns after two steps at a rate inside the printed bracket."""
    rate = edge.rate_for(x)
    if rate is None or rate.bound is None:
        return False
    back = abs(float(steps(edge.f, x, rate.learning_rate, 2)) - x) < 1e-9
    return back and edge.stability_limit < rate.learning_rate < rate.bound


@study.compute(each=lambda s: ("quartic", "sine", "cosine"), reads=(), seconds=lambda s: 0.6)
def two_functions(s: Settings, name: str) -> dict[str, np.ndarray]:
    """Fig. B.1: a descent at rate 1.01, just past the limit 1, and the points of its end.

    Points are seen, predicted, and seen at rate 0.99, before the limit. The cosine is not in the
    figure: its points are known without `flip`.
    """
    edge = flip(*LOSSES[name][:2])
    path, orbit = [edge.minimum - 0.1], edge.orbit(1.01)
    half = float(brentq(lambda a: a - 1.01 * math.sin(a), 0.1, 1.0))
    predicted = (-half, half) if name == "cosine" else orbit and orbit.points
    seen, before = (observe(edge.f, rate, path[0]).points for rate in (1.01, 0.99))
    for _ in range(250):
        path.append(float(steps(edge.f, path[-1], 1.01, 1)))
    found = {"path": path, "seen": seen, "before": before, "predicted": predicted}
    return {key: np.array(values or ()) for key, values in found.items()}


@study.compute(reads=(), seconds=lambda s: 0.6)
def distances(s: Settings) -> dict[str, np.ndarray]:
    """Of the two points of the quartic's orbit, simulated and without simulation, by excess."""
    edge, kappas = flip(QUARTIC, 1.0), np.linspace(1e-3, 0.2, 25)
    seen = [observe(edge.f, 1 + k, 0.9).points for k in kappas]
    exact = [orbit.points for k in kappas if (orbit := edge.orbit(1 + k))]
    return {"kappas": kappas, "seen": np.ptp(seen, axis=1), "exact": np.ptp(exact, axis=1)}


class Compositions(NamedTuple):
    """Random pairs of functions, given by their derivatives; arrays by pair."""

    printed: np.ndarray  # whether both parts satisfy Proposition 1
    corrected: np.ndarray  # and g' g'' f'' >= 0
    whole: np.ndarray  # whether one after the other satisfies it
    counterexamples: tuple[str, ...]  # what descent does to two compositions past their limits


def _power(x: float, n: int) -> tuple[float, float, float]:
    """The first three derivatives of x^n."""
    return n * x ** (n - 1), n * (n - 1) * x ** (n - 2), n * (n - 1) * (n - 2) * x ** (n - 3)


@study.compute(
    each=lambda s: ("random", "powers"), reads=("pairs", "seed"),
    seconds=lambda s: 1.5 + 3e-5 * s.pairs,
)  # fmt: skip
def compositions(s: Settings, kind: str) -> Compositions:
    """Proposition 2 for random pairs, or for powers, and descents on its counterexamples.

    One power after another is a power, which satisfies Proposition 1 by Corollary 5.
    """
    jets = np.random.default_rng(s.seed).normal(size=(s.pairs, 2, 3))
    if kind == "powers":
        drawn = itertools.product((0.5, 0.8, 1.1, 1.7), (2, 3, 4), (2, 3, 4))
        jets = np.array([(_power(x, n), _power(x**n, m)) for x, n, m in drawn])
    pairs = [compose_jets(inner, outer) for inner, outer in jets]
    flags = [(p.printed, p.corrected, p.whole.holds) for p in pairs]
    printed, corrected, whole = np.array(flags).T
    said = [f"{g} after {f}: {_outcome(f, g, at)}" for f, g, at in COUNTEREXAMPLES]
    return Compositions(printed, corrected, whole, tuple(said))


def _outcome(inner: str, outer: str, at: float) -> str:
    """What descent does to a composed function at three small excesses."""
    # log(exp(x)) is x, and no rounding should hide that
    whole = "x" if inner == "exp(x)" else outer.replace("x", f"({inner})")
    edge = flip(loss_of(whole, at), at)
    rates = [edge.stability_limit * (1 + kappa) for kappa in (0.001, 0.01, 0.05)]
    return ", ".join(observe(edge.f, rate, at - 0.01).verdict for rate in rates)
