"""Panels of the matrix factorisation study."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Heat, Line, Mark, Panel, Points
from dynascope.studies.oscillation.candidates import ByEdges
from dynascope.studies.oscillation.drawing import above_rounding
from dynascope.studies.oscillation.factor_runs import QuasiRun
from dynascope.theories.factorization import neimark_sacker_line
from dynascope.theories.quartic import orbit_points


def escape_panel(
    strengths: np.ndarray, others: np.ndarray, escaped: np.ndarray, title: str, alpha: float | None
) -> Panel:
    """Fig. 3.2: which cells escaped, the line K + b = 2, and (3.9) where alpha is given."""
    ends = np.array([strengths[0], strengths[-1]])
    marks: list[Mark] = [
        Heat(strengths, others, 1.0 - escaped, "bounded (1) or escaped (0)"),
        Line(ends, [neimark_sacker_line(k) for k in ends], "K + b = 2", "theory"),
    ]
    if alpha is not None:
        k = strengths[strengths < 1.2]
        bound = (2 - k / alpha**2) / alpha**2
        marks.append(Line(k, np.clip(bound, others[0], others[-1]), "(3.9)", "control"))
    return Panel(tuple(marks), title, "K = eta sigma_1^2", "b = eta sigma_2^2")


def quasi_panels(runs: dict[float, QuasiRun]) -> tuple[Panel, ...]:
    """Fig. B.3: loss by step, and the top direction's lengths in Y and Z for every alpha."""
    losses: list[Mark] = []
    for k, (alpha, run) in enumerate(runs.items()):
        losses += _two_phases(above_rounding(run.losses), f"alpha = {alpha:g}", k)
    panels = [Panel(tuple(losses), "loss", "step", "loss", "linear", "log")]
    for alpha, run in runs.items():
        marks: list[Mark] = []
        for j, name in enumerate("YZ"):
            marks += _two_phases(run.tops[:, j], f"top direction of {name}", j)
        for j, x in enumerate(orbit_points(1.0, 1.02)):
            marks.append(Line((0, len(run.tops)), (x, x), "" if j else "orbit", "theory"))
        panels.append(Panel(tuple(marks), f"alpha = {alpha:g}", "step", "length / sigma_1"))
    return tuple(panels)


def _two_phases(values: np.ndarray, label: str, group: int) -> list[Line]:
    """Even and odd steps as two curves of one colour: what has period 2 shows as two lines."""
    steps = np.arange(float(len(values)))
    return [
        Line(steps[first::2], values[first::2], "" if first else label, group=group)
        for first in (0, 1)
    ]


def edge_panels(seen: ByEdges) -> tuple[Panel, ...]:
    """Share that escapes and eigenvalues beyond 2 / eta, by number of cross terms."""
    edges = np.arange(float(len(seen.beyond)))
    escapes = (
        Points(edges, seen.asymmetric.mean(axis=1), "Y Z^T: Y and Z apart", group=0),
        Points(edges, seen.symmetric.mean(axis=1), "X X^T", group=1),
    )
    beyond = (Points(edges, seen.beyond.mean(axis=1), "X X^T", group=1),)
    label = "cross terms (edges)"
    return (
        Panel(escapes, "who escapes", label, "share that escapes"),
        Panel(beyond, "eigenvalues beyond 2 / eta at a minimiser", label, "number"),
    )
