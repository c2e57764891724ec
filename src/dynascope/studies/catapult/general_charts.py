"""Charts of the study `quadratic-general`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.studies.base import chart
from dynascope.studies.catapult.general_pictures import (
    CONVOLUTION,
    DENSE,
    MULTIPLE,
    NAMES,
    NETWORK,
    QUADRATIC,
    Tops,
)
from dynascope.studies.catapult.general_runs import Curves
from dynascope.studies.catapult.general_trends import GAMMAS, MULTIPLES, PRINTED, RATES, USUAL

SHOWN = 60  # steps
SHOWN_RATES = (1.9, 2.4, 2.8, 3.6, 4.1)


def _panels(lanes: list[tuple[str, np.ndarray, np.ndarray]]) -> tuple[Panel, Panel]:
    """Loss and kernel norm over time, a line per name."""
    loss: list[Mark] = []
    norm: list[Mark] = []
    for k, (name, losses, norms) in enumerate(lanes):
        seen = np.isfinite(losses[:SHOWN]) & (losses[:SHOWN] < 1e12) & (losses[:SHOWN] > 1e-9)
        steps = np.arange(len(seen))[seen]
        loss.append(Line(steps, losses[:SHOWN][seen], name, group=k))
        small = seen & (norms[:SHOWN] < 1.5 * norms[0])  # a diverging kernel hides the others
        norm.append(Line(np.arange(len(seen))[small], norms[:SHOWN][small], group=k))
    return (
        Panel(tuple(loss), "loss", "step", "loss", y_scale="log"),
        Panel(tuple(norm), "tangent kernel", "step", "largest eigenvalue"),
    )


def _lane(curves: Curves, *place: int) -> tuple[np.ndarray, np.ndarray]:
    return curves.loss[place], curves.norm[place]


@chart
def by_gamma(study: Any, found: Any) -> Chart:
    """Fig. B.4 a: gamma."""
    lanes = [(f"gamma {g:g}", *_lane(found.general, i, PRINTED, 0)) for i, g in enumerate(GAMMAS)]
    return Chart(
        "by-gamma", "General quadratic model at rate 2.8: gamma",
        "A smaller gamma gives a higher and later peak; from 0.001 on the last kernel is the same.",
        _panels(lanes),
    )  # fmt: skip


@chart
def by_rate(study: Any, found: Any) -> Chart:
    """Fig. B.4 a: learning rate."""
    lanes = [(f"rate {r:g}", *_lane(found.general, USUAL, RATES.index(r), 0)) for r in SHOWN_RATES]
    return Chart(
        "by-rate", "General quadratic model, gamma 0.001: learning rate",
        "Below 2 the loss falls and the kernel stands; then the kernel falls further with the "
        "rate, but not up to 4; past 4 descent diverges.",
        _panels(lanes),
    )  # fmt: skip


@chart
def by_width(study: Any, found: Any) -> Chart:
    """Fig. B.4 b: width of a network."""
    at = MULTIPLES.index(1.4)
    lanes = [(f"width {m:,}", *_lane(found.widths, i, at, 0)) for i, m in enumerate(study.widths)]
    return Chart(
        "by-width", f"Two-layer networks on {study.few.train} pictures at 1.4 x critical",
        f"Data: {study.few.data}. A wider network is catapulted higher; its kernel ends at nearly "
        "the same value.",
        _panels(lanes),
    )  # fmt: skip


@chart
def network_by_rate(study: Any, found: Any) -> Chart:
    """Fig. B.4 b: learning rate of a network."""
    lanes = [
        (f"{m:g} x critical", *_lane(found.widths, len(study.widths) - 1, i, 0))
        for i, m in enumerate(MULTIPLES)
    ]
    return Chart(
        "network-by-rate", f"Two-layer network of width {study.widths[-1]:,}: learning rate",
        f"Data: {study.few.data}. Above the critical rate peak and fall of the kernel grow with "
        "the rate.",
        _panels(lanes),
    )  # fmt: skip


def _terms(tops: Tops, architecture: str, data: str) -> tuple[Panel, ...]:
    """Loss, bend and fall over time, each for the network and its quadratic model."""
    loss: list[Mark] = []
    bend: list[Mark] = [Reference("y", 0)]
    fall: list[Mark] = [Reference("y", 0)]
    both = {model: tops[architecture, model][data][0] for model in (NETWORK, QUADRATIC)}
    # Once the loss is small again R_f is a quotient of two small numbers, and moves nothing.
    end = 2 + max(np.flatnonzero(t.loss > 0.1 * t.loss.max())[-1] for t in both.values())
    for group, (model, top) in enumerate(both.items()):
        steps = np.arange(len(top.bend))[:end]
        loss.append(Line(steps, top.loss[: len(steps)], model, group=group))
        loss.append(Points(steps, top.along[: len(steps)], "its part along p1", group=group))
        bend.append(Line(steps, top.bend[:end], group=group))
        fall.append(Line(steps, top.fall[:end], group=group))
    return (
        Panel(tuple(loss), f"loss, {NAMES[data]}", "step", "loss"),
        Panel(tuple(bend), "p1^T R_f p1", "step", "bend of the residual"),
        Panel(tuple(fall), "p1^T R_K p1", "step", "fall of the kernel"),
    )


def _top_chart(found: Any, architecture: str, name: str, title: str) -> Chart:
    panels = [_terms(found.tops, architecture, data) for data in found.tops[architecture, NETWORK]]
    return Chart(
        name, title,
        f"First seed, at {MULTIPLE} times the critical rate. Dots are the part of the loss along "
        "the top eigenvector p1. Look at the peak: both terms have risen with the loss, which "
        "brings it down. Where a dot drops away after the peak, another eigenvector has become the "
        "first.",
        sum(panels, ()),
    )  # fmt: skip


@chart
def top_eigenspace(study: Any, found: Any) -> Chart:
    """Figs. B.2 and B.3: the loss and both terms along the top eigenvector."""
    title = f"Fully connected network of width {study.width:,}: along the top eigenvector"
    return _top_chart(found, DENSE, "top-eigenspace", title)


@chart
def convolution_top_eigenspace(study: Any, found: Any) -> Chart:
    """Figs. B.2 and B.3 for the convolution."""
    title = f"Convolution of {study.channels:,} channels: along the top eigenvector"
    return _top_chart(found, CONVOLUTION, "convolution-top-eigenspace", title)
