"""Places (K, x) at which the map is looked at: the orbit, beside it, printed, certain ones."""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import brentq

from dynascope.studies.oscillation.quartic_orbits.runs import Settings, study
from dynascope.theories.oscillation import quartic

RATES, FEW = np.linspace(1.005, 1.995, 100), np.linspace(1.01, 1.5, 30)
INSIDE = np.linspace(1.001, quartic.SUPERSTABLE - 1e-4, 50)  # the printed range of Theorem 3.3


def orbit(rates: np.ndarray, points: slice = slice(None), beside: float = 1.0) -> np.ndarray:
    """Points of the closed form at each rate, the lower one first, or places beside them."""
    return np.array([(k, beside * x) for k in rates for x in quartic.orbit_points(1.0, k)[points]])


def turning(rates: Iterable[float]) -> np.ndarray:
    """Where the map turns, x_s^2 = (1 + 1 / K) / 3, at each rate."""
    return np.array([(k, np.sqrt((1 + 1 / k) / 3)) for k in rates])


def roots_of_printed(rates: np.ndarray) -> np.ndarray:
    """The larger root of (3.4) at each rate; beyond 1.5, where there is none, its last place."""
    last = np.sqrt(4 / 3)
    rule = quartic.printed_rate
    return np.array([
        (k, brentq(lambda x, k=k: rule(x, 1.0) - k, 1.0, last) if k < rule(last, 1.0) else last)
        for k in rates
    ])  # fmt: skip


def returning(rates: np.ndarray) -> np.ndarray:
    """The largest place to which two steps lead back, as a root of the map's own polynomial."""
    found = []
    for k in rates:
        step = np.polynomial.Polynomial([0, 1 + k, 0, -k])
        roots = (step(step) - np.polynomial.Polynomial([0, 1])).roots()
        real = roots[np.abs(roots.imag) < 1e-9].real
        both = (real > 0.1) & (step(real) > 0.1)  # sqrt(1 + 2 / K) changes its sign, to and fro
        found.append((k, real[both & (np.abs(step(real) - real) > 1e-3)].max()))
    return np.array(found)


PLACES = {
    "until 1.5": lambda: orbit(np.linspace(1.01, quartic.PRINTED_RULE_ENDS, 50)),
    "at 1.9": lambda: orbit(np.array([1.9])),
    "planted": lambda: np.array([
        (quartic.printed_rate(x, 1.0), x) for x in np.linspace(0.5, 1.15, 40)
    ]),
    "larger": lambda: orbit(RATES, slice(1, None)),
    "roots": lambda: returning(RATES[60:90]),
    "printed": lambda: roots_of_printed(RATES),
    "lower": lambda: orbit(FEW, slice(1)),
    "beside": lambda: orbit(FEW, slice(1), 1.01),
    "edge and superstable": lambda: np.array([
        (1.0, 1.0), *orbit(np.array([quartic.SUPERSTABLE]))
    ]),
    "turning": lambda: turning(INSIDE),
    "turning, beyond": lambda: turning(np.linspace(1.13, 1.23, 20)),
    "low": lambda: np.array([(k, 0.1) for k in INSIDE]),
}  # fmt: skip


@study.compute(each=lambda s: PLACES, reads=(), seconds=lambda s: 0.1)
def places(s: Settings, name: str) -> np.ndarray:
    """(places, 2) by name, each a rate K and a state x."""
    return PLACES[name]()
