"""Shares of places with the noise on top, and attention along the second phase."""

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.drawing import LOG_STEP, log_steps
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
        steps = log_steps(run)
        whole = run["recall"].sel(cut="whole")
        parts = {"says_noise": "noise on top", "noise": "p(noise)", "right": "p(answer)"}
        lines = []
        for group, (part, label) in enumerate(parts.items()):
            curve = whole.sel(readout=part)
            low, middle, high = (getattr(curve, m)("seed").values for m in ("min", "mean", "max"))
            lines.append(Line(steps, middle, label, group=group, low=low, high=high))
        return Panel(
            (*lines, Reference("y", s.task.noise, "alpha")), title, LOG_STEP, "share", "log"
        )

    steps = log_steps(tuned)
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
         Panel(looks, "Attention after the trigger", LOG_STEP, "share", "log")),
    )  # fmt: skip
