"""Loss with its parts and kernel norm on one time axis, spikes marked, for every panel."""

import numpy as np

from dynascope.core.charts import Chart, Panel, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.catapult import drawing
from dynascope.studies.catapult.catapult_sgd import runs
from dynascope.studies.catapult.catapult_sgd.runs import PANELS, Settings, study
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

above = together(**{name: node["above"] for name, node in runs.trainings.items()})


@study.chart(above, headline=True)
def headline(s: Settings, found: dict[str, Run]) -> Chart:
    """The loss of the first panel that is there."""
    name = "fcn" if "fcn" in found else next(iter(found))
    lane = drawing.lane_of(found[name])
    return headline_chart(
        f"Loss of {PANELS[name][0]} in batches, seed 0",
        ("step", lane["step"].values), ("loss", lane["loss"].values),
        note="look for spikes that come back", y_scale="log",
    )  # fmt: skip


@study.chart(above)
def spikes(s: Settings, found: dict[str, Run]) -> list[Chart]:
    """One chart a panel."""
    charts = []
    for name, run in found.items():
        seed = drawing.drawn(run)
        lane = drawing.lane_of(run, seed)
        critical = lane["batch_critical_rate"].values[1:]
        steps, fine = lane["step"].values[1:].astype(float), np.isfinite(critical)
        rate = run.experiment.dynamics.learning_rate
        lines = (Reference("y", rate, "learning rate"),) if isinstance(rate, float) else ()
        batches = Points(steps[fine], critical[fine], "of each batch", group=4)
        charts.append(
            Chart(
                name,
                f"{drawing.shows(run, 'Spikes of SGD', seed)}: {PANELS[name][0]}, "
                f"seed {run['seed'].values[seed]}",
                "Vertical lines are where losses begin to rise to twice their lowest. Look for the "
                "spikes in the top eigenspace alone, and for the norm to step down at each.",
                (*drawing.time_axis(run, "", seed),
                 Panel((batches, *lines), "", "step", "critical rate of the batch", y_scale="log")),
            )
        )  # fmt: skip
    return charts
