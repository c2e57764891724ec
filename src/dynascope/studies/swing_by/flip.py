"""Where the order of learning flips, from a start at zero, as text and program read the task."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import xarray as xr

from dynascope.core.charts import Heat, Line, Mark, Panel, Points, Reference
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import Linear
from dynascope.probes import OutputAt
from dynascope.probes.trajectories import half_times
from dynascope.studies.swing_by.start_noise import signals
from dynascope.tasks import IdentityMapping
from dynascope.theories.closed_form import order_flip_scale
from dynascope.theories.stages import crossing_times

Reading = Literal["text", "code"]
# No pair of these has equal signals, which would be a tie.
GRID_MEANS = tuple(np.linspace(0.52, 3.04, 22).round(2).tolist())
GRID_SCALES = tuple(np.linspace(0.04, 2.0, 50).round(2).tolist())


def plain_task(reading: Reading) -> IdentityMapping:
    """Means (1, 2) and scales 0.05, as the text or as the authors' program reads them.

    Example:
        >>> plain_task("code").clusters, plain_task("code").scale_is
        (3, 'variance')
    """
    code = reading == "code"
    return IdentityMapping(
        (1.0, 2.0), (0.05, 0.05), origin=code, scale_is="variance" if code else "deviation"
    )


def predicted_flip(reading: Reading) -> float:
    """Scale of concept 1 at which both signals are equal, in the reading's own unit.

    Example:
        >>> round(predicted_flip("text"), 4), round(predicted_flip("code"), 4)
        (1.2258, 1.05)
    """
    if reading == "text":
        return order_flip_scale((1.0, 2.0), 0.05, clusters=2)
    return order_flip_scale((1.0, 2.0), 0.05**0.5, clusters=3) ** 2


def from_zero(reading: Reading, means: bool = False) -> Experiment:
    """One layer from zero over GRID_SCALES of concept 1, and over GRID_MEANS too if asked."""
    axes: tuple = (("task.means[0]", GRID_MEANS),) if means else ()
    # Two dimensions are enough: from zero the others never move.
    return Experiment(
        plain_task(reading), Linear(0.0), GradientDescent(0.002), (OutputAt(),), steps=6000,
        record=Every(20), dtype="float64", over=(*axes, ("task.scales[0]", GRID_SCALES)),
    )  # fmt: skip


def times_from_zero(run: xr.Dataset, first_mean: float = 1.0) -> np.ndarray:
    """t_1 and t_2, when each output has half its target, (scale, 2)."""
    return half_times(run["output_at"].values[:, 0], (first_mean, 2.0), run["time"].values)


def flip_of(delays: np.ndarray) -> float:
    """Scale of concept 1 at which t_1 - t_2 over GRID_SCALES falls through zero."""
    return float(crossing_times(-delays, GRID_SCALES, 0.0))


def exact_delay(reading: Reading) -> np.ndarray:
    """t_1 - t_2 = log 2 (1/a_1 - 1/a_2) over GRID_SCALES."""
    task = plain_task(reading)
    found = np.array([signals(replace(task, scales=(s, 0.05))) for s in GRID_SCALES])
    return np.log(2) * (1 / found[:, 0] - 1 / found[:, 1])


def delay_panel(delays: dict[Reading, np.ndarray]) -> Panel:
    """t_1 - t_2 against the scale of concept 1 in both readings, theory over measurement."""
    labels: dict[Reading, str] = {
        "text": "text: K = 2, deviations",
        "code": "program: K = 3, variances",
    }
    marks: list[Mark] = [Reference("y", 0.0)]
    for k, (reading, label) in enumerate(labels.items()):
        marks.append(Points(GRID_SCALES[::2], delays[reading][::2], label, group=k))
        theory = "Theorem 4.1" if k else ""
        marks.append(Line(GRID_SCALES, exact_delay(reading), theory, "theory", k))
        place = predicted_flip(reading)
        marks.append(Reference("x", place, f"equal signals: {place:.3f}"))
    return Panel(tuple(marks), "From a start at zero", "scale of concept 1", "t_1 - t_2")


def order_panel(relative_delay: np.ndarray) -> Panel:
    """Who comes first over GRID_MEANS and GRID_SCALES, with the predicted border."""
    edge = np.linspace(GRID_MEANS[0], 2.0, 100)
    border = Line(edge, np.sqrt(0.05**2 + 2 - edge**2 / 2), "equal signals", "theory")
    label = "(t_1 - t_2) / (t_1 + t_2)"
    heat = Heat(GRID_MEANS, GRID_SCALES, relative_delay.T, label, diverging=True)
    return Panel((heat, border), "Who comes first", "mean of concept 1", "scale of concept 1")
