"""Output paths with the theorem over them, and where the order flips."""

from dataclasses import replace

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Path, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import map_panel, trajectory
from dynascope.studies.swing_by.sim_order import claims, runs
from dynascope.studies.swing_by.sim_order.paths import growth_from_zero
from dynascope.studies.swing_by.sim_order.runs import GRID_SCALES, Reading, Settings, study
from dynascope.studies.swing_by.starts import signal


def exact_delay(reading: Reading) -> np.ndarray:
    """t_1 - t_2 = log 2 (1/a_1 - 1/a_2) over GRID_SCALES."""
    task = runs.plain_task(reading)
    a = np.array([signal(replace(task, scales=(x, 0.05))) for x in GRID_SCALES])
    return np.log(2) * (1 / a[:, 0] - 1 / a[:, 1])


@study.chart(runs.delays["text"], headline=True)
def headline(s: Settings, delay: np.ndarray) -> Chart:
    """Delay of concept 1 behind concept 2 against the scale of concept 1."""
    return headline_chart(
        "Concept 1 behind concept 2, one layer from zero (text reading)",
        ("scale of concept 1", GRID_SCALES), ("t_1 - t_2", delay), ("theory", exact_delay("text")),
        note=f"the order flips at {claims.flip_scale(delay).value:.4f}, predicted "
        f"{claims.predicted_flip('text'):.4f}",
    )  # fmt: skip


@study.chart(claims.one_layer, runs.start)
def one_layer(s: Settings, run: Run, start: np.ndarray) -> Chart:
    """Figs. 2a and 2b with Theorem 4.1 over the simulation."""
    tasks, times = run.experiment.over[0][1], run["time"].values
    theory = [runs.theorem(task, start, times)[0] for task in tasks]
    return Chart(
        "one-layer", "One layer heads for the stronger signal first",
        "Output at the test point, one seed, with the closed form dashed over it. Left: the "
        "path bulges to the larger mean. Right: as the first cluster gets wider, the path "
        "turns from the second axis to the first.", _maps(run["output_at"][:, 0], theory),
    )  # fmt: skip


@study.chart(runs.models)
def networks(s: Settings, models: dict[str, Run]) -> list[Chart]:
    """Figs. 11 and 12."""
    titles = {"two layers": "Two linear layers", "relu": "Two layers with ReLU"}
    return [
        Chart(
            name.replace(" ", "-"), f"{title} keep the order",
            "Average output over seeds; dashed, Theorem 4.1 for one layer from zero with the same "
            "signals. The paths bend to the same side in every setting.",
            _maps(models[name]["output_at"].mean("seed"),
                  [growth_from_zero(task) for task in models[name].experiment.over[0][1]]),
        )
        for name, title in titles.items()
    ]  # fmt: skip


def _maps(outputs: xr.DataArray, theory: list[np.ndarray]) -> tuple[Panel, Panel]:
    """Figs. a and b: paths by mean and by scale, each with its theory dashed over it."""
    by_mean = {f"mean {m:g}": k for k, m in enumerate(runs.FIRST_MEANS)}
    by_scale = {f"scale {x:g}": k + 2 if k else 0 for k, x in enumerate(runs.FIRST_SCALES)}

    def panel(settings: dict[str, int], means: tuple[float, ...], title: str) -> Panel:
        marks: list[Mark] = []
        for group, (label, k) in enumerate(settings.items()):
            name = "Theorem 4.1" if group + 1 == len(settings) else ""
            x, y = theory[k].T[:2]
            marks += [trajectory(outputs[k], label, group=group),
                      Path(x, y, label=name, role="theory", group=group, arrows=False)]  # fmt: skip
        return map_panel(means, 2.0, marks, title)

    return (panel(by_mean, runs.FIRST_MEANS, "Means (mean, 2)"),
            panel(by_scale, (1.0,), "Scales (scale, 0.05), means (1, 2)"))  # fmt: skip


@study.chart(runs.delays, runs.times_by_mean)
def flip(s: Settings, delays: dict[Reading, np.ndarray], times: np.ndarray) -> Chart:
    """t_1 - t_2 against the scale of concept 1, and the order over means and scales."""
    readings: dict[Reading, str] = {"text": "text: K = 2, deviations",
                                    "code": "program: K = 3, variances"}  # fmt: skip
    marks: list[Mark] = [Reference("y", 0.0)]
    for k, (reading, label) in enumerate(readings.items()):
        place, theory = claims.predicted_flip(reading), "Theorem 4.1" if k else ""
        marks += [Points(GRID_SCALES[::2], delays[reading][::2], label, group=k),
                  Line(GRID_SCALES, exact_delay(reading), theory, "theory", k),
                  Reference("x", place, f"equal signals: {place:.3f}")]  # fmt: skip
    edge = np.linspace(runs.GRID_MEANS[0], 2.0, 100)
    border = Line(edge, np.sqrt(0.05**2 + 2 - edge**2 / 2), "equal signals", "theory")
    later, share = times @ (1, -1) / times.sum(axis=-1), "(t_1 - t_2) / (t_1 + t_2)"
    heat = Heat(runs.GRID_MEANS, GRID_SCALES, later.T, share, diverging=True)
    return Chart(
        "flip", "The order flips where the signals are equal",
        "Left: how much later the first concept is learned; both readings cross zero where "
        "their own signals are equal. Right: the same as a share, over means and scales (text "
        "reading); the colour changes sign on the predicted line.",
        (Panel(tuple(marks), "From a start at zero", "scale of concept 1", "t_1 - t_2"),
         Panel((heat, border), "Who comes first", "mean of concept 1", "scale of concept 1")),
    )  # fmt: skip
