"""Gaps over N, with the printed and the corrected formulas."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.noise_avoidance import runs
from dynascope.studies.recall.noise_avoidance.runs import Settings, Swept, study
from dynascope.theories.recall.attention_gap import second_gap


@study.chart(runs.sweeps, headline=True)
def headline(s: Settings, sweeps: dict[str, Swept]) -> Chart:
    """The second gap without the trigger among the answers."""
    found = sweeps["without the trigger"]
    scale = found.sizes**4
    return headline_chart(
        "Gap between answer and noise, times N^4, the trigger never the answer", ("N", found.sizes),
        ("gap", found.second * scale), ("corrected formula", found.second_corrected * scale),
        note="with the trigger among the answers it is "
        f"{sweeps['trigger too'].second[-1] * scale[-1]:.3f} at N = {found.sizes[-1]:.0f}",
    )  # fmt: skip


@study.chart(runs.sweeps)
def both_samplings(s: Settings, sweeps: dict[str, Swept]) -> Chart:
    """Second gaps with either sampling, and over alpha."""
    marks: list = []
    for group, (name, found) in enumerate(sweeps.items()):
        marks.append(Points(found.sizes, found.second * found.sizes**4, name, group=group))
    for group, name in enumerate(("trigger too", "without the trigger")):
        found = sweeps[name]
        label = "corrected" if group == 0 else ""
        marks.append(
            Line(found.sizes, found.second_corrected * found.sizes**4, label, "theory", group)
        )
    first = sweeps["without the trigger"]
    marks.append(Line(first.sizes, first.second_printed * first.sizes**4, "printed", "control"))
    noises = np.linspace(0.02, 0.98, 60)
    lines = (
        Line(noises, [second_gap(1, a, 1, 1, "printed") for a in noises], "printed", "control"),
        Line(noises, [second_gap(1, a, 1, 1, "corrected", True) for a in noises], "trigger too",
             group=0),
        Line(noises, [second_gap(1, a, 1, 1, "corrected", False) for a in noises],
             "without the trigger", group=1),
    )  # fmt: skip
    zero = Reference("y", 0.0, "")
    return Chart(
        "samplings", "Attention avoids the noise only if the trigger is never the answer",
        "Gap of attention's logits between an answer and the noise, both after the trigger, times "
        f"N^4. Left: exact, alpha = {s.noise}. Right: formulas for b1 = b2, over alpha: with the "
        "trigger among the answers the gap is negative below alpha = 1/2.",
        (Panel((*marks, zero), "Over N", "N", "gap x N^4", "log"),
         Panel((*lines, zero), "Over alpha", "alpha", "gap x N^2 / b")),
    )  # fmt: skip


@study.chart(runs.sweeps)
def first_gap(s: Settings, sweeps: dict[str, Swept]) -> Chart:
    """First gaps: they stand as printed."""
    marks: list = []
    for group, name in enumerate(("trigger too", "without the trigger")):
        found = sweeps[name]
        marks.append(Points(found.sizes, found.first * found.sizes**3, name, group=group))
    found = sweeps["trigger too"]
    marks.append(Line(found.sizes, found.first_formula * found.sizes**3, "printed", "theory"))
    return Chart(
        "after-trigger", "Attention turns to what follows the trigger",
        "Gap of attention's logits between positions after the trigger and others, times N^3; the "
        "printed formula is met up to terms of order 1 / N.",
        (Panel((*marks, Reference("y", 0.0, "")), "", "N", "gap x N^3", "log"),),
    )  # fmt: skip
