"""Loss of the bigrams over the share of parameters in MLPs."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.recall_budget import runs
from dynascope.studies.recall.recall_budget.runs import Settings, study


@study.chart(runs.losses, headline=True)
def headline(s: Settings, losses: dict[int, np.ndarray]) -> Chart:
    """The smallest total."""
    total, found = next(iter(losses.items()))
    return headline_chart(
        f"Loss of the bigrams after {s.steps} steps, {total} d^2 / 4 parameters a block",
        ("share of parameters in MLPs", s.shares), ("loss", found.mean(0)),
        note=f"the bigrams themselves have {s.task.floor:.2f}",
    )  # fmt: skip


@study.chart(runs.losses)
def shares(s: Settings, losses: dict[int, np.ndarray]) -> Chart:
    """Fig. 4.14."""
    lines = [
        Line(s.shares, found.mean(0), f"{total} d^2 / 4 a block", group=group, low=found.min(0),
             high=found.max(0))
        for group, (total, found) in enumerate(losses.items())
    ]  # fmt: skip
    floor = Reference("y", s.task.floor, "the bigrams' own")
    return Chart(
        "fig-4-14", "Loss of the bigrams by the share of parameters that MLPs have",
        f"Loss of the next token at ordinary tokens after {s.steps} steps at the best rate, mean "
        "over seeds with smallest and largest, at fixed numbers of parameters.",
        (Panel((*lines, floor), "", "share of parameters in MLPs", "loss"),),
    )  # fmt: skip
