"""The lattice at three epochs, violations over time, and the two cases that decide."""

from dataclasses import replace

import numpy as np

from dynascope.core.charts import Chart, Graph, Line, Mark, Panel, Span
from dynascope.core.run import Run
from dynascope.probes.lattice import corners, lattice_edges, lattice_layout
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import loss_panel
from dynascope.studies.swing_by.topological_order import claims, runs
from dynascope.studies.swing_by.topological_order.runs import RECORDS, Settings, order, study


@study.chart(claims.relu, headline=True)
def headline(s: Settings, relu: Run) -> Chart:
    """Share of pairs in the wrong order, averaged over seeds."""
    return headline_chart(
        "Pairs of concept combinations learned in the wrong order, two-layer ReLU",
        ("epochs of training", relu["step"].values / s.epoch),
        ("share of 65 pairs", order(relu).rate.mean(axis=0)),
        note=f"average of {s.seeds} seeds; one layer from zero has none, at any time",
    )


@study.chart(claims.relu)
def lattice(s: Settings, relu: Run) -> Chart:
    """Fig. 7: the lattice at three epochs, coloured by min(loss, 1)."""
    losses, broken = relu["lattice_loss"].values[0], order(relu).count[0]
    names = tuple("".join(map(str, c)) for c in corners(4))
    edges = tuple((int(a), int(b)) for a, b in lattice_edges(4))
    (x, y), panels = lattice_layout(4).T, []
    for epoch in claims.SHOWN_EPOCHS:
        values = np.minimum(losses[RECORDS * epoch], 1.0)
        graph = Graph(x, y, values, names, edges, "min(loss, 1)")
        title = f"Epoch {epoch + 1}: {broken[RECORDS * epoch]} of 65 pairs out of order"
        panels.append(Panel((graph,), title, "number of concepts"))
    return Chart(
        "lattice", "Combinations of concepts, from none to all four",
        "Each node is a combination, named by the concepts it has, joined to those with one "
        "concept more; two-layer ReLU network, seed 0. Learning spreads from the left, from "
        "strong concepts (the last digits) first; a few pairs are out of order.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.networks)
def violations(s: Settings, networks: dict[str, Run]) -> Chart:
    """Share of pairs out of order and worst gap over time, all kinds of networks."""
    zero = Line((0.0, float(s.epochs)), (0.0, 0.0), "one layer from zero", "theory")

    def panel(measure: str, title: str, label: str) -> Panel:
        marks: list[Mark] = []
        for group, (name, run) in enumerate(networks.items()):
            x, y = run["step"].values / s.epoch, getattr(order(run), measure)
            low, high = y.min(axis=0), y.max(axis=0)
            marks.append(Line(x, y.mean(axis=0), name, "measured", group, low, high))
        return Panel((*marks, zero), title, "epochs of training", label)

    return Chart(
        "violations", "In order at first, out of order later",
        "Average and range over seeds. Every network starts in order and breaks it within a "
        "few epochs; the gaps stay small beside the first loss of about 15. One layer from "
        "zero never breaks it.",
        (panel("rate", "Pairs out of order", "share"),
         panel("gap", "Worst gap", "loss of part - of whole")),
    )  # fmt: skip


@study.chart(claims.swinging, runs.pair_theory, runs.from_zero)
def swing_by_and_zero(s: Settings, swinging: Run, theory: np.ndarray, from_zero: Run) -> Chart:
    """The pair that swings by breaks the order; one layer from zero keeps it."""
    times = 2 * swinging["time"].values
    pair = {"weak alone": 2, "strong alone": 1, "both": 3}
    marks = _losses(swinging, theory, times, np.flatnonzero(times <= 15)[::3], pair, "theory")
    worse = times[claims.weak_worse(swinging)]
    span = Span(float(worse[0]), float(worse[-1]), "weak alone is worse")
    times = from_zero["time"].values
    some = {bits: int(bits, 2) for bits in ("0001", "0010", "0100", "1000", "1111")}
    exact = runs.losses_from_zero(s.task, times)
    zero = _losses(from_zero, exact, times, np.flatnonzero(times <= 2), some, "closed form")
    return Chart(
        "swing-by-and-zero", "Swing-by breaks the order, a start at zero keeps it",
        "Left, in paper time: once both together have been learned for a moment, the weak "
        "concept alone is still unlearned and stays worse. Right: from zero, the loss of a "
        "combination is the sum of those of its parts, so that the order is kept.",
        (replace(loss_panel((*marks, span), "Swing-by"), x_label="paper time"),
         loss_panel(zero, "One layer from zero", "loss", "log")),
    )  # fmt: skip


def _losses(
    run: Run, theory: np.ndarray, times: np.ndarray, at: np.ndarray, corner: dict[str, int],
    name: str,
) -> list[Mark]:  # fmt: skip
    """Losses at some corners with the theory over them, which is named once, at the last."""
    losses = run["lattice_loss"].values[0]
    marks: list[Mark] = []
    for group, (label, n) in enumerate(corner.items()):
        marks.append(Line(times[at], losses[at, n], label, "measured", group))
        known = name if group + 1 == len(corner) else ""
        marks.append(Line(times[at], theory[at, n], known, "theory", group))
    return marks
