"""Fig. 3.5: descents, ratios, and the sharpness of copies."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.oscillation.drawing import curves, levels
from dynascope.studies.oscillation.neuron_balance import runs
from dynascope.studies.oscillation.neuron_balance.claims import CLOSED, large
from dynascope.studies.oscillation.neuron_balance.runs import (
    DROP,
    LARGE,
    NEURONS,
    SCAN,
    SMALL,
    study,
)
from dynascope.theories.oscillation.neuron_balance import copy_sharpness

Descents = dict[str, runs.Descent]


@study.chart(large, headline=True)
def headline(s: runs.Settings, large: runs.Descent) -> Chart:
    """Sharpness at the large rate, beside the least that a copy can have."""
    return headline_chart(
        "Sharpness at learning rate 2.6, lowered to 0.5 at step 100", ("step", large.steps),
        ("sharpness", large.sharpness[0]),
        ("flattest copy", np.full(len(large.steps), CLOSED.sharpness)),
        note="the flattest copy is that of the population",
    )  # fmt: skip


@study.chart(runs.descents)
def descents(s: runs.Settings, found: Descents) -> Chart:
    """Fig. 3.5 (a) and (b)."""
    shown = [(k, r, found[r]) for k, r in enumerate((SMALL, LARGE))]
    losses = [Line(d.steps, d.losses[0], f"rate {r}", group=k) for k, r, d in shown]
    sharpness = [Line(d.steps, d.sharpness[0], f"rate {r}", group=k) for k, r, d in shown]
    edge, drop = Reference("y", 2 / 2.6, "2 / 2.6"), Reference("x", DROP, "2.6 to 0.5")
    return Chart(
        "descents", "The large rate leaves the sharp start and settles in a flat valley",
        "At 2.6 the loss stays high while the neurons oscillate; once the rate is lowered it "
        "falls, at a sharpness that 0.5 alone never reaches. One phase of the orbit is drawn.",
        (Panel((*losses, drop), "loss", "step", "loss", "linear", "log"),
         Panel((*sharpness, edge, drop), "sharpness", "step", "sharpness")),
    )  # fmt: skip


@study.chart(runs.descents)
def ratios(s: runs.Settings, found: Descents) -> Chart:
    """Fig. 3.5 (c) and (d)."""
    panels = []
    for rate, seen in found.items():
        lines = curves(((seen.steps, own) for own in seen.ratios[0].T), "one neuron each", group=0)
        marks = (*lines, *levels([CLOSED.ratio], runs.END, "flattest copy"))
        panels.append(Panel(marks, f"learning rate {rate}", "step", "|w_i| / v_i", "linear", "log"))
    return Chart(
        "ratios", "Only past the edge do all neurons come to one ratio",
        "Dashed: the flattest copy of the population, 1.2023.", tuple(panels),
    )  # fmt: skip


@study.chart(runs.copies[NEURONS])
def copies(s: runs.Settings, copies: np.ndarray) -> Chart:
    """Fig. 3.5 (e) and (f)."""
    marks = (
        Line(SCAN, copies.mean(axis=0), f"on {s.points:,} points"),
        Line(SCAN, copy_sharpness(SCAN, NEURONS), "population", "theory"),
        Reference("x", CLOSED.ratio, f"flattest: {CLOSED.ratio:.4f}"),
    )
    return Chart(
        "copies", "Sharpness of a copy, by the ratio of its neurons",
        f"The least, {CLOSED.sharpness:.4f}, sets the edge at the rate "
        f"{CLOSED.stability_limit:.3f}.",
        (Panel(marks, "", "|w_i| / v_i of all neurons", "sharpness"),),
    )  # fmt: skip
