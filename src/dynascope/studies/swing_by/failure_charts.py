"""Charts of the failure to generalise: trajectory in space, who is late, traps, dips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Path, Points, Reference
from dynascope.studies.comparisons import share
from dynascope.studies.swing_by.drawing import curve, loss_panel, over_log_time, share_bars

if TYPE_CHECKING:
    from dynascope.studies.swing_by.sim_failure import Found

MOST_POINTS = 300


def trajectory(found: Found, means: Sequence[float]) -> Chart:
    """The output of the shown seed in space, and its loss, to the figure's end and beyond."""
    run, theory = found.runs["program, run on"].isel(seed=found.shown), found.theory.isel(seed=0)
    text = found.runs["text"].isel(seed=found.shown)
    end = int(np.searchsorted(run["time"].values, found.end, side="right"))
    places = (
        _path(run["output_at"][:end], "as far as the figure goes", 0),
        _path(run["output_at"][end - 1 :], "run on", 1),
        replace(_path(theory["output_at"], "theory", 0), role="theory", arrows=False, group=None),
        _place((0.0, *means[1:]), "false corner (0, mu2, mu3)", 2),
        _place(tuple(means), "test point", 3),
        *(_place(tuple(m * (k == n) for n, m in enumerate(means)), "training clusters", 4)
          for k in range(len(means))),
    )  # fmt: skip
    losses = (
        curve(run["test_loss"][:end], "as far as the figure goes", group=0),
        curve(run["test_loss"][end - 1 :], "run on", group=1),
        curve(theory["test_loss"], "theory", role="theory"),
        curve(text["test_loss"], "with A", role="control"),
        Reference("x", found.end, "the figure ends"),
        Reference("y", means[0] ** 2 / 2, "false corner"),
    )
    return Chart(
        "trajectory",
        "The weakest concept is late, not lost",
        f"Seed {found.shown}, A squared. The output rests at the false corner, where the first "
        "coordinate is missing, and has hardly left it when the figure ends; run on, it moves to "
        "the test point. The loss stays near half the square of the first mean, then falls to "
        "zero, as theory says. With A (grey) nothing is late.",
        (
            Panel(places, "Output at the test point", "output 1", "output 2"),
            over_log_time(loss_panel(losses, "Test loss")),
        ),
    )


def _path(output: xr.DataArray, label: str, group: int) -> Path:
    """A path in space, evenly spaced along its own length."""
    xyz = output.values
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(xyz, axis=0), axis=1))])
    spots = np.linspace(0, length[-1], 120)
    x, y, z = (np.interp(spots, length, xyz[:, k]) for k in range(3))
    return Path(x, y, z, label, group=group)


def _place(point: tuple[float, ...], label: str, group: int) -> Path:
    x, y, z = point
    return Path((x,), (y,), (z,), label, group=group, arrows=False)


def late(found: Found) -> Chart:
    """Share of starts that seem stuck, and measured against predicted times."""
    names = ("A", "A squared", "A squared, run on")
    shares = [share(found.below[n]) for n in ("text", "program", "program, run on")]
    seen = np.flatnonzero(np.isfinite(found.measured))[:MOST_POINTS]
    measured = found.measured[seen]
    marks: tuple[Mark, ...] = (
        Points(found.naive[seen], measured, "naive estimate", role="control"),
        Points(found.schur[seen], measured, "Schur law", group=0),
        Line(np.sort(measured), np.sort(measured), "measured = predicted", role="theory"),
        Reference("y", found.end, "the figure ends"),
    )
    return Chart(
        "late",
        "Who is late, and that the start tells",
        "Left: share of starts with w11 below one half at the end. Right: each point is a start; "
        "the Schur law lies on the diagonal, and tells who is past the figure's end (dotted). "
        "The naive estimate, which looks at w11 alone, expects nearly all of them in time.",
        (
            Panel((share_bars(names, shares),), "Weakest concept not learned", y_label="share"),
            Panel(marks, "When w11 passes one half", "predicted time", "measured time", "log",
                  "log"),
        ),
    )  # fmt: skip


def traps(
    narrow: xr.Dataset, rank_one: xr.Dataset, widths: Sequence[int], laws: Sequence[float]
) -> Chart:
    """Losses of narrow models and of rank-one starts, with the bottleneck law."""
    bundles: list[Mark] = []
    for place, (width, law) in enumerate(zip(widths, laws, strict=True)):
        for seed in range(min(4, narrow.sizes["seed"])):
            loss = narrow["test_loss"].isel({"model.width": place, "seed": seed})
            bundles.append(curve(loss, "" if seed else f"width {width}", group=place))
        bundles.append(Reference("y", law, f"law: {law:.4g}"))
    starts = rank_one["test_loss"].isel(seed=0)
    path = "model.initial_jacobian"
    lines = (
        curve(starts.isel({path: 0}), "rank one"),
        curve(starts.isel({path: 1}), "rank one and a thousandth", role="control", group=1),
        Reference("y", laws[0], f"law of width 1: {laws[0]:.4g}"),
    )
    return Chart(
        "traps",
        "What a true trap looks like",
        "Left: with fewer columns than concepts the weakest ones are never learned and the loss "
        "ends on the dotted lines, half the squared means that are missed. Right: a wide model "
        "that starts with rank one ends like width 1; a thousandth on the diagonal frees it.",
        (
            over_log_time(loss_panel(bundles, "Too few columns")),
            over_log_time(loss_panel(lines, "Missing rank")),
        ),
    )


def below(found: Found) -> Chart:
    """How far the weakest entry falls, against what is its own at the start."""
    run = found.runs["program, run on"]
    major = run["input_jacobian"].values[:, :, 0, 0]
    order = np.argsort(found.own[:, 0])
    picks = [int(order[int(q * (len(order) - 1))]) for q in (0.1, 0.5, 0.9)]
    curves: list[Mark] = []
    for group, seed in enumerate(picks):
        share_ = found.own[seed, 0]
        y = major[seed, 1:] / major[seed, 0]
        curves.append(Line(run["time"].values[1:], y, f"own share {share_:.3f}", group=group))
        curves.append(
            Line(run["time"].values[[1, -1]], (share_, share_), "", role="theory", group=group)
        )
    some = slice(None, None, max(1, -(-len(order) // MOST_POINTS)))
    x, y = found.own[some, 0], found.lowest[some, 0]
    ends = (float(found.own[:, 0].min()), 1.0)
    points = (
        Points(x, y, "starts", group=0),
        Line(ends, ends, "floor: the own share", role="theory"),
    )
    return Chart(
        "below",
        "Leaving the initial phase from below",
        "Left: the weakest major entry falls while stronger concepts are learned, almost to the "
        "share of its start that is its own (dashed), and grows from there. Right: the lowest "
        "value of every start lies above that floor.",
        (
            Panel(tuple(curves), "Three starts", "gradient-flow time", "w11 / its start", "log",
                  "log"),
            Panel(points, "All starts", "S1 / w11 at the start", "lowest w11 / its start", "log",
                  "log"),
        ),
    )  # fmt: skip
