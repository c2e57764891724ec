"""Who writes the generic token, layer by layer, as a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.language.attribution import PARTS, Attribution

TITLES = {"attention": "attention", "mlp": "feed-forward"}


def attribution_chart(found: Attribution, title: str) -> Chart:
    """What every part writes, and the difference without it."""
    layers = np.arange(found.written.shape[1])
    left, right = [], []
    for i, part in enumerate(PARTS):
        left.append(_line(layers, found.written[i], TITLES[part], i))
        right.append(_line(layers, found.without[i], f"without {TITLES[part]}", i))
    whole = float(found.whole.mean())
    return Chart(
        "attribution", title,
        "Logit of the generic token less that of the answer, at the last position. Left: what "
        "each part adds to it (with the last norm held fixed, these and the word's own vector add "
        "up to the whole). Right: the whole after the part is dropped and later layers run anew. "
        "Mean over prompts with its standard error; above 0 is for the generic token.",
        (
            Panel((*left, Reference("y", 0.0)), "Written by each part", "layer",
                  "logit difference"),
            Panel((*right, Reference("y", whole, "as it is")), "Without each part", "layer",
                  "logit difference"),
        ),
    )  # fmt: skip


def _line(layers: np.ndarray, values: np.ndarray, label: str, group: int) -> Line | Points:
    mean = values.mean(1)
    error = values.std(1) / np.sqrt(values.shape[1])
    return Line(layers, mean, label, group=group, low=mean - error, high=mean + error)


def series_chart(series: Sequence[tuple[str, Attribution]]) -> Chart:
    """The same along checkpoints: the whole, and the sums over all parts of one kind."""
    steps = np.arange(len(series))
    lines = [Line(steps, [a.whole.mean() for _, a in series], "whole", group=0)]
    for i, part in enumerate(PARTS):
        sums = [a.written[i].sum(0).mean() for _, a in series]
        lines.append(Line(steps, sums, f"all {TITLES[part]} parts", group=i + 1))
    names = ", ".join(name for name, _ in series)
    return Chart(
        "attribution-series", "Who writes the generic token, along checkpoints",
        f"Logit of the generic token less that of the answer; checkpoints in order: {names}.",
        (Panel((*lines, Reference("y", 0.0)), "", "checkpoint", "logit difference"),),
    )  # fmt: skip
