"""Spectra over time, stable ranks by layer and by the scale of the start."""

from __future__ import annotations

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.rank_increase.ranks import PRODUCTS, Ranks

FLOOR = 1e-2  # of the largest singular value; what is below is drawn as this
SHOWN = 16  # ranks of a heat map


def stable_rank_headline(title: str, ranks: Ranks, note: str) -> Chart:
    """The stable rank of the change of W_K W_Q^T along training."""
    curve = ranks.of_change("kq")[0, :, 1:].mean((0, -1, -2))
    return headline_chart(title, ("step", ranks.steps[1:]), ("stable rank", curve), note=note)


def spectra_chart(name: str, title: str, ranks: Ranks) -> Chart:
    """Heat maps of the change's normalised spectrum over steps, and how it ends."""
    panels = [_heat(ranks, product) for product in PRODUCTS]
    return Chart(
        f"spectra-{name}", title,
        "Left, middle: singular values of the change since the start over the largest, "
        f"mean over seeds, layers and heads; below {FLOOR:g} all are dark. Where more light "
        "up, the rank grows. Right: how they end, beside the products as they were at the start.",
        (*panels, _ends(ranks)),
    )  # fmt: skip


def _over_largest(spectra: np.ndarray) -> np.ndarray:
    """Singular values over the largest, mean over all but the last axis."""
    return (spectra / spectra[..., :1]).mean(tuple(range(spectra.ndim - 1)))


def _heat(ranks: Ranks, product: str) -> Panel:
    spectra = ranks.change[product][0, :, 1:, ..., :SHOWN]  # (seed, time, layer, head, rank)
    shown = np.array([_over_largest(spectra[:, t]) for t in range(spectra.shape[1])])
    heat = Heat(
        ranks.steps[1:], np.arange(1, shown.shape[1] + 1), np.log10(np.clip(shown, FLOOR, 1)).T,
        "log10 of singular value / largest",
    )  # fmt: skip
    return Panel((heat,), f"Change of {PRODUCTS[product]}", "step", "rank")


def _ends(ranks: Ranks) -> Panel:
    marks = []
    for group, (product, title) in enumerate(PRODUCTS.items()):
        end = _over_largest(ranks.change[product][0, :, -1])
        own = _over_largest(ranks.start[product][0])
        marks.append(Line(np.arange(1, len(end) + 1), end, f"change of {title}", group=group))
        marks.append(Line(np.arange(1, len(own) + 1), own, f"start, {title}", "control"))
    return Panel(
        tuple(marks), "At the end", "rank", "singular value / largest", y_scale="log"
    )  # fmt: skip


def layers_chart(name: str, title: str, ranks: Ranks) -> Chart:
    """Stable ranks of the change along training, a line for each layer with its heads' spread."""
    return Chart(
        f"layers-{name}", title,
        "Mean over heads and seeds with their standard deviation; dotted: the product itself at "
        "the start. Adam's first steps have the signs of the gradient and are not of low rank: "
        "look from the minimum on.",
        tuple(_layers(ranks, product) for product in PRODUCTS),
    )  # fmt: skip


def _layers(ranks: Ranks, product: str) -> Panel:
    change = ranks.of_change(product)[0, :, 1:]  # (seed, time, layer, head)
    mean, spread = change.mean((0, 3)), change.std((0, 3))
    marks: list[Mark] = [
        Line(ranks.steps[1:], mean[:, i], f"layer {i + 1}", group=i, low=mean[:, i] - spread[:, i],
             high=mean[:, i] + spread[:, i])
        for i in range(mean.shape[1])
    ]  # fmt: skip
    marks.append(Reference("y", float(ranks.of_start(product)[0].mean()), "at the start"))
    title = f"Change of {PRODUCTS[product]}"
    return Panel(tuple(marks), title, "step", "stable rank")


def scales_chart(name: str, title: str, ranks: Ranks) -> Chart:
    """Stable rank of the change against the step for every scale of the start."""
    steps = np.broadcast_to(ranks.steps[1:], ranks.accuracy[:, 0, 1:].shape)
    return Chart(
        f"scales-{name}", title,
        "Mean over heads, layers and seeds, for factors on the start. Smaller starts also learn "
        "more slowly; the next chart has the accuracy below instead of the step.",
        _by_scale(ranks, steps, "step"),
    )  # fmt: skip


def accuracy_chart(name: str, title: str, ranks: Ranks) -> Chart:
    """The same against the test accuracy."""
    return Chart(
        f"accuracy-{name}", title,
        "Mean over heads, layers and seeds. Read upwards from one accuracy: which start has "
        "changed by the lower rank when it was as good?",
        _by_scale(ranks, ranks.accuracy[:, :, 1:].mean(1), "test accuracy"),
    )  # fmt: skip


def _by_scale(ranks: Ranks, x: np.ndarray, label: str) -> tuple[Panel, ...]:
    """A panel for each product, a line for each scale of the start."""
    panels = []
    for product, words in PRODUCTS.items():
        change = ranks.of_change(product)[:, :, 1:].mean((1, -1, -2))  # (scale, time)
        lines = tuple(
            Line(x[i], change[i], f"start times {scale:g}", group=i)
            for i, scale in enumerate(ranks.scales)
        )
        panels.append(Panel(lines, f"Change of {words}", label, "stable rank"))
    return tuple(panels)
