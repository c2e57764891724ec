"""Clean loss over training, whole and with each part dropped."""

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together
from dynascope.studies.recall.drawing import LOG_STEP, log_steps
from dynascope.studies.recall.recall_parts import runs
from dynascope.studies.recall.recall_parts.runs import Settings, short, study

FIGURES = {
    "mlp-mlp": "MLP, MLP (Fig. 4.9)",
    "mlp-linear": "MLP, linear (Fig. 4.10)",
    "linear-mlp": "linear, MLP (Fig. 4.11)",
    "none-none": "none, none (Fig. 4.12)",
}
there = together(**runs.runs)


@study.chart(there, headline=True)
def headline(s: Settings, found: dict[str, Run]) -> Chart:
    """Two MLPs, the second dropped."""
    name, run = next(iter(found.items()))
    right = run["recall"].sel(readout="right").mean("seed")
    return headline_chart(
        f"Probability of the answer, {FIGURES[name]}",
        ("step", run["step"].values),
        ("probability", right.isel(cut=1).values), ("whole model", right.sel(cut="whole").values),
        note=f"measured: {short(str(right['cut'].values[1]))}",
    )  # fmt: skip


@study.chart(there)
def losses(s: Settings, found: dict[str, Run]) -> Chart:
    """Figs. 4.9-4.12."""

    def panel(name: str, run: Run) -> Panel:
        lines = []
        for group, cut in enumerate(run["recall"]["cut"].values):
            curve = run["recall"].sel(cut=cut, readout="loss")
            low, middle, high = (getattr(curve, m)("seed").values for m in ("min", "mean", "max"))
            steps = log_steps(run)
            lines.append(Line(steps, middle, short(str(cut)), group=group, low=low, high=high))
        return Panel(tuple(lines), FIGURES[name], LOG_STEP, "clean loss", "log", "log")

    return Chart(
        "losses", "Clean loss with either part dropped",
        "Loss on rows without noise, mean over seeds with smallest and largest, for the whole "
        "model and with a part dropped (or the first output map truncated).",
        tuple(panel(name, run) for name, run in found.items()),
    )  # fmt: skip
