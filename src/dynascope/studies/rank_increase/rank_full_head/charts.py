"""Singular values of both products over time, at three scales of the start."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.rank_increase.rank_full_head import runs
from dynascope.studies.rank_increase.rank_full_head.claims import LEARNED
from dynascope.studies.rank_increase.rank_full_head.runs import Settings, study


@study.chart(runs.spectra, runs.times, headline=True)
def headline(s: Settings, spectra: dict[float, np.ndarray], times: np.ndarray) -> Chart:
    """The rank of the values' product from the smallest start."""
    ranks = (spectra[s.scales[-1]][0, 1:, 1] > LEARNED).sum(axis=-1)
    return headline_chart(
        f"Rank of W_V W_O^T from entries of size {s.scales[-1]:g}",
        ("log10 of gradient-flow time", np.log10(times[1:])), ("rank", ranks),
        note=f"singular values above {LEARNED}; the teacher's rank is {len(s.task.values)}",
    )  # fmt: skip


@study.chart(runs.spectra, runs.times)
def singular_values(s: Settings, spectra: dict[float, np.ndarray], times: np.ndarray) -> Chart:
    """All singular values, the teacher's as dotted lines."""
    panels = []
    for product, (name, given) in enumerate((("W_K W_Q^T", s.task.scores),
                                             ("W_V W_O^T", s.task.values))):  # fmt: skip
        for scale in (s.scales[0], 1e-2, 1e-4):
            values = spectra[scale][0, 1:, product]
            lines = [Line(times[1:], values[:, k], f"sigma {k + 1}", group=k)
                     for k in range(values.shape[1])]  # fmt: skip
            marks: tuple[Mark, ...] = (*lines, *(Reference("y", g) for g in given))
            panels.append(Panel(marks, f"{name}, entries of size {scale:g}", "gradient-flow time",
                                "singular value", x_scale="log"))  # fmt: skip
    return Chart(
        "singular-values", "Small starts learn one singular value after the other",
        "Singular values over time, the teacher's as dotted lines. From size 1e-4 each rises "
        "alone, the largest first, and nothing else does. From size 0.5 all are there at once.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.spectra, runs.times, runs.heads)
def ranks(s: Settings, spectra: dict[float, np.ndarray], times: np.ndarray, run: Run) -> Chart:
    """Rank over time, and the loss beside it."""
    lines, losses = [], []
    for group, scale in enumerate(s.scales):
        count = (spectra[scale][0, 1:, 1] > LEARNED).sum(axis=-1)
        lines.append(Line(times[1:], count, f"size {scale:g}", group=group))
        loss = run["loss"].isel({"model.init_scale": group, "seed": 0}).values
        losses.append(Line(times[1:], loss[1:], f"size {scale:g}", group=group))
    return Chart(
        "ranks", "The rank rises in steps, and the loss falls with it",
        f"Left: singular values of W_V W_O^T above {LEARNED}. Right: the loss; each fall from "
        "the smallest start belongs to a step on the left.",
        (Panel(tuple(lines), "Rank", "gradient-flow time", "rank", x_scale="log"),
         Panel(tuple(losses), "Loss", "gradient-flow time", "loss", "log", "log")),
    )  # fmt: skip
