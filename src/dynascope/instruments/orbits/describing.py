"""What gradient descent does to a function somebody brings: theory and simulation side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.core.charts import Chart
from dynascope.core.errors import bad
from dynascope.instruments.orbits.bifurcation import bifurcation, visited_values
from dynascope.instruments.orbits.descent import observe
from dynascope.instruments.orbits.drawing import diagram_panel
from dynascope.numerics.derivatives import derivatives
from dynascope.theories.oscillation.doubling import period_doublings, predict
from dynascope.theories.oscillation.one_dimension import Flip, flip

BELOW = 0.1  # the first iterate is this far below the minimum
DIAGRAM = {"columns": 420, "bins": 300, "per_column": 60, "steps": 3000, "counted": 300}


@dataclass(frozen=True)
class Described:
    """A function's edge of stability, and what descents from one start do at some rates."""

    edge: Flip
    start: float
    rows: tuple[dict[str, Any], ...]  # plain data, one row a learning rate


def describe_descents(
    function: str, near: float, learning_rates: Sequence[float] = (), start: float | None = None
) -> Described:
    """The edge of stability at a minimum, and at each rate what was simulated and predicted.

    Args:
        function: A function of x in words, such as "(x**2-1)**2/4".
        near: Where the search for the minimum starts.
        learning_rates: Learning rates to try.
        start: The first iterate; 0.1 below the minimum by default.

    Returns:
        The edge, the start and the rows.

    Example:
        >>> found = describe_descents("(x**2-1)**2/4", 1.0, [1.05])
        >>> round(found.edge.stability_limit, 9), found.rows[0]["verdict"]
        (1.0, 'period-2')
    """
    edge = flip(function, near)
    begin = edge.minimum - BELOW if start is None else start
    if not all(map(math.isfinite, derivatives(edge.f, begin, 1))):
        raise bad("start", begin, "a point where the function and its slope are finite")
    return Described(edge, begin, tuple(_row(edge, rate, begin) for rate in learning_rates))


def _row(edge: Flip, rate: float, start: float) -> dict[str, Any]:
    """What was simulated at a rate, and what theory says."""
    seen, said = observe(edge.f, rate, start), predict(edge, rate)
    period = said.orbit.period if said.orbit else None
    points = list(said.orbit.points) if said.orbit else []
    return {
        "learning_rate": rate,
        "verdict": seen.verdict,
        "period": seen.period,
        "points": list(seen.points),
        "multiplier": seen.multiplier,
        "lyapunov": seen.lyapunov,
        "theory": {"verdict": said.verdict, "period": period, "points": points},
    }


def draw_descents(found: Described) -> Chart:
    """The bifurcation diagram over the described rates; one rate alone is marked in it."""
    edge, rates = found.edge, [row["learning_rate"] for row in found.rows]
    limit = edge.stability_limit
    low, high = (rates[0], rates[-1]) if len(rates) > 1 else (0.9 * limit, 1.6 * limit)
    alone = rates if len(rates) == 1 else []
    low, high = min([low, *(0.95 * r for r in alone)]), max([high, *(1.05 * r for r in alone)])
    values = visited_values(edge.f, (low, high), found.start)
    if values is None:
        raise bad("learning rates", (low, high), "rates at which not every descent escapes")
    seen = bifurcation(edge.f, (low, high), found.start, values, **DIAGRAM)  # type: ignore[arg-type]
    marked = [(rate, f"learning rate {rate:g}") for rate in alone]
    panel = diagram_panel(seen, edge, period_doublings(edge, 4), marked)
    caption = "Where descents are after a long time; dashed: the predicted orbit of period 2."
    return Chart("bifurcation", edge.function, caption, (panel,))
