"""What several studies draw: the bifurcation diagram, the quartic's orbit, a neuron's descent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynascope.core.charts import Heat, Line, Mark, Panel, Reference, Scale
from dynascope.engine.bifurcation import Diagram
from dynascope.theories.neuron import Neuron
from dynascope.theories.one_dimension import Flip
from dynascope.theories.quartic import orbit_points


def diagram_panel(
    seen: Diagram,
    edge: Flip,
    doublings: Sequence[float],
    marked: Sequence[tuple[float, str]] = (),
    title: str = "",
) -> Panel:
    """Visited values over the learning rate; the predicted orbit dashed where it attracts.

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
    marks += [_still(edge, rates), *_orbit(edge, rates, doublings)]
    names = [f"{2**k} to {2 ** (k + 1)}: {rate:.4f}" for k, rate in enumerate(doublings)]
    for rate, name in [*zip(doublings, names, strict=True), *marked]:
        if rates[0] <= rate <= rates[-1]:
            marks.append(Reference("x", rate, name))
    return Panel(tuple(marks), title, "learning rate", "visited x")


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


def orbit_lines(until: float) -> list[Line]:
    """Both points of the quartic's orbit of period 2 over K, for a minimum at 1."""
    strengths = np.linspace(1.0005, until, 60)
    orbits = np.array([orbit_points(1.0, float(k)) for k in strengths])
    return [
        Line(strengths, orbits[:, j],
             "" if j else "the quartic's orbit", "theory")
        for j in (0, 1)
    ]  # fmt: skip


def trace_panels(population: Neuron, sampled: np.ndarray, label: str) -> tuple[Panel, ...]:
    """Fig. B.2: the numbers of a neuron by step, on points over the population.

    Args:
        population: Of the reduced system, by step.
        sampled: v, w_x and w_y by step, (steps, 3).
        label: What the points are.

    Returns:
        Four panels.
    """
    v, x, y = sampled.T
    views: tuple[tuple[str, np.ndarray, np.ndarray, Scale], ...] = (
        ("output weight v", population.output, v, "linear"),
        ("along the teacher, w_x", population.along, x, "linear"),
        ("imbalance |v - w_x|", np.abs(population.imbalance), np.abs(v - x), "log"),
        ("across the teacher, w_y", population.across, np.abs(y), "log"),
    )
    panels = []
    for title, exact, seen, scale in views:
        shown = slice(None) if scale == "log" else slice(41)
        marks = (
            Line(np.arange(len(seen))[shown], seen[shown], label, group=0),
            Line(np.arange(len(exact))[shown], above_rounding(exact[shown]), "population",
                 "theory", 0),
        )  # fmt: skip
        panels.append(Panel(marks, title, "step", "", "linear", scale))
    return tuple(panels)


def above_rounding(values: np.ndarray) -> np.ndarray:
    """What a logarithmic axis can show: nothing below 1e-16."""
    return np.where(values > 1e-16, values, np.nan)
