"""One layer slows down; two printed formulas corrected; who swings by."""

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference, Role
from dynascope.core.run import Run
from dynascope.probes import bump
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import curve, loss_panel, shares_as, with_theory
from dynascope.studies.swing_by.events import swings
from dynascope.studies.swing_by.sim_slowdown import claims, noise, runs
from dynascope.studies.swing_by.sim_slowdown.runs import CROSS_WEIGHTS, Settings, study
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.closed_form import flow_decay, output_growth, output_noise


@study.chart(runs.high_dimension, runs.wide_theory, claims.one_layer, headline=True)
def headline(s: Settings, wide: Run, theory: xr.Dataset, one_layer: Run) -> Chart:
    """Test loss in 64 dimensions, with the closed form."""
    rate, predicted = claims.final_rate(one_layer).value, 2 * signal(s.task)[0]
    return headline_chart(
        "Test loss of one layer in 64 dimensions, seed 0",
        ("gradient-flow time", wide["time"].values), ("test loss", wide["test_loss"].values[0]),
        ("theory", theory["test_loss"].values[0]),
        note=f"from zero the loss ends at rate {rate:.4f}, predicted 2 a_1 = {predicted:.4f}",
        y_scale="log",
    )  # fmt: skip


@study.chart(runs.slow, runs.high_dimension, runs.wide_theory)
def approach_chart(s: Settings, slow: dict[str, Run], wide: Run, theory: xr.Dataset) -> Chart:
    """Outputs and their speeds from zero, with the closed form; two layers as control."""
    measured, other = (run["output_at"].isel(seed=0) for run in slow.values())
    decay = flow_decay(signal(s.task), measured["time"].values)
    predicted = measured.copy(data=output_growth(decay, s.task.means))
    outputs, speeds, losses = list[Mark](), list[Mark](), list[Mark]()
    for k in (1, 0):
        lines: list[tuple[xr.DataArray, str, Role]] = [
            (measured[:, k], f"output {k + 1}", "measured"),
            (other[:, k], "" if k else "two layers", "control"),
            (predicted[:, k], "" if k else "Theorem 4.1", "theory"),
        ]
        for output, label, role in lines:
            outputs.append(curve(output, label, group=k, role=role))
            speeds.append(curve(_speed(output), label, group=k, role=role))
    for k in range(min(4, s.wide_seeds)):
        label, name = ("", "") if k else ("simulation", "Theorem 4.1")
        losses += with_theory(wide["test_loss"][k], theory["test_loss"][k], label, 2 + k, name)
    return Chart(
        "approach", "One layer only ever slows down",
        "Left and middle: outputs from a start at zero. On the log scale each output of one "
        "layer slows down exponentially at its own rate from the first moment on; two layers "
        "(grey) accelerate first. Right: random starts in 64 dimensions, each with the closed "
        "form from its own weights.",
        (loss_panel(outputs, "Outputs", "output"),
         loss_panel(speeds, "Speed of the outputs", "speed", "log"),
         loss_panel(losses, "Test loss, 64 dimensions", y_scale="log")),
    )  # fmt: skip


def _speed(output: xr.DataArray) -> xr.DataArray:
    """How fast an output moves, from one record to the next; NaN where it has come to rest."""
    moves = np.diff(output.values) / np.diff(output["time"].values)
    return output[1:].copy(data=np.where(moves > claims.ROUND_OFF, moves, np.nan))


@study.chart(runs.signs["mixed"], noise.noise["mixed"], *noise.flow)
def noise_chart(s: Settings, mixed: Run, seen: noise.Noise, flow: Run, start: np.ndarray) -> Chart:
    """The counterexample to the printed bound, and the sum that must run over all inputs."""
    times, here = mixed["time"].values[::4], flow["time"].values
    task = runs.MIXED_TASK
    exact = output_noise(flow_decay(signal(task), times), runs.MIXED_SIGNS, task.means)
    sizes = (
        Line(times, np.abs(seen.over_time[0, ::4, 0]), "|noise| of output 1", group=0),
        Line(times, np.abs(exact[:, 0]), "Theorem 4.1", "theory", 0),
        Reference("y", 0.0, "printed bound: 0.3 - 0.3"),
        Reference("y", 0.6, "with absolute values: 0.3 + 0.3"),
    )
    over_all, printed = (
        noise.predicted_output(flow, start, runs.BEYOND, n)[0, :, 0] for n in (None, 2)
    )
    sums = (
        Line(here, flow["output_beyond"].values[0, :, 0], "output 1", group=0),
        Line(here, over_all, "noise over all d inputs", "theory", 0),
        Line(here, printed, "noise over the s concepts (printed)", "control"),
    )
    return Chart(
        "noise", "What the start contributes: two printed formulas corrected",
        "Left: weights (0.3, -0.3) make noise although the printed bound is zero; the bound "
        "with absolute values holds. Right: at an input with a coordinate that no cluster "
        "has, the printed sum misses a term that never decays.",
        (loss_panel(sizes, "Bound on the noise", "|noise|"),
         loss_panel(sums, f"Output 1 at {runs.BEYOND}", "output")),
    )  # fmt: skip


@study.chart(runs.by_size, runs.one_cross_weight)
def starts_chart(s: Settings, by_size: dict[float, Run], crossed: Run) -> Chart:
    """How large a start may be: shares of seeds, one cross weight, an example."""
    points = shares_as(Points, runs.START_SIZES, [swings(run) for run in by_size.values()])
    weight, loss_rises = claims.predicted_weight(s.task), claims.first_rise(crossed, False).value
    assert loss_rises is not None
    rises = (
        Line(CROSS_WEIGHTS, claims.rises(crossed, True), "error of output 1", group=0),
        Line(CROSS_WEIGHTS, rise_of_error(CROSS_WEIGHTS, s.task), "Theorem 4.1", "theory", 0),
        Reference("x", weight, f"predicted: {weight:.4f}"),
        Reference("x", loss_rises, "the test loss rises"),
    )
    losses = by_size[1.0]["test_loss"]
    first = losses[:, 0].values
    worst = int(np.argmax(np.where(first > np.median(first), bump(losses.values), 0)))
    return Chart(
        "starts", "One layer swings by only from a large start",
        "Left: share of two-dimensional starts whose test loss rises, with 95 % "
        "intervals; none at half the default size. Middle: with one cross weight the first "
        "output strays from the predicted place on, long before the loss rises. Right: the "
        "largest rise among the half of default starts with the larger first loss.",
        (Panel((points,), "Starts that swing by", "size of the start / default", "share"),
         Panel(rises, "One cross weight", "w_12 at the start", "rise"),
         loss_panel([curve(losses[worst], f"seed {worst}")], "Largest rise", y_scale="log")),
    )  # fmt: skip


def rise_of_error(weights: tuple[float, ...], task: IdentityMapping) -> np.ndarray:
    """How far output 1 strays from its target by Theorem 4.1, for each cross weight w_12(0).

    Everything else starts at zero, so that its error is w_12(0) mean_2 exp(-a_2 t) - mean_1
    exp(-a_1 t); the rise is taken after the smallest value so far.
    """
    own, other = (flow_decay(signal(task), np.linspace(0, 10, 10_001)) * task.means).T
    return claims.largest_rise(np.abs(np.multiply.outer(weights, other) - own))
