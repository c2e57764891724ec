"""Beyond period 2: which orbit of period 2, 4, 8, ... attracts, and where periods double.

Nothing here waits for a simulation to settle: each orbit is a root of "n steps lead back",
looked for beside the orbit of half its period from which it was born.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from dynascope.numerics.iteration import doubling, steps
from dynascope.theories.oscillation.one_dimension import Flip, Orbit, check_rate

MOST_BIRTHS = 6  # orbits in turn that are looked for: 5 doublings lead from period 2 to 64
FEIGENBAUM = 4.669201609102990  # limit of the ratios of successive distances of doublings


@dataclass(frozen=True)
class Prediction:
    """What theory says of gradient descent near a minimum, in the words of the verdicts."""

    verdict: str
    orbit: Orbit | None  # the orbit that attracts; None if none was found


def predict(edge: Flip, learning_rate: float) -> Prediction:
    """What happens near the minimum at a learning rate: converges, period-N, ..., undecided.

    Args:
        edge: From `flip`.
        learning_rate: The learning rate.

    Returns:
        The verdict and the orbit that attracts. Beyond the limit of a subcritical minimum, or
        where no orbit of period up to 64 is stable, nearby theory decides nothing.

    Example:
        >>> from dynascope.theories.oscillation.one_dimension import flip
        >>> [predict(flip("(x**2-1)**2/4", 1.0), r).verdict for r in (0.9, 1.05, 1.237, 1.31)]
        ['converges', 'period-2', 'period-4', 'undecided']
    """
    rate = check_rate(learning_rate)
    still = Orbit(rate, (edge.minimum,), 1 - rate * edge.derivatives[2])
    at_limit = still.multiplier == -1 and edge.kind == "supercritical"
    if rate < edge.stability_limit or at_limit:
        return Prediction("converges", still)
    if edge.kind == "no orbit":
        return Prediction("diverges", None)
    orbit = edge.orbit(rate)
    for _ in range(MOST_BIRTHS):
        if orbit and not orbit.stable:
            orbit = _next(edge, orbit)
    if orbit is None or not orbit.stable:
        return Prediction("undecided", None)
    return Prediction(f"period-{orbit.period}", orbit)


def _next(edge: Flip, orbit: Orbit) -> Orbit | None:
    """The orbit that was born when this one lost its stability; None if there is none.

    At a multiplier of -1 that has twice the period; at 1 it has the same one, beside an orbit
    of a function with a mirror symmetry.
    """
    n = orbit.period if orbit.multiplier >= 1 else 2 * orbit.period
    x, rate = orbit.points[-1], orbit.learning_rate
    # Close to the old orbit n steps lead away from it; the new one is where they first lead back.
    away = x + edge.length * np.geomspace(1e-5, 1, 2000)
    beyond = steps(edge.f, away, rate, n) - away
    turns = np.flatnonzero((beyond[:-1] > 0) & (beyond[1:] <= 0))
    if not len(turns):
        return None
    low, high = away[turns[0]], away[turns[0] + 1]
    try:
        first = brentq(lambda y: float(steps(edge.f, y, rate, n)) - y, low, high, xtol=1e-15)
    except ValueError:  # between the two, some points escape: no orbit that attracts is there
        return None
    points = tuple(sorted(float(steps(edge.f, first, rate, k)) for k in range(n)))
    return Orbit(rate, points, edge.round_multiplier(rate, points))


def period_doublings(edge: Flip, count: int) -> tuple[float, ...]:
    """Learning rates at which the attracting orbit doubles its period: 1 to 2, 2 to 4, ...

    Args:
        edge: From `flip`; its limit must be supercritical.
        count: How many are wanted.

    Returns:
        The rates, ascending; fewer if the cascade cannot be followed so far.

    Example:
        >>> from dynascope.theories.oscillation.one_dimension import flip
        >>> rates = period_doublings(flip("(x**2-1)**2/4", 1.0), 3)
        >>> [round(r, 6) for r in rates]
        [1.0, 1.236068, 1.288032]
    """
    found = [edge.stability_limit]
    if edge.kind != "supercritical":
        return tuple(found[:0])
    first = _first_doubling(edge)
    if first is not None:
        found.append(first)
    while 1 < len(found) < count:
        n = 2 ** len(found)
        gap = (found[-1] - found[-2]) / FEIGENBAUM
        # Just below the next doubling the orbit still attracts, and fast enough to be waited for.
        start = steps(edge.f, edge.minimum - 0.1 * edge.length, found[-1] + 0.9 * gap, 1024 * n)
        _, rate = doubling(edge.f, float(start), found[-1] + 0.98 * gap, n)
        if not found[-1] < rate < found[-1] + 2 * gap:
            break
        found.append(rate)
    return tuple(found[:count])


def _first_doubling(edge: Flip) -> float | None:
    """Where the multiplier of the orbit of period 2 passes -1 along its curve."""
    before = None
    for orbit in edge.branch(100 * edge.stability_limit):
        if orbit.multiplier < -1:
            if before is None:
                return None
            guess = brentq(
                lambda rate: (edge.multiplier(rate) or 0.0) + 1,
                before.learning_rate, orbit.learning_rate, xtol=1e-9,
            )  # fmt: skip
            found = edge.orbit(guess)
            return doubling(edge.f, found.points[0], guess, 2)[1] if found else None
        before = orbit
    return None
