"""A function's bifurcation diagram in a box of it, coarse enough to be computed while one waits."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from dynascope.core.charts import Panel, Reference
from dynascope.core.errors import bad
from dynascope.instruments.orbits.bifurcation import Diagram, bifurcation, visited_values
from dynascope.instruments.orbits.drawing import diagram_panel
from dynascope.runtime.progress import Progress
from dynascope.theories.oscillation.doubling import period_doublings
from dynascope.theories.oscillation.one_dimension import Flip, flip

BELOW = 0.1  # the first iterate is this far below the minimum
COLUMNS, PER_COLUMN, STEPS = 200, 8, 800
Ends = tuple[float, ...]  # two of them, or none for the whole


@lru_cache(maxsize=32)
def edge_of(function: str, near: float) -> tuple[Flip, tuple[float, ...]]:
    """The edge of stability at the minimum near a place, and rates at which the period doubles.

    Example:
        >>> edge, doublings = edge_of("(x**2-1)**2/4", 1.0)
        >>> edge.minimum, [round(rate, 3) for rate in doublings[:2]]
        (1.0, [1.0, 1.236])
    """
    with Progress("edge of stability", 2, enabled=False) as bar:
        edge = flip(function, near)
        bar.update(1)
        return edge, tuple(period_doublings(edge, 4))


@lru_cache(maxsize=8)
def diagram_in(
    edge: Flip, doublings: tuple[float, ...], rates: Ends, visited: Ends
) -> tuple[Diagram, Panel]:
    """The diagram of a box, counted and drawn.

    Args:
        edge: Of the function.
        doublings: Predicted, to be marked.
        rates: First and last learning rate.
        visited: Lowest and highest value.

    Example:
        >>> seen, panel = diagram_in(*edge_of("(x**2-1)**2/4", 1.0), (0.5, 0.9), ())
        >>> counted = seen.values[seen.counts.sum(axis=0).argmax()]
        >>> bool(abs(counted - 1) < 0.01)  # below the edge descents stay at the minimum
        True
    """
    start, limit = edge.minimum - BELOW, edge.stability_limit
    low, high = rates or (0.9 * limit, 1.6 * limit)
    if low <= 0:
        raise bad("rates", rates, "learning rates above 0")
    values = visited or visited_values(edge.f, (low, high), start)
    if values is None:
        raise bad("rates", (low, high), "rates at which not every descent escapes")
    seen = bifurcation(
        edge.f, (low, high), start, (values[0], values[1]), columns=COLUMNS, bins=140,
        per_column=PER_COLUMN, steps=STEPS, counted=100, progress=False,
    )  # fmt: skip
    return seen, diagram_panel(seen, edge, doublings)


def marked(panel: Panel, seen: Diagram, rate: float) -> Panel:
    """The diagram with a learning rate in it, where it is inside."""
    inside = seen.learning_rates[0] <= rate <= seen.learning_rates[-1]
    line = (Reference("x", rate, f"rate {rate:.4g}"),) if inside else ()
    return replace(panel, marks=(*panel.marks, *line))
