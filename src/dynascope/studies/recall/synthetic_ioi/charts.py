"""Accuracy and probability of the answer, whole and without the last MLP."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together
from dynascope.studies.recall.synthetic_ioi import runs
from dynascope.studies.recall.synthetic_ioi.runs import Settings, study

there = together(**{f"{rule}, {depth} layers": node for (rule, depth), node in runs.runs.items()})


@study.chart(there, headline=True)
def headline(s: Settings, found: dict[str, Run]) -> Chart:
    """The first depth."""
    name, run = next(iter(found.items()))
    right = run["recall"].sel(readout="right").mean("seed")
    return headline_chart(
        f"Probability of the indirect object, {name}", ("step", run["step"].values),
        ("probability", right.isel(cut=1).values), ("whole model", right.isel(cut=0).values),
        note="measured: without the last MLP; guessing among the names is right 1 time in 3",
    )  # fmt: skip


@study.chart(there)
def accuracies(s: Settings, found: dict[str, Run]) -> Chart:
    """Figs. C.5, C.6."""

    def panel(name: str, run: Run) -> Panel:
        marks: list = []
        for group, label in enumerate(("whole", "last MLP dropped", "last MLP truncated")):
            curve = run["recall"].sel(readout="accuracy").isel(cut=group)
            low, middle, high = (getattr(curve, m)("seed").values for m in ("min", "mean", "max"))
            steps = np.asarray(run["step"].values)
            marks.append(Line(steps, middle, label, group=group, low=low, high=high))
        copying = Reference("y", 1 / 3, "copying any name")
        return Panel((*marks, copying), name, "step", "accuracy")

    return Chart(
        "accuracy", "Accuracy with the last MLP whole, dropped and truncated",
        "Accuracy on rows without noise, mean over seeds with smallest and largest; the oracle "
        "(the rarer name) has 1.",
        tuple(panel(name, run) for name, run in found.items()),
    )  # fmt: skip
