"""Charts of the study `quadratic-multi`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel
from dynascope.studies.base import chart
from dynascope.theories.quadratic_directions import along_directions, half_rate

SHOWN = 81  # steps; later nothing moves
TITLES = ("below both critical rates", "between them", "above both")


def _panels(lane: Any, dashed: Any, words: str) -> tuple[Panel, ...]:
    panels = []
    steps = np.arange(lane.kernels.shape[-1])[:SHOWN]
    for rate, title in enumerate(TITLES):
        marks: list[Mark] = []
        for k in (0, 1):
            name = f"eigenvalue {k + 1}" if rate == 0 else ""
            marks.append(Line(steps, lane.kernels[k, rate, :SHOWN], name, group=k))
            said = words if rate == 0 and k == 0 else ""
            marks.append(Line(steps, dashed(rate, k)[:SHOWN], said, "theory", k))
        panels.append(
            Panel(tuple(marks), f"{title}: rate {lane.rates[rate]:.3f}", "step", "eigenvalue")
        )
    return tuple(panels)


@chart
def quadratic_regimes(study: Any, found: Any) -> Chart:
    """Fig. 3.3: both eigenvalues of the quadratic model in three regimes, with the exact maps."""
    lane = found.lanes["quadratic model"][0]
    start = lane.start
    order = np.argsort([-k for k in start.kernels])

    def said(rate: int, k: int) -> np.ndarray:
        eta = half_rate(float(lane.rates[rate]), len(start.x))
        maps = along_directions(start.x, start.y, start.outputs, start.kernels, study.width, eta)
        return maps[order[k]].trajectory(study.steps).kernel

    first, second = sorted(start.critical)
    return Chart(
        "quadratic-regimes", f"Quadratic model, width {study.width:,}: which eigenvalue falls",
        f"Seed {start.seed}; critical rates {first:.3f} and {second:.3f}. Below both nothing "
        "moves, between them only the first eigenvalue falls, above both each falls in its own "
        "catapult.",
        _panels(lane, said, "map of two numbers"),
    )  # fmt: skip


@chart
def network_regimes(study: Any, found: Any) -> Chart:
    """Fig. B.1: both eigenvalues of the network, with those of its quadratic model."""
    lane, other = found.lanes["network"][0], found.lanes["quadratic model"][0]
    return Chart(
        "network-regimes", f"The network itself, width {study.width:,}",
        "The same seed and rates with gates that move; dashed: the quadratic model. Eigenvalues "
        "fall in the same regimes, though not to the same values; between the critical rates the "
        "second moves a little where the model's stands.",
        _panels(lane, lambda rate, k: other.kernels[k, rate], "quadratic model"),
    )  # fmt: skip


@chart
def losses(study: Any, found: Any) -> Chart:
    """Loss over time at all four rates."""
    panels = []
    for model, lanes in found.lanes.items():
        lane, marks = lanes[0], list[Mark]()
        names = ("below both", "between", "above both", "2.1 x the first")
        for rate, name in enumerate(names):
            loss = lane.loss[rate, :SHOWN]
            seen = np.isfinite(loss) & (loss < 1e6)
            steps = np.arange(len(loss))[seen]
            marks.append(
                Line(steps, loss[seen], name if model == "quadratic model" else "", group=rate)
            )
        panels.append(Panel(tuple(marks), model, "step", "loss", y_scale="log"))
    return Chart(
        "losses", "Loss below, between, above, and past the largest rate",
        "What is left in the end is the part of the labels outside both directions, which no rate "
        "can reach.",
        tuple(panels),
    )  # fmt: skip
