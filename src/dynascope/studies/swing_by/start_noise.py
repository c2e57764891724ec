"""What the initial weights of one layer contribute to its output: the noise term of Theorem 4.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.charts import Line, Panel, Reference
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import Linear
from dynascope.numerics.precision import precision
from dynascope.probes import OutputAt
from dynascope.studies.swing_by.drawing import loss_panel
from dynascope.tasks import IdentityMapping
from dynascope.theories.base import initial_jacobian
from dynascope.theories.closed_form import (
    flow_decay,
    noise_bound,
    output_growth,
    output_noise,
    printed_noise_bound,
)

BEYOND = (1.0, 2.0, 1.5)  # an input with a coordinate that no cluster has
# Means (1, 1) and signals (0.5, 2). The printed bound is 0 for the first row and negative for
# the second.
MIXED_SIGNS = ((0.3, -0.3), (-0.3, -0.3))
MIXED_TASK = IdentityMapping((1.0, 1.0), (0.0, 1.5**0.5))


def signals(task: IdentityMapping) -> np.ndarray:
    """The signals a of a task in float64, one per input."""
    with precision("float64"):
        return np.asarray(task.moments(), float)


def start_of(experiment: Experiment) -> np.ndarray:
    """W(0) of every seed, (seed, d, d)."""
    return initial_jacobian(experiment.task, experiment.model, np.array(experiment.seeds))


def mixed_signs() -> Experiment:
    """One layer from weights of mixed signs."""
    return Experiment(
        MIXED_TASK, Linear(initial_jacobian=MIXED_SIGNS), GradientDescent(0.0005), (OutputAt(),),
        steps=12_000, record=Every(10), dtype="float64",
    )  # fmt: skip


def measured_noise(run: xr.Dataset, task: IdentityMapping) -> np.ndarray:
    """Output at the test point minus its predicted growth, (seed, time, d)."""
    growth = output_growth(flow_decay(signals(task), run["time"].values), task.means)
    return run["output_at"].values - growth


def excess_over_printed(run: xr.Dataset) -> np.ndarray:
    """Largest |noise| minus the printed bound, for both rows of MIXED_SIGNS."""
    largest = np.abs(measured_noise(run, MIXED_TASK)[0]).max(axis=0)
    return largest - printed_noise_bound(MIXED_SIGNS, MIXED_TASK.means)


def noise_against_bounds(run: xr.Dataset, experiment: Experiment) -> tuple[float, float]:
    """Largest |noise| over the absolute bound, and the share of outputs above the printed one."""
    task: Any = experiment.task
    largest = np.abs(measured_noise(run, task)).max(axis=1)  # (seed, d)
    start = start_of(experiment)
    ratio = (largest / noise_bound(start, task.means)).max()
    return float(ratio), float((largest > printed_noise_bound(start, task.means) + 1e-9).mean())


def sums_beyond(run: xr.Dataset, experiment: Experiment) -> dict[str, np.ndarray]:
    """Output at BEYOND as measured, and with the noise summed to d, s and 1: (seed, time, d)."""
    decay = flow_decay(signals(experiment.task), run["time"].values)  # type: ignore[arg-type]
    start, growth = start_of(experiment), output_growth(decay, BEYOND)
    ranges = {"d": None, "s": 2, "1": 1}
    sums = {k: growth + output_noise(decay, start, BEYOND, n) for k, n in ranges.items()}
    return {"measured": run["output_beyond"].values, **sums}


def bound_panel(run: xr.Dataset) -> Panel:
    """|noise| of weights (0.3, -0.3) with theory, the printed bound and the absolute one."""
    times = run["time"].values
    measured = measured_noise(run, MIXED_TASK)[0, :, 0]
    exact = output_noise(flow_decay(signals(MIXED_TASK), times), MIXED_SIGNS, MIXED_TASK.means)
    marks = (
        Line(times[::4], np.abs(measured[::4]), "|noise| of output 1", group=0),
        Line(times[::4], np.abs(exact[::4, 0]), "Theorem 4.1", "theory", 0),
        Reference("y", 0.0, "printed bound: 0.3 - 0.3"),
        Reference("y", 0.6, "with absolute values: 0.3 + 0.3"),
    )
    return loss_panel(marks, "Bound on the noise", "|noise|")


def sums_panel(times: np.ndarray, sums: dict[str, np.ndarray]) -> Panel:
    """First output of the first seed at BEYOND, with the noise summed in both ways."""
    marks = (
        Line(times, sums["measured"][0, :, 0], "output 1", group=0),
        Line(times, sums["d"][0, :, 0], "noise over all d inputs", "theory", 0),
        Line(times, sums["s"][0, :, 0], "noise over the s concepts (printed)", "control"),
    )
    return loss_panel(marks, f"Output 1 at {BEYOND}", "output")
