"""The bifurcation diagram, Fig. B.5, and the ratios of the doublings."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.instruments.orbits.bifurcation import Diagram
from dynascope.instruments.orbits.drawing import diagram_panel
from dynascope.studies.oscillation.drawing import levels
from dynascope.studies.oscillation.quartic_orbits import runs
from dynascope.studies.oscillation.quartic_orbits.claims import Seen, cascade, ratios
from dynascope.studies.oscillation.quartic_orbits.runs import ACCUMULATION, FIGURE, Settings, study
from dynascope.theories.oscillation.doubling import FEIGENBAUM
from dynascope.theories.oscillation.one_dimension import flip
from dynascope.theories.oscillation.quartic import QUARTIC, SUPERSTABLE, orbit_points


@study.chart(runs.diagram, cascade, headline=True)
def bifurcation_diagram(s: Settings, found: Diagram, doublings: tuple[float, ...]) -> Chart:
    """The diagram with the predicted orbit and thresholds over it, and how far it extends."""
    marked = ((SUPERSTABLE, "Thm. 3.3 ends: 1.1213"), (ACCUMULATION, "chaos: 1.3023"))
    return Chart(
        "bifurcation", "Where descent on (x^2 - 1)^2 / 4 ends",
        f"{s.columns * s.per_column:,} descents of {s.steps:,} steps. Dashed: the "
        "orbit of period 2 in closed form, which attracts up to 1.2361; grey: beyond.",
        (diagram_panel(found, flip(QUARTIC, 1.0), doublings[:3], marked), _extent(found)),
    )  # fmt: skip


def _extent(found: Diagram) -> Panel:
    """The extent of the visited values over the learning rate."""
    visited = (found.values[row > 0] for row in found.counts)
    extent = [np.ptp(values) if values.size else np.nan for values in visited]
    orbit = [np.ptp(orbit_points(1.0, r)) for r in found.learning_rates]
    marks = (
        Line(found.learning_rates, extent, "measured", group=0),
        Line(found.learning_rates, orbit, "theory", "theory", 0),
    )
    return Panel(marks, "Extent of the visited values", "learning rate", "highest less lowest x")


@study.chart(runs.single_rates)
def three_rates(s: Settings, seen: Seen) -> Chart:
    """Fig. B.5."""
    panels = []
    for rate in FIGURE:
        path = Points(np.arange(40.0), seen[rate].last, "iterates, settled")
        orbit = levels(orbit_points(1.0, rate), 39, "orbit of period 2")
        panels.append(Panel((path, *orbit), f"rate {rate:g}", "step, after 20,000", "x"))
    return Chart(
        "three-rates", "Period 2, period 2, period 4",
        "At 1.237 the orbit of period 2 (dashed) has lost its stability to one of period 4.",
        tuple(panels),
    )  # fmt: skip


@study.chart(cascade)
def feigenbaum(s: Settings, doublings: tuple[float, ...]) -> Chart:
    """Ratios of the gaps between doublings."""
    found = ratios(doublings)
    marks = (
        Points(np.arange(2.0, 2 + len(found)), found, "ratio of successive gaps"),
        Reference("y", FEIGENBAUM, "Feigenbaum's constant"),
    )
    return Chart(
        "feigenbaum", "Doublings come closer by one universal ratio",
        "Each doubling is a root of the map's own equations, to rounding.",
        (Panel(marks, "", "doubling", "ratio"),),
    )  # fmt: skip
