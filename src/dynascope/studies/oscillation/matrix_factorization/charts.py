"""The map of escapes, top singular values, quasi-symmetric starts, candidate models."""

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Panel, Points, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.oscillation.drawing import above_rounding, curves, levels, orbit_lines
from dynascope.studies.oscillation.matrix_factorization import runs
from dynascope.studies.oscillation.matrix_factorization.claims import Traces
from dynascope.studies.oscillation.matrix_factorization.runs import ALPHAS, TRACES, Settings, study
from dynascope.theories.oscillation.factorization import neimark_sacker_line
from dynascope.theories.oscillation.quartic import DOUBLING, orbit_points


@study.chart(runs.escaped["generic"], headline=True)
def headline(s: Settings, seen: runs.Map) -> Chart:
    """Where escape begins, by strength; a gap where nothing escapes up to b = 1."""
    k, b = runs.axes(s.grid)
    first = np.where(seen.escaped.any(axis=0), b[seen.escaped.argmax(axis=0)], np.nan)
    return headline_chart(
        "Second strength b at which descent from a small start begins to escape",
        ("K, strength of the first direction", k), ("b", first),
        ("theory", [min(1.0, neimark_sacker_line(strength)) for strength in k]),
        note="theory: the line b = 2 - K; between the two motion is bounded; where there is no "
        "point, nothing escapes up to b = 1",
    )  # fmt: skip


@study.chart(runs.escaped)
def escape_map(s: Settings, escaped: dict[str, runs.Map]) -> Chart:
    """Fig. 3.2: which cells escaped, the line K + b = 2, and (3.9) where it is another line."""
    k, b = runs.axes(s.grid)
    alpha, ends, low = ALPHAS["quasi"], (k[0], k[-1]), k[k < 1.2]
    line = Line(ends, [neimark_sacker_line(end) for end in ends], "K + b = 2", "theory")
    bound = (2 - low / alpha**2) / alpha**2
    bound = np.where((b[0] <= bound) & (bound <= b[-1]), bound, np.nan)
    panels = []
    for kind, title, lines in (
        ("generic", "small generic starts", [line]),
        ("quasi", f"quasi-symmetric, alpha = {alpha:g}",
         [line, Line(low, bound, "(3.9)", "control")]),
        ("symmetric", "symmetric, alpha = 1", [line]),
    ):  # fmt: skip
        cells = Heat(k, b, escaped[kind].escaped, categories=("bounded", "escaped"))
        panels.append(Panel((cells, *lines), title, "K = eta sigma_1^2", "b = eta sigma_2^2"))
    return Chart(
        "map", "Where factorised descent escapes",
        "From small starts nothing escapes below the dashed line. Above it, for K up to 1.27, "
        "motion stays bounded: there the orbit is lost to quasi-periodic motion first.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.traces)
def top_singular_values(s: Settings, traces: Traces) -> Chart:
    """Fig. 3.3."""
    y = np.concatenate([traces[k].tops[-10:, 0, 0] / k**0.5 for k in TRACES])
    seen = Points(np.repeat(TRACES, 10), y, "last 10 steps")
    doubling = Reference("x", DOUBLING, "period 4 begins")
    return Chart(
        "top-singular-value", "The largest singular value of Y follows the quartic",
        "In units of its value at the balanced minimum; one seed.",
        (Panel((seen, *orbit_lines(DOUBLING), doubling), "", "K", "s_max(Y) / sigma_1"),),
    )  # fmt: skip


def _two_phases(values: np.ndarray, label: str, group: int) -> list[Line]:
    """Even and odd steps as two curves of one colour: what has period 2 shows as two lines."""
    steps = np.arange(float(len(values)))
    return curves(((steps[first::2], values[first::2]) for first in (0, 1)), label, group=group)


@study.chart(runs.quasi)
def figure_b3(s: Settings, quasi: dict[str, runs.QuasiRun]) -> Chart:
    """Fig. B.3: loss by step, and the top direction's lengths in Y and Z for every alpha."""
    losses: list[Line] = []
    panels = []
    for k, name in enumerate(("alpha = 1", "alpha = 0.8")):
        run, tops = quasi[name], quasi[name].tops[:, 0]
        losses += _two_phases(above_rounding(run.losses[:, 0]), name, k)
        of_y, of_z = (_two_phases(tops[:, j], f"top direction of {'YZ'[j]}", j) for j in (0, 1))
        marks = (*of_y, *of_z, *levels(orbit_points(1.0, 1.02), len(tops), "orbit"))
        panels.append(Panel(marks, name, "step", "length / sigma_1"))
    return Chart(
        "quasi-symmetric", "Flat and sharp starts end on the same orbit",
        "K = 1.02, even and odd steps as two curves. From alpha = 0.8 the top directions of Y "
        "and Z differ at first; they become equal on the orbit (dashed) of alpha = 1.",
        (Panel(tuple(losses), "loss", "step", "loss", "linear", "log"), *panels),
    )  # fmt: skip


@study.chart(runs.edges[1.05])
def candidate_models(s: Settings, seen: runs.ByEdges) -> Chart:
    """The models (3.10) to (3.12), by number of cross terms."""
    edges, label = np.arange(float(len(seen.beyond))), "cross terms (edges)"
    escapes = (
        Points(edges, seen.asymmetric.mean(axis=1), "Y Z^T: Y and Z apart", group=0),
        Points(edges, seen.symmetric.mean(axis=1), "X X^T", group=1),
    )
    beyond = (Points(edges, seen.beyond.mean(axis=1), "X X^T", group=1),)
    return Chart(
        "candidate-models", "What forbids a second direction to oscillate",
        "Target K I with K = 1.05. Cross terms alone do not (X X^T), nor does Y apart from Z "
        "alone (no edge); both together do.",
        (Panel(escapes, "who escapes", label, "share that escapes"),
         Panel(beyond, "eigenvalues beyond 2 / eta at a minimiser", label, "number")),
    )  # fmt: skip
