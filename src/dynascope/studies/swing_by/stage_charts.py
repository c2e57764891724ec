"""Charts of the Jacobian's stages: entries with brackets, terms, dips, regime, law, kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points, Reference, Span
from dynascope.probes.curves import bump, descents
from dynascope.probes.entries import entry_kinds
from dynascope.studies.swing_by.drawing import curve, loss_panel
from dynascope.studies.swing_by.theorem import LemmaRun
from dynascope.theories.entry_flow import suppression_threshold
from dynascope.theories.stages import stage_brackets

ENTRIES = (("w22", 1, 1), ("w12", 0, 1), ("w11", 0, 0))
WINDOWS = {"w22": 2.0, "w12": 4.0, "w11": 1.5}  # true time in which each of them is decided
MOST_POINTS = 300


def stages(run: xr.Dataset, theory: xr.Dataset, strengths: np.ndarray) -> Chart:
    """Test loss and entries of the reference run, with the stages as brackets."""
    run, theory = run.isel(seed=0), theory.isel(seed=0)
    spans = _brackets(run, strengths)
    end = spans[-1].end
    shown = run["time"].values <= end
    run, theory = run.isel(step=shown), theory.isel(step=shown)
    losses: list[Mark] = [
        curve(run["test_loss"], "test loss"),
        curve(theory["test_loss"], "theory", role="theory"),
    ]
    entries: list[Mark] = []
    for group, (name, i, j) in enumerate(ENTRIES):
        entries.append(curve(run["input_jacobian"][:, i, j], name, group=group))
        label = "theory" if group == len(ENTRIES) - 1 else ""
        predicted = theory["input_jacobian"][:, i, j]
        entries.append(curve(predicted, label, group=group, role="theory"))
    return Chart(
        "stages",
        "Three stages of the Jacobian",
        "Initial growth: all entries grow, the loss falls. First suppression: w22 nears 1 and "
        "pushes w12 down; the first output, which lived on w12, shrinks and the loss rises. Second "
        "growth: w11 takes over. The exact flow (dashed) lies on the simulation.",
        (
            loss_panel((*spans, *entries), "Jacobian entries", "entry"),
            replace(loss_panel((*spans, *losses), "Test loss"), y_scale="log"),
        ),
    )


def _brackets(run: xr.Dataset, strengths: np.ndarray) -> tuple[Span, ...]:
    """The stages of Fig. 5; without a rise of the loss, suppression ends with the next growth."""
    w, times = run["input_jacobian"].values, run["time"].values
    rises = descents(run["test_loss"].values, times).ascents
    found = stage_brackets(w, times, strengths, rises[0].end.time if rises else None)
    ends = {s.name: s.end for s in found}
    first, then = ends["initial growth"], ends.get("first suppression", ends["initial growth"])
    return (
        Span(0.0, first, "initial growth"),
        Span(first, then, "first suppression"),
        Span(then, min(1.7 * then, times[-1]), "second growth"),
    )


def terms(run: xr.Dataset) -> Chart:
    """What moves each of the three entries, and that it adds up."""
    whole, panels = run.isel(seed=0), []
    for name, i, j in ENTRIES:
        run = whole.isel(step=whole["time"].values <= WINDOWS[name])
        parts = {n: run[n][:, i, j] for n in ("growth", "suppression", "noise")}
        total = parts["growth"] - parts["suppression"] - parts["noise"]
        change = total.copy(
            data=np.gradient(run["input_jacobian"].values[:, i, j], 2 * run["time"].values)
        )
        marks = (
            curve(parts["growth"], "growth", group=1),
            curve(-parts["suppression"], "- suppression", group=2),
            curve(-parts["noise"], "- noise", group=3),
            curve(change, "rate of change", group=0),
            curve(total, "sum of the three", group=0, role="theory"),
        )
        panels.append(loss_panel(marks, name, "per paper time"))
    return Chart(
        "terms",
        "Growth, suppression and noise",
        "The measured rate of change of each entry is the sum of the three terms (dashed). "
        "Suppression ends the growth of w22, turns that of w12 around, and noise, which is w12 "
        "squared, holds w11 down until w12 is gone.",
        tuple(panels),
    )


def dips(
    runs: xr.Dataset, correlations: Sequence[float], levels: Sequence[tuple[float, float]]
) -> Chart:
    """The weak entry by correlation, and w22 at the peak of w12 by ratio of signals."""
    lines: list[Mark] = []
    for group, c in enumerate(correlations):
        entry = runs["input_jacobian"].values[group, 0, :, 0, 0]
        times = runs["time"].values
        shown = slice(1, int(np.searchsorted(times, 6.0)), 10)
        lines.append(Line(times[shown], entry[shown], f"correlation {c:g}", group=group))
    ratios = np.geomspace(1.1, 20, 60)
    found, heights = zip(*levels, strict=True)
    marks = (
        Points(found, heights, "measured", group=0),
        Line(ratios, suppression_threshold(ratios, 1.0), "threshold, w11 = 0", role="theory"),
        Reference("y", 0.8, "level of lemma D.7"),
    )
    return Chart(
        "dips",
        "The weak entry dips, and suppression needs no factor 3",
        "Left: the stronger the correlation, the deeper w11 falls before it grows; the text has "
        "it grow throughout. Right: w22 at the peak of w12; the threshold is below 1 for every "
        "ratio of signals. Close signals fall short of it because w11 has grown by then.",
        (
            Panel(tuple(lines), "Weak major entry", "gradient-flow time", "w11", "linear", "log"),
            Panel(marks, "Where suppression starts", "a2 / a1", "w22 at the peak of w12", "log"),
        ),
    )


def regime(
    runs: xr.Dataset, sizes: Sequence[float], strengths: np.ndarray, theorem: LemmaRun
) -> Chart:
    """The peak of the minor entry from ordinary starts down to the theorem's own."""
    peak = np.abs(runs["input_jacobian"].values[:, :, 0, 1]).max(axis=1)
    rise = bump(runs["test_loss"].values)
    power = (1 - strengths[0] / strengths[1]) / 2
    far = np.geomspace(theorem.constants.omega, sizes[0], 50)
    guide = peak[-1] * (far / sizes[-1]) ** power
    peaks: tuple[Mark, ...] = (
        Points(sizes, peak, "peak of w12", group=0),
        Points([theorem.constants.omega], [theorem.largest_minor()], "run that the lemmas are held "
               "against", group=1),
        Line(far, guide, f"size to the power {power:.2f}", role="theory"),
    )  # fmt: skip
    rises: tuple[Mark, ...] = (
        Points(sizes, rise, "rise of the test loss", group=0),
        Line(sizes, rise, "", group=0),
        Reference("y", 0.002, "counts as a rise"),
    )
    return Chart(
        "regime",
        "Theorem and swing-by live far apart",
        "Left: a smaller start means a smaller detour; the theorem's assumptions allow starts of "
        f"at most {theorem.constants.omega:.0e}, where the minor entry peaks at "
        f"{theorem.largest_minor():.0e}. Right: the rise of the test loss is gone by 1e-6.",
        (
            Panel(peaks, "Minor entry", "size of the start", "peak of w12", "log", "log"),
            Panel(rises, "Test loss", "size of the start", "rise / first loss", "log", "log"),
        ),
    )


