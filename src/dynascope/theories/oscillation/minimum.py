"""The minimum that a search from a given point ends at."""

from __future__ import annotations

import math
from collections.abc import Callable

from dynascope.core.errors import bad

MOST_STEPS = 200
FLAT = 1e-9  # a curvature below this share of that close by is none, as for x**4
BESIDE = 1e-3  # how far away close by is, in units of the place


def find_minimum(
    slope: Callable[[float], float], curvature: Callable[[float], float], near: float
) -> float:
    """Damped Newton search for a point without slope; raises unless it is a minimum.

    Args:
        slope: f'.
        curvature: f''.
        near: Where to start.

    Returns:
        The minimum. Ending where f'' <= 0 is bad input, and the message names the point.

    Example:
        >>> find_minimum(lambda x: x**3 - x, lambda x: 3 * x**2 - 1, 0.8)
        1.0
    """
    if not math.isfinite(near) or not math.isfinite(slope(near)):
        raise bad("near", near, "a point where the function has a finite slope")
    x, settled = _search(slope, curvature, float(near))
    if not settled:
        hint = f"the search came to x = {x:.6g}, where the slope is {slope(x):.3g}"
        raise bad("near", near, "a point near a minimum", hint)
    bend = curvature(x)
    aside = [curvature(x + side * BESIDE * max(1.0, abs(x))) for side in (-1, 1)]
    if not bend > FLAT * max((abs(c) for c in aside if math.isfinite(c)), default=0.0):
        hint = f"the search ended at x = {x:.6g}, where f'' = {bend:.6g}"
        raise bad("near", near, "a point near a minimum, where f'' > 0", hint)
    return x


def _search(slope: Callable, curvature: Callable, x: float) -> tuple[float, bool]:
    """Newton steps on the slope, halved until its size falls; whether the search settled."""
    here = slope(x)
    for _ in range(MOST_STEPS):
        bend = curvature(x)
        if here == 0:
            return x, True
        if bend == 0 or not math.isfinite(bend):
            return x, False
        step, there = here / bend, math.inf
        while not abs(there) < abs(here):
            there = slope(x - step)
            if abs(step) <= 2e-16 * max(1.0, abs(x)):
                # No smaller slope can be written: settled if a full Newton step is tiny too.
                return x, abs(here / bend) <= 1e-9 * max(1.0, abs(x))
            if not abs(there) < abs(here):
                step /= 2
        x, here = x - step, there
    return x, False
