"""Critical rates of batches beside the losses; the two rates against each other."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.catapult import drawing
from dynascope.studies.catapult.catapult_batch import runs
from dynascope.studies.catapult.catapult_batch.claims import rate_of
from dynascope.studies.catapult.catapult_batch.runs import PANELS, Settings, study
from dynascope.studies.headlines import headline_chart
from dynascope.studies.nodes import together

above = together(**{name: node["above"] for name, node in runs.batches.items()})
below = together(**{name: node["below"] for name, node in runs.batches.items()})
pairs = together(**runs.two_rates)


@study.chart(runs.on_sphere, headline=True)
def headline(s: Settings, run: Run) -> Chart:
    """The loss on the sphere."""
    return headline_chart(
        "Loss on the sphere, one example a step, seed 0", ("step", run["step"].values),
        ("loss", run["loss"].values[0]), note="spikes come with the example twice as large",
    )  # fmt: skip


def _rates(run: Run) -> Panel:
    lane = drawing.lane_of(run)
    critical, steps = lane["batch_critical_rate"].values[1:], lane["step"].values[1:].astype(float)
    fine = np.isfinite(critical)
    return Panel(
        (Points(steps[fine], critical[fine], "of each batch", group=0),
         Reference("y", rate_of(run), "learning rate")),
        "", "step", "critical rate", y_scale="log",
    )  # fmt: skip


@study.chart(runs.on_sphere)
def sphere(s: Settings, run: Run) -> Chart:
    """Fig. 4.5: critical rates and loss."""
    loss = Line(run["step"].values, run["loss"].values[0], "loss", group=0)
    return Chart(
        "sphere", "One example is past its critical rate",
        "Left: critical rates of the examples in the order in which they come; one of them starts "
        "below the learning rate. Right: the loss spikes where it comes, until its own critical "
        "rate has risen above the learning rate.",
        (_rates(run), Panel((loss,), "", "step", "loss")),
    )  # fmt: skip


@study.chart(above, below)
def batches(s: Settings, over: dict[str, Run], under: dict[str, Run]) -> list[Chart]:
    """Fig. 4.6: critical rates and losses at both learning rates."""
    return [
        Chart(
            f"{name}-batches", f"Batches and their critical rates: {PANELS[name][0]}, seed 0",
            "Points below the line are batches past their critical rate. At the larger rate the "
            "loss spikes, in the top eigenspace; at the smaller one all points lie above the line "
            "and the loss falls.",
            (_rates(run), *drawing.time_axis(run, "the larger rate"), _rates(under[name]),
             drawing.time_axis(under[name], "an eighth of it")[0]),
        )
        for name, run in over.items()
    ]  # fmt: skip


@study.chart(pairs)
def two_rates(s: Settings, found: dict[str, Run]) -> Chart:
    """Fig. C.1: the kernel's rate against the Hessian's."""
    panels = []
    for name, run in found.items():
        kernel, hessian = (run[n].values[0, 1:] for n in ("batch_critical_rate", "hessian_rate"))
        fine = np.isfinite(kernel) & np.isfinite(hessian)
        low, high = float(kernel[fine].min()), float(kernel[fine].max())
        panels.append(
            Panel(
                (Points(hessian[fine], kernel[fine], "each step", group=0),
                 Line([low, high], [low, high], "equal", "theory", 0)),
                PANELS[name][0], "2 / sharpness of the batch", "b / norm of its kernel",
            )
        )  # fmt: skip
    return Chart(
        "two-rates", "The critical rate by the kernel and by the Hessian",
        "Every step a point; they should lie on the line, whatever the loss does.", tuple(panels),
    )  # fmt: skip
