"""The quadratic model in two numbers: its phase diagram and one descent of it, drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dynascope.core.charts import Heat, Line, Panel, Reference
from dynascope.theories.catapult.phases import REGIMES, PhaseDiagram, phase_diagram
from dynascope.theories.catapult.quadratic_map import QuadraticMap, Trajectory

RATES, WIDTHS = np.linspace(0.5, 5.0, 64), np.geomspace(10, 1e6, 48)
DRAWN = (1e-14, 1e6)  # losses beyond these are left out


@lru_cache(maxsize=64)
def phases_of(label: float, output: float, steps: int) -> PhaseDiagram:
    """What descents do over the learning rate and the width.

    Example:
        >>> found = phases_of(label=0.0, output=0.3, steps=200)
        >>> [REGIMES[found.regime[-1, i]] for i in (0, 40, 63)]  # rates 0.5, 3.4 and 5
        ['monotone', 'catapult', 'diverges']
    """
    base = QuadraticMap(1.0, 1.0, label=label, output=output)
    return phase_diagram(base, {"learning_rate": RATES, "width": WIDTHS}, steps)


def diagram_panel(phases: PhaseDiagram, model: QuadraticMap) -> Panel:
    """The phases, the boundaries that theory has for a model, and the place of the model."""
    marks = (
        Heat(phases.x, phases.y, phases.regime, "phase", categories=tuple(REGIMES)),
        Reference("x", model.critical_rate, "2 / kernel"),
        Reference("x", model.largest_rate, "4 / kernel"),
        Reference("x", model.learning_rate),
        Reference("y", model.width, "here"),
    )
    return Panel(marks, "what descent does", "learning rate", "width", y_scale="log")


def descent_panels(path: Trajectory) -> tuple[Panel, Panel]:
    """Loss and kernel by step, until it diverges."""
    until = len(path.loss) if path.diverged < 0 else max(int(path.diverged), 2)
    steps, loss = np.arange(until), path.loss[:until]
    loss = np.where((loss > DRAWN[0]) & (loss < DRAWN[1]), loss, np.nan)
    lines = Line(steps, loss, "loss", group=0), Line(steps, path.kernel[:until], "kernel", group=1)
    return (
        Panel((lines[0],), "loss", "step", "loss", y_scale="log"),
        Panel((lines[1],), "tangent kernel", "step", "kernel"),
    )
