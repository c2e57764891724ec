"""Charts of the swing-by study: theory over simulation, who swings by, where it vanishes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Panel, Reference
from dynascope.studies.base import chart
from dynascope.studies.comparisons import share
from dynascope.studies.swing_by.drawing import curve, loss_panel, map_panel, trajectory

if TYPE_CHECKING:
    from dynascope.studies.swing_by.swing_by import Found, SwingBy

SMALL_RISE = 0.002  # a rise of 0.2 % of the first loss counts as swing-by
CLEAR_RISE = 0.01  # for networks with default initialisation
WIDTHS_OF_CLUSTERS = (0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0)


@chart
def reference(study: SwingBy, found: Found) -> Chart:
    """Loss, trajectory and Jacobian entries of the reference start, theory over simulation."""
    run, opposed = (found.runs[n].isel(seed=0) for n in ("reference", "opposed"))
    theory = found.theory.isel(seed=0)
    losses = (
        curve(run["test_loss"], "test loss"),
        curve(theory["test_loss"], "theory", role="theory"),
        curve(opposed["test_loss"], "opposed rows", role="control"),
    )
    paths = (
        trajectory(run["output_at"], "output"),
        trajectory(opposed["output_at"], "opposed rows", role="control"),
    )
    entries = []
    for group, (i, j) in enumerate(((1, 1), (0, 0), (0, 1))):
        label = f"w{i + 1}{j + 1}"
        entries.append(curve(run["input_jacobian"][:, i, j], label, group=group))
        predicted = theory["input_jacobian"][:, i, j]
        entries.append(curve(predicted, "theory" if not group else "", group=group, role="theory"))
    return Chart(
        "reference",
        "Swing-by from a correlated start",
        "Left: the test loss falls, rises while the first concept is suppressed, and falls "
        "again; the theory lies on the simulation. Middle: the output first heads for the "
        "test point, bends to the strong cluster on the second axis, then comes back. Right: "
        "w12 grows with w22 and is pushed down once w22 nears 1; only then does w11 grow.",
        (
            loss_panel(losses, "Test loss"),
            map_panel(study.task.means, paths, "Output at the test point"),
            loss_panel(entries, "Jacobian entries", "entry"),
        ),
    )


@chart
def train_and_test(study: SwingBy, found: Found) -> Chart:
    """Training loss beside test loss, and outputs at the cluster centres (Figs. 17, 18)."""
    run = found.runs["reference"].isel(seed=0)
    paths = (
        trajectory(run["output_at"], "at the test point"),
        trajectory(run["output_at_weak"], "at cluster 1", group=1),
        trajectory(run["output_at_strong"], "at cluster 2", group=2),
    )
    losses = (
        curve(run["test_loss"], "test loss"),
        curve(run["loss"], "training loss", group=1),
    )
    return Chart(
        "train-and-test",
        "Only the test loss swings by",
        "The training loss falls throughout. The output at the weak cluster's centre strays "
        "while the strong concept is learned.",
        (
            loss_panel(losses, "Losses", "loss"),
            map_panel(study.task.means, paths, "Outputs at test point and clusters"),
        ),
    )


@chart
def shares(study: SwingBy, found: Found) -> Chart:
    """Who swings by, and how the shown seed looks."""
    early = slice(0, 121)  # all happens before time 6 of 20
    run = found.runs["figure 5, text"].isel(seed=found.shown, step=early)
    names = ("figure 5, text", "figure 5, code", "equal signals", "low dimension",
             "low dimension, wide", "high dimension", "three layers", "one layer")  # fmt: skip
    found_shares = [share(found.rise[n] > SMALL_RISE) for n in names]
    y = np.array([m.value for m in found_shares])
    error = np.array([2 * m.error for m in found_shares])
    bars = Bars(names, tuple(y), "share of seeds", low=tuple(np.maximum(y - error, 0)),
                high=tuple(np.minimum(y + error, 1)))  # fmt: skip
    losses = (
        curve(run["test_loss"], f"seed {found.shown}"),
        curve(found.random_theory["test_loss"].isel(seed=0, step=early), "theory", role="theory"),
    )
    return Chart(
        "shares",
        "Who swings by",
        f"Left: share of seeds whose test loss rises by more than {SMALL_RISE:.1%} of its "
        "first value, with two standard errors; narrow networks do, wide ones and equal "
        "signals do not. Right: the random start with the largest rise.",
        (
            Panel((bars,), title="Share of seeds", y_label="share"),
            loss_panel(losses, "Largest rise, Fig. 5 setting"),
        ),
    )


@chart
def dimension(study: SwingBy, found: Found) -> Chart:
    """The seed with the largest rise in each kind of network (Figs. 3, 13, 14)."""
    panels = []
    for name in ("low dimension", "high dimension", "three layers"):
        worst = int(np.argmax(found.rise[name]))
        run = found.runs[name].isel(seed=worst)
        panels.append(
            replace(loss_panel([curve(run["test_loss"], f"seed {worst}")], name), y_scale="log")
        )
    return Chart(
        "dimension",
        "Narrow networks swing by, wide ones slow down",
        "The seed with the largest rise of each kind, on a log scale: the narrow networks "
        "rise after their first minimum, the wide one only pauses.",
        tuple(panels),
    )


@chart
def clusters(study: SwingBy, found: Found) -> Chart:
    """Rise of the test loss against the width of the clusters (SIM-OOD)."""
    x = WIDTHS_OF_CLUSTERS
    lines = (
        Line(x, found.rise["wider clusters"].ravel(), "both clusters"),
        Line(x, found.rise["wider weak cluster"].ravel(), "weak cluster only", group=1),
        Reference("x", float(np.sqrt(0.05**2 + 1.5)), "equal signals"),
    )
    return Chart(
        "clusters",
        "Wide clusters take the swing-by away, and can bring it back",
        "The rise falls to zero as the two signals approach each other. Widening only the "
        "weak cluster makes it the strong one past the dotted line, and the swing-by returns.",
        (Panel(lines, x_label="spread of the clusters", y_label="rise / first loss"),),
    )
