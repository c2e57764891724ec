"""Three catapults on one time axis; the last rate and the caption's from the start."""

import numpy as np

from dynascope.core.charts import Chart, Panel
from dynascope.core.run import Run
from dynascope.studies.catapult import drawing
from dynascope.studies.catapult.catapult_multiple import runs
from dynascope.studies.catapult.catapult_multiple.runs import PANELS, Settings, study
from dynascope.studies.catapult.panels import panel_of
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

raised = together(**{name: node["raised"] for name, node in runs.schedules.items()})


@study.chart(raised, headline=True)
def headline(s: Settings, found: dict[str, Run]) -> Chart:
    """The loss under the schedule."""
    name = "fcn" if "fcn" in found else next(iter(found))
    loss = found[name]["loss"].values[0]
    fine = np.isfinite(loss)
    starts = ", ".join(str(v) for v in panel_of(s, name).starts[1:])
    return headline_chart(
        f"Loss of {PANELS[name][0]}, rate raised at steps {starts}, seed 0",
        ("step", found[name]["step"].values[fine]), ("loss", loss[fine]),
        note="look for a spike after each raise", y_scale="log",
    )  # fmt: skip


@study.chart(raised)
def schedule(s: Settings, found: dict[str, Run]) -> list[Chart]:
    """One chart a panel."""
    charts = []
    for name, run in found.items():
        p, rate = panel_of(s, name).panel, run.experiment.dynamics.learning_rate
        used = np.diff(rate.elapsed(np.arange(p.steps + 2)))
        entries = p.task.train * p.task.output_size
        charts.append(
            Chart(
                name, f"{drawing.shows(run, 'Several catapults')}: {PANELS[name][0]}, seed 0",
                "The loss is split by the ten top eigenvectors. Look for a spike at each raise of "
                "the rate, for the norm to step down, and for the critical rate to climb above "
                "the learning rate each time.",
                (*drawing.time_axis(run, ""), drawing.rates(run, used, entries)),
            )
        )  # fmt: skip
    return charts


SCHEDULES = {
    "raised": "rate raised twice", "last": "last rate from the start",
    "captioned": "the caption's rate from the start",
}  # fmt: skip


@study.chart(*(together(**{name: n[key] for name, n in runs.schedules.items()})
               for key in SCHEDULES))  # fmt: skip
def from_the_start(s: Settings, *found: dict[str, Run]) -> Chart:
    """The rates that end the schedule, without what comes before."""
    panels = []
    for name in found[0]:
        lines = [
            drawing.line(runs_[name]["step"].values, runs_[name]["loss"].values[0], words, i)
            for i, (runs_, words) in enumerate(zip(found, SCHEDULES.values(), strict=True))
        ]
        panels.append(Panel(tuple(lines), PANELS[name][0], "step", "loss", y_scale="log"))
    return Chart(
        "from-the-start", "The last rate of a schedule, used from the start, seed 0",
        "Look for curves that end early: they left finite numbers.", tuple(panels),
    )  # fmt: skip
