"""How outputs approach their targets: speed, slowing down, terminal rate, straying first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from dynascope.core.charts import Mark, Panel, Role
from dynascope.probes.curves import terminal_rate
from dynascope.studies.swing_by.drawing import curve, loss_panel
from dynascope.studies.swing_by.start_noise import signals
from dynascope.tasks import IdentityMapping
from dynascope.theories.closed_form import flow_decay, output_growth

ROUND_OFF = 1e-10  # moves below this are not compared


def slowing(run: xr.Dataset) -> float:
    """Share of intervals in which an output of seed 0 moves less than in the one before."""
    moves = np.diff(run["output_at"].values[0], axis=0)  # (interval, output)
    clear = moves[:-1] > ROUND_OFF
    return float((np.diff(moves, axis=0) < 0)[clear].mean())


def rate(run: xr.Dataset) -> float:
    """Exponential rate at which the test loss of seed 0 ends."""
    return terminal_rate(run["test_loss"].values[0], run["time"].values).rate


def speed(output: xr.DataArray) -> xr.DataArray:
    """How fast an output moves, from one record to the next; NaN where it has come to rest."""
    moves = np.diff(output.values) / np.diff(output["time"].values)
    return output[1:].copy(data=np.where(moves > ROUND_OFF, moves, np.nan))


def rise_of_error(weights: tuple[float, ...], task: IdentityMapping) -> np.ndarray:
    """How far output 1 strays from its target by Theorem 4.1, for each cross weight w_12(0).

    Everything else starts at zero, so that its error is w_12(0) mean_2 exp(-a_2 t) - mean_1
    exp(-a_1 t); the rise is taken after the smallest value so far.
    """
    own, other = (flow_decay(signals(task), np.linspace(0, 10, 10_001)) * task.means).T
    return largest_rise(np.abs(np.multiply.outer(weights, other) - own))


def largest_rise(error: np.ndarray) -> np.ndarray:
    """Largest rise after a minimum, (..., time) to (...), in the error's own unit."""
    return (error - np.minimum.accumulate(error, axis=-1)).max(axis=-1)


def panels(one: xr.Dataset, two: xr.Dataset, task: IdentityMapping) -> tuple[Panel, Panel]:
    """Outputs and their speeds: one layer from zero with Theorem 4.1, two layers as control."""
    measured, other = (run["output_at"].isel(seed=0) for run in (one, two))
    decay = flow_decay(signals(task), measured["time"].values)
    theory = measured.copy(data=output_growth(decay, task.means))
    outputs: list[Mark] = []
    speeds: list[Mark] = []
    for k in (1, 0):
        lines: list[tuple[xr.DataArray, str, Role]] = [
            (measured[:, k], f"output {k + 1}", "measured"),
            (other[:, k], "" if k else "two layers", "control"),
            (theory[:, k], "" if k else "Theorem 4.1", "theory"),
        ]
        for output, label, role in lines:
            outputs.append(curve(output, label, group=k, role=role))
            speeds.append(curve(speed(output), label, group=k, role=role))
    fast = replace(loss_panel(speeds, "Speed of the outputs", "speed"), y_scale="log")
    return loss_panel(outputs, "Outputs", "output"), fast