def law(times: Mapping[tuple[int, float], tuple[np.ndarray, ...]]) -> Chart:
    """Measured half-times against the Schur law and the naive estimate, a panel per scale."""
    panels = []
    for scale in sorted({s for _, s in times}):
        here = [v for (_, s), v in times.items() if s == scale]
        measured, schur, naive = (np.concatenate([v[k].ravel() for v in here]) for k in range(3))
        pick = _some(np.isfinite(measured))
        ends = [measured[pick].min(), measured[pick].max()]
        marks = (
            Points(naive[pick], measured[pick], "naive estimate", role="control"),
            Points(schur[pick], measured[pick], "Schur law", group=0),
            Line(ends, ends, "measured = predicted", role="theory"),
        )
        title = f"U uniform up to {scale:g}"
        panels.append(Panel(marks, title, "predicted time", "measured time", "log", "log"))
    return Chart(
        "law",
        "When each concept is learned",
        "Every point is one direction of one start in two, three or four dimensions: the time at "
        "which its major entry passes one half. The Schur law lies on the diagonal; the naive "
        "estimate, which looks at w_kk alone, is too early for all but the strongest direction.",
        tuple(panels),
    )


def _some(usable: np.ndarray) -> np.ndarray:
    """Places of at most so many points, evenly taken."""
    places = np.flatnonzero(usable)
    return places[:: max(1, -(-len(places) // MOST_POINTS))]


def kinds(dimension: int, concepts: int) -> Chart:
    """The kinds of entries as a picture of the matrix."""
    found = entry_kinds(dimension, concepts)
    places = np.arange(1, dimension + 1)
    height = 2 * found.major + 1 * found.minor
    heat = Heat(places, places, height, "2 major, 1 minor, 0 irrelevant")
    return Chart(
        "kinds",
        "Kinds of Jacobian entries",
        f"{concepts} concepts in {dimension} dimensions: {found.counts[0]} major, "
        f"{found.counts[1]} minor and {found.counts[2]} irrelevant entries. A minor entry of two "
        "concepts belongs to two groups, one at the rim to a single one.",
        (Panel((heat,), "Entries w_ij, rows from below", "j", "i"),),
    )
