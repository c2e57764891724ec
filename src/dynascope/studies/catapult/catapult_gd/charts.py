"""Loss with its parts, kernel norm and critical rate on one time axis."""

import numpy as np

from dynascope.core.charts import Chart
from dynascope.core.run import Run
from dynascope.studies.catapult import drawing
from dynascope.studies.catapult.catapult_gd import runs
from dynascope.studies.catapult.catapult_gd.runs import PANELS, Settings, study
from dynascope.studies.catapult.panels import panel_of
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

pasts = together(**{name: node["past"] for name, node in runs.descents.items()})


@study.chart(pasts, headline=True)
def headline(s: Settings, found: dict[str, Run]) -> Chart:
    """The loss of the first panel that is there."""
    name = "fcn" if "fcn" in found else next(iter(found))
    loss = found[name]["loss"].values[0]
    fine = np.isfinite(loss)
    return headline_chart(
        f"Loss of {PANELS[name][0]} past the critical rate, seed 0",
        ("step", found[name]["step"].values[fine]), ("loss", loss[fine]),
        note=f"{panel_of(s, name).factor:.2f} times the critical rate of the start", y_scale="log",
    )  # fmt: skip


@study.chart(pasts)
def catapult(s: Settings, found: dict[str, Run]) -> list[Chart]:
    """One chart a panel."""
    charts = []
    for name, run in found.items():
        p, rate = panel_of(s, name), float(run.experiment.dynamics.learning_rate)
        entries = (p.task.train or 0) * p.task.output_size
        charts.append(
            Chart(
                name, f"{drawing.shows(run, 'A catapult')}: {PANELS[name][0]}, seed 0",
                f"The loss is split by the {p.top} top eigenvectors of the kernel of the moment. "
                "Look for the spike in that part alone, for the norm to fall with it, and for "
                "the critical rate to end above the learning rate.",
                (*drawing.time_axis(run, ""), drawing.rates(run, rate, entries)),
            )
        )  # fmt: skip
    return charts
