"""Figs. 3.6 to 3.8 for every network that was trained, and how often the condition holds."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Panel, Reference
from dynascope.core.records import Measured
from dynascope.probes.edge import Edge
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together
from dynascope.studies.oscillation.mnist_edge.claims import Traces, positive
from dynascope.studies.oscillation.mnist_edge.runs import NAMES, Settings, Trace, study, traces

Found = dict[str, Traces]  # by data
found = together(**traces)


def shown_seed(seen: Trace) -> int:
    """The seed with most settled steps past the edge; of several the one closest to it."""
    past = seen.settled((seen.ratio > 1).astype(float))
    far = np.abs(seen.settled(seen.ratio) - 1)
    return int(np.lexsort((far, -past))[0])  # NaN sorts last


def balance_of_terms(edge: Edge) -> np.ndarray:
    """The condition's sign and weight: 3 f3^2 - f2 f4 over 3 f3^2 + |f2 f4|, from -1 to 1."""
    product = edge.second * edge.fourth
    total = 3 * edge.third**2 + np.abs(product)
    return edge.criticality / np.where(total > 0, total, np.nan)  # a dead network has no valley


@study.chart(found, headline=True)
def headline(s: Settings, found: Found) -> Chart:
    """Sharpness of three layers, the seed that is longest past the edge."""
    data = "mnist" if "mnist" in found else "blobs"
    seen = found[data]["3 layers"]
    return headline_chart(
        f"Sharpness of three layers at rate 0.5, {NAMES[data]}", ("step", seen.steps),
        ("sharpness", seen.edge.sharpness[shown_seed(seen)]),
        ("2 / rate", np.full(len(seen.steps), 2 / seen.rate)),
        note="past the edge of stability is above 2 / rate",
    )  # fmt: skip


def layers_chart(data: str, depth: str, large: Trace, small: Trace | None) -> Chart:
    """Figs. 3.6 to 3.8: loss, sharpness, alignment and condition of one seed."""
    seed = shown_seed(large)
    named = [(k, f"rate {t.rate:g}", t) for k, t in enumerate((large, small)) if t]
    losses = [Line(t.steps, t.losses[seed], name, group=k) for k, name, t in named]
    sharpness = [Line(t.steps, t.edge.sharpness[seed], name, group=k) for k, name, t in named]
    edge = Reference("y", 2 / large.rate, f"2 / {large.rate:g}")
    past = np.where(large.ratio[seed] > 1, 1.0, np.nan)

    def parts(values: np.ndarray) -> tuple[Line, Line]:
        return (Line(large.steps, values[seed], "before the edge", "control"),
                Line(large.steps, values[seed] * past, "past the edge", group=0))  # fmt: skip

    panels = (
        Panel(tuple(losses), "loss", "step", "loss", "linear", "log"),
        Panel((*sharpness, edge), "sharpness", "step", "sharpness", "linear", "log"),
        Panel(parts(large.edge.alignment),
              f"|cos(gradient, top eigenvector)|, rate {large.rate:g}", "step", ""),
        Panel((*parts(balance_of_terms(large.edge)), Reference("y", 0.0)),
              "condition in the valley, from -1 to 1", "step", "(3f3² - f2f4) / (3f3² + |f2f4|)"),
    )  # fmt: skip
    return Chart(
        f"{data}-{depth.replace(' ', '-')}", f"{depth} on {NAMES[data]}",
        f"Seed {seed}, the longest past the edge. Above 0 the condition of Theorem 3.1 holds at "
        "the lowest place of the step.", panels,
    )  # fmt: skip


@study.chart(found)
def layers(s: Settings, found: Found) -> list[Chart]:
    """One chart for each network that was trained at its rate, and one for the condition."""
    charts: list[Chart] = []
    shares: dict[str, float] = {}
    for data, cases in found.items():
        for depth in (c for c in cases if c.endswith("layers")):
            small = cases["small rate"] if depth == "3 layers" else None
            charts.append(layers_chart(data, depth, cases[depth], small))
            seen = positive(cases, (depth,))
            if isinstance(seen, Measured) and seen.value is not None:  # some seed was past the edge
                shares[f"{data}, {depth.removesuffix(' layers')}"] = seen.value
    bars = Bars(tuple(shares), tuple(shares.values()), "settled steps past the edge")
    return [*charts, Chart(
        "conditions", "How often the one-dimensional condition holds in the valley",
        "Exact derivatives at fixed signs of the ReLU inputs, mean over seeds. What is missing to "
        "1 are steps past the edge that stay bounded although the condition is not met.",
        (Panel((bars, Reference("y", 1.0, "the document")), "", "", "share of steps"),),
    )]  # fmt: skip
