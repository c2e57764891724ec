"""Fig. B.2, how far from tight the theorem is, and where the neuron ends."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference, Scale
from dynascope.studies.headlines import headline_chart
from dynascope.studies.oscillation.drawing import above_rounding, orbit_lines
from dynascope.studies.oscillation.single_neuron import runs
from dynascope.studies.oscillation.single_neuron.claims import proof, trace
from dynascope.studies.oscillation.single_neuron.runs import FIGURE, Settings, study
from dynascope.studies.oscillation.single_neuron.stages import Facts, stages
from dynascope.theories.oscillation.neuron import Neuron, deviation_bound


@study.chart(trace, headline=True)
def headline(s: Settings, trace: Neuron) -> Chart:
    """The part across the teacher, and the theorem's bound on it."""
    steps = np.arange(31)
    bound = deviation_bound(steps, FIGURE, runs.START[0])
    return headline_chart(
        f"Part of w across the teacher, K = {FIGURE:g}", ("step", steps),
        ("w_y", trace.across[:31]),
        ("bound of Thm. 3.5", np.where(np.isfinite(bound), bound, np.nan)),
        note="the bound of Theorem 3.5 begins at step 8 and is far from tight",
    )  # fmt: skip


@study.chart(trace, runs.sampled)
def figure_b2(s: Settings, exact: Neuron, sampled: Neuron) -> Chart:
    """Fig. B.2: the numbers of a neuron by step, on points over the population."""
    seen = Neuron(*(n[0] for n in sampled))
    views: tuple[tuple[str, np.ndarray, np.ndarray, Scale], ...] = (
        ("output weight v", exact.output, seen.output, "linear"),
        ("along the teacher, w_x", exact.along, seen.along, "linear"),
        ("imbalance |v - w_x|", np.abs(exact.imbalance), np.abs(seen.imbalance), "log"),
        ("across the teacher, w_y", exact.across, np.abs(seen.across), "log"),
    )
    panels = []
    for title, smooth, drawn, scale in views:
        steps = np.arange(len(drawn) if scale == "log" else 41)
        marks = (
            Line(steps, drawn[steps], f"{s.points:,} points", group=0),
            Line(steps, above_rounding(smooth[steps]), "population", "theory", 0),
        )
        panels.append(Panel(marks, title, "step", "", "linear", scale))
    return Chart(
        "figure-b2", "The neuron turns first, then its layers balance",
        "In the population w_y dies by |1 - K| = 0.1 and the imbalance by 3 - 2K = 0.8 every "
        "two steps; on points both stop at a residual.", tuple(panels),
    )  # fmt: skip


@study.chart(proof, stages["slow"])
def bound(s: Settings, proof: Facts, slow: Facts) -> Chart:
    """How far from tight the theorem is."""
    kept = np.arange(min(s.steps, 120) + 1)
    marks = (
        Line(kept, above_rounding(proof.worst[kept]), "worst of the theorem's grid"),
        Line(kept, above_rounding(slow.worst[kept]), f"K = {runs.SLOW:g}", "control"),
        Reference("y", 1.0, "the bound"),
    )
    return Chart(
        "bound", "The part across the teacher over the bound of Theorem 3.5",
        "Inside the theorem's range it never comes near the bound; far below the edge of "
        "stability it breaks it.",
        (Panel(marks, "", "step", "w_y / bound", "linear", "log"),),
    )  # fmt: skip


@study.chart(runs.ends)
def orbits(s: Settings, ends: dict[float, Neuron]) -> Chart:
    """Where v ends, over K."""
    y = np.concatenate([n.output[-8:, 0] for n in ends.values()])
    seen = Points(np.repeat(list(ends), 8), y, "v, last 8 steps")
    theorem = Reference("x", 1.1, "Thm. 3.5 ends")
    return Chart(
        "orbits", "The neuron follows the quartic's orbit beyond the theorem",
        f"Period 2 up to K = {runs.BEYOND[-1]:g}; at {runs.DOUBLED:g} it has doubled.",
        (Panel((seen, *orbit_lines(runs.DOUBLED), theorem), "", "K", "v"),),
    )  # fmt: skip
