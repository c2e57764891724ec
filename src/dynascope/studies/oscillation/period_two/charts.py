"""One law for all amplitudes, two descents, and the learning rate for a point."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.oscillation.drawing import levels
from dynascope.studies.oscillation.period_two import runs
from dynascope.studies.oscillation.period_two.runs import FAR, FITTED, LOSSES, Settings, study


@study.chart(runs.distances, headline=True)
def headline(s: Settings, found: dict[str, np.ndarray]) -> Chart:
    """Distance of the two points of the quartic's orbit against the excess."""
    return headline_chart(
        "(x^2 - 1)^2 / 4: distance of the two points that descent settles on",
        ("learning rate over its limit, less 1", found["kappas"]), ("distance", found["seen"]),
        ("theory", found["exact"]),
        note="the orbit found without simulation lies under the measured points",
    )  # fmt: skip


@study.chart(runs.two_functions)
def figure_b1(s: Settings, found: dict[str, dict[str, np.ndarray]]) -> Chart:
    """Two descents past the limit."""
    panels = []
    for name in ("quartic", "sine"):
        settled = found[name]
        path = Points(np.arange(251.0), settled["path"], "iterates")
        predicted = levels(settled["predicted"], 250, "predicted")
        panels.append(Panel((path, *predicted), LOSSES[name][0], "step", "x"))
    return Chart(
        "two-functions", "Descent at rate 1.01, just past the limit 1",
        "Both begin 0.1 below the minimum and end on two points (dashed: predicted).",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.fits)
def law(s: Settings, fits: dict[str, runs.PastLimit]) -> Chart:
    """All amplitudes on one curve."""
    excess, x_label = (*s.kappas, FAR), "excess kappa of the learning rate"
    named = [(k, name, fits[name]) for k, name in enumerate(FITTED)]
    lengths = [Points(excess, fit.simulated / fit.length, name, group=k) for k, name, fit in named]
    ratios = [Line(excess, fit.simulated / fit.law, name, group=k) for k, name, fit in named]
    ends = (min(excess) / 1.5, 1.5 * FAR)
    theory = Line(ends, np.sqrt(ends), "sqrt(kappa)", "theory")
    return Chart(
        "amplitude", "One law for the amplitude of every function",
        "Each half-amplitude in units of its function's own length, "
        "sqrt(6 f2^2 / (3 f3^2 - f2 f4)). Near onset all lie on the dashed line.",
        (Panel((*lengths, theory), "", x_label, "half-amplitude / length", "log", "log"),
         Panel((Reference("y", 1.0), *ratios), "", x_label, "simulated / law", "log")),
    )  # fmt: skip


@study.chart(runs.brackets["quartic"])
def rates(s: Settings, found: dict[str, np.ndarray]) -> Chart:
    """Theorem 3.1 for the quartic."""
    marks = (
        Line(found["points"], found["rates"], "rate for the point"),
        Line(found["points"], found["bounds"], "printed bound", "theory"),
        Reference("y", 1.0, "limit 2 / f''"),
    )
    return Chart(
        "rate-for-a-point", "Which learning rate puts a point on an orbit of period 2",
        "The rate lies between the limit and the printed bound for every point.",
        (Panel(marks, "(x^2 - 1)^2 / 4", "point below the minimum", "learning rate"),),
    )  # fmt: skip
