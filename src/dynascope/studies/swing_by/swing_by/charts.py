"""Theory over simulation, who swings by, where it vanishes."""

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Line, Panel, Reference
from dynascope.core.run import Run
from dynascope.probes import bump
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by import drawing
from dynascope.studies.swing_by.drawing import curve, loss_panel, map_panel, trajectory, with_theory
from dynascope.studies.swing_by.events import CLEAR_RISE, SMALL_RISE, Shown, swings
from dynascope.studies.swing_by.swing_by import runs
from dynascope.studies.swing_by.swing_by.runs import SPREADS, Settings, study

WIDE = "low dimension, wide"  # the two-dimensional network at the printed width


@study.chart(runs.shown, runs.random_starts["text"], headline=True)
def headline(s: Settings, shown: Shown, random: Run) -> Chart:
    """The seed with the largest rise, and how many seeds rise at all."""
    return headline_chart(
        f"Test loss, Fig. 5 setting, seed {shown.seed} (largest rise of {s.seeds} seeds)",
        ("gradient-flow time", shown.run["time"].values),
        ("test loss", shown.run["test_loss"].values[0]),
        ("theory", shown.theory["test_loss"].values[0]),
        note=f"{swings(random).value:.0%} of {s.seeds} seeds swing by (rise above "
        f"{SMALL_RISE:.1%})",
    )  # fmt: skip


@study.chart(runs.rows["correlated"], runs.rows["opposed"], runs.theory)
def reference(s: Settings, correlated: Run, opposed: Run, theory: xr.Dataset) -> Chart:
    """Loss, trajectory and Jacobian entries of the reference start, theory over simulation."""
    run, other, theory = correlated.isel(seed=0), opposed.isel(seed=0), theory.isel(seed=0)
    losses = (*with_theory(run["test_loss"], theory["test_loss"], "test loss"),
              curve(other["test_loss"], "opposed rows", role="control"))  # fmt: skip
    paths = (trajectory(run["output_at"], "output"),
             trajectory(other["output_at"], "opposed rows", role="control"))  # fmt: skip
    entries = drawing.entries(run, theory, ((1, 1), (0, 0), (0, 1)), named=0)
    return Chart(
        "reference", "Swing-by from a correlated start",
        "Left: the test loss falls, rises while the first concept is suppressed, and falls "
        "again; the theory lies on the simulation. Middle: the output first heads for the "
        "test point, bends to the strong cluster on the second axis, then comes back. Right: "
        "w12 grows with w22 and is pushed down once w22 nears 1; only then does w11 grow.",
        (loss_panel(losses, "Test loss"),
         map_panel(s.task.means[0], s.task.means[1], paths, "Output at the test point"),
         loss_panel(entries, "Jacobian entries", "entry")),
    )  # fmt: skip


@study.chart(runs.rows["correlated"])
def train_and_test(s: Settings, correlated: Run) -> Chart:
    """Training loss beside test loss, and outputs at the cluster centres (Figs. 17, 18)."""
    run = correlated.isel(seed=0)
    paths = (
        trajectory(run["output_at"], "at the test point"),
        trajectory(run["output_at_weak"], "at cluster 1", group=1),
        trajectory(run["output_at_strong"], "at cluster 2", group=2),
    )
    losses = curve(run["test_loss"], "test loss"), curve(run["loss"], "training loss", group=1)
    return Chart(
        "train-and-test", "Only the test loss swings by",
        "The training loss falls throughout. The output at the weak cluster's centre strays "
        "while the strong concept is learned.",
        (loss_panel(losses, "Losses", "loss"),
         map_panel(s.task.means[0], s.task.means[1], paths, "Outputs at test point and clusters")),
    )  # fmt: skip


@study.chart(runs.shown, runs.random_starts, runs.networks)
def shares(s: Settings, shown: Shown, random: dict[str, Run], networks: dict[str, Run]) -> Chart:
    """Who swings by, and the test loss of the shown seed."""
    early = slice(0, 121)  # all happens before time 6 of 20
    run, flow = (x["test_loss"][0, early] for x in (shown.run, shown.theory))
    # The thresholds of the claims: a rise of a network counts from 1 % on, but of the wide one.
    small = {f"figure 5, {name}": r for name, r in random.items()} | {WIDE: networks[WIDE]}
    clear = {name: run for name, run in networks.items() if name != WIDE}

    def bars(runs_: dict[str, Run], least: float) -> Panel:
        found = [swings(run, least) for run in runs_.values()]
        title = f"Rises above {least:.1%} of the first loss"
        return Panel((drawing.shares_as(Bars, tuple(runs_), found, group=0),), title, "", "share")

    return Chart(
        "shares", "Who swings by",
        "Left and middle: share of seeds whose test loss rises by more than so much of its "
        "first value, with 95 % intervals; narrow networks do, wide ones and equal "
        "signals do not. Right: the random start with the largest rise.",
        (bars(small, SMALL_RISE), bars(clear, CLEAR_RISE),
         loss_panel(with_theory(run, flow, f"seed {shown.seed}"), "Largest rise, Fig. 5 setting")),
    )  # fmt: skip


@study.chart(runs.networks)
def dimension(s: Settings, networks: dict[str, Run]) -> Chart:
    """The seed with the largest rise in each kind of network (Figs. 3, 13, 14)."""
    panels = []
    for name in ("low dimension", "high dimension", "three layers"):
        losses = networks[name]["test_loss"]
        worst = int(np.argmax(bump(losses.values)))
        panels.append(loss_panel([curve(losses[worst], f"seed {worst}")], name, y_scale="log"))
    wide = bump(networks["high dimension"]["test_loss"].values).max()
    return Chart(
        "dimension", "Narrow networks swing by, wide ones slow down",
        "The seed with the largest rise of each kind, on a log scale: the narrow networks "
        f"rise after their first minimum, the wide one by {wide:.1%} of its first loss.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.clusters)
def clusters(s: Settings, spread: dict[str, Run]) -> Chart:
    """Rise of the test loss against the spread of the clusters."""
    both, weak = (bump(spread[name]["test_loss"].values).ravel() for name in ("both", "weak"))
    lines = (
        Line(SPREADS, both, "both clusters"),
        Line(SPREADS, weak, "weak cluster only", group=1),
        Reference("x", float(np.sqrt(0.05**2 + 1.5)), "equal signals"),
    )
    return Chart(
        "clusters", "Wide clusters take the swing-by away, and can bring it back",
        "The rise falls to zero as the two signals approach each other. Widening only the "
        "weak cluster makes it the strong one past the dotted line, and the swing-by returns.",
        (Panel(lines, x_label="spread of the clusters", y_label="rise / first loss"),),
    )  # fmt: skip
