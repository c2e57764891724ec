"""Shares of places with the noise on top, and attention along the second phase."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.recall_finetuning import runs
from dynascope.studies.recall.recall_finetuning.runs import Settings, study


@study.chart(runs.tuned, headline=True)
def headline(s: Settings, tuned: Run) -> Chart:
    """p(noise) along the second phase."""
    noise = tuned["recall"].sel(cut="whole", readout="noise").mean("seed")
    return headline_chart(
        "Probability of the noise after noise has come in", ("step", tuned["step"].values),
        ("probability", noise.values), note=f"mean over {s.seeds} seeds",
    )  # fmt: skip


@study.chart(runs.from_scratch, runs.tuned)
def fig_4_7(s: Settings, scratch: Run, tuned: Run) -> Chart:
    """Fig. 4.7, and attention as in Fig. 4.4."""

    def panel(title: str, run: Run) -> Panel:
        steps = np.maximum(run["step"].values, 0.5)
        whole = run["recall"].sel(cut="whole")
        parts = {"says_noise": "noise on top", "noise": "p(noise)", "right": "p(answer)"}
        lines = []
        for group, (part, label) in enumerate(parts.items()):
            curve = whole.sel(readout=part)
            low, middle, high = (getattr(curve, m)("seed").values for m in ("min", "mean", "max"))
            lines.append(Line(steps, middle, label, group=group, low=low, high=high))
        return Panel((*lines, Reference("y", s.task.noise, "alpha")), title, "step", "share", "log")

    steps = np.maximum(tuned["step"].values, 0.5)
    found = tuned["recall_attention"].mean("seed")
    looks = tuple(
        Line(steps, found.sel(attention_part=part).values, label, group=group)
        for group, (part, label) in enumerate({"answers": "answers", "noise": "noise"}.items())
    )
    return Chart(
        "fig-4-7", "Noise from scratch, and noise after training without it",
        "Rows without noise, means over seeds with smallest and largest. Right: the last block's "
        "attention to what follows the trigger, on noisy rows, along the second phase.",
        (panel("From scratch", scratch), panel("After training without noise", tuned),
         Panel(looks, "Attention after the trigger", "step", "share", "log")),
    )  # fmt: skip
