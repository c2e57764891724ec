"""The bifurcation diagram as a chart, with the orbit that theory predicts drawn over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynascope.core.charts import Heat, Line, Mark, Panel, Reference
from dynascope.instruments.orbits.bifurcation import Diagram
from dynascope.theories.oscillation.one_dimension import Flip


def diagram_panel(
    seen: Diagram,
    edge: Flip,
    doublings: Sequence[float],
    marked: Sequence[tuple[float, str]] = (),
    title: str = "",
) -> Panel:
    """Visited values over the learning rate; the predicted orbit dashed where it attracts.

    What is predicted outside of the diagram is not drawn: it would widen the window.

    Args:
        seen: From `bifurcation`.
        edge: From `flip`: its minimum and its orbit of period 2 are drawn.
        doublings: Learning rates at which the period is predicted to double.
        marked: Other learning rates, with a name each.
        title: Above the panel.

    Returns:
        The panel.
    """
    rates, visits = seen.learning_rates, seen.counts.T
    shade = np.log10(np.where(visits > 0, visits, np.nan))
    marks: list[Mark] = [Heat(rates, seen.values, shade, "log10 of visits")]
    lines = [_still(edge, rates), *_orbit(edge, rates, doublings)]
    marks += _named([part for line in lines if (part := _inside(line, seen))])
    names = [f"{2**k} to {2 ** (k + 1)}: {rate:.4f}" for k, rate in enumerate(doublings)]
    for rate, name in [*zip(doublings, names, strict=True), *marked]:
        if rates[0] <= rate <= rates[-1]:
            marks.append(Reference("x", rate, name))
    return Panel(tuple(marks), title, "learning rate", "visited x")


def _inside(line: Line, seen: Diagram) -> Line | None:
    """The part of a curve that lies in the diagram, if any.

    Example:
        >>> rates, values = np.linspace(0.0, 1.0, 5), np.array([0.0, 2.0])
        >>> seen = Diagram(rates, values, np.zeros((5, 2)), rates, rates)
        >>> _inside(Line((0.5, 1.0), (1.0, 3.0)), seen).y
        (1.0, 2.0, nan)
        >>> _inside(Line((2.0, 3.0), (1.0, 1.0)), seen) is None
        True
    """
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    rates, (low, high) = seen.learning_rates, seen.values[[0, -1]]
    if rates[0] <= x.min() and x.max() <= rates[-1] and low <= y.min() and y.max() <= high:
        return line
    across = rates[(rates >= x[0]) & (rates <= x[-1])]
    along = np.interp(across, x, y)
    along = np.where((along >= low) & (along <= high), along, np.nan)
    if not np.isfinite(along).any():
        return None
    return replace(line, x=tuple(across.tolist()), y=tuple(along.tolist()))


def _named(lines: list[Line]) -> list[Line]:
    """The first prediction has the name of all, whichever is left."""
    first = next((i for i, line in enumerate(lines) if line.role == "theory"), None)
    return [replace(m, label="predicted") if i == first else m for i, m in enumerate(lines)]


def _still(edge: Flip, rates: np.ndarray) -> Line:
    """The minimum, up to the limit of its stability."""
    ends = (rates[0], min(edge.stability_limit, rates[-1]))
    return Line(ends, (edge.minimum, edge.minimum), "predicted", "theory", 0)


def _orbit(edge: Flip, rates: np.ndarray, doublings: Sequence[float]) -> list[Line]:
    """Both points of the orbit of period 2: predicted where stable, grey beyond."""
    if edge.kind != "supercritical":
        return []
    places = [r for r in (*doublings[1:2], rates[-1]) if edge.stability_limit < r <= rates[-1]]
    between = [o for o in (edge.orbit(float(r)) for r in places) if o]
    orbits = sorted([*edge.branch(float(rates[-1])), *between], key=lambda o: o.learning_rate)
    kept = [o for o in orbits if o.learning_rate >= rates[0]]
    stable = [o for o in kept if abs(o.multiplier) < 1 + 1e-9]  # its end has -1 up to rounding
    unstable = [o for o in kept if o not in stable]
    lines = []
    for k in (0, 1):
        if stable:
            x = [edge.stability_limit, *(o.learning_rate for o in stable)]
            y = [edge.minimum, *(o.points[k] for o in stable)]
            lines.append(Line(x, y, "", "theory", 0))
        if unstable:
            joined = [*stable[-1:], *unstable]
            x, y = [o.learning_rate for o in joined], [o.points[k] for o in joined]
            name = "the same, unstable" if k == 0 else ""
            lines.append(Line(x, y, name, "control"))
    return lines
