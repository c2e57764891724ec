"""Entries with their stages, terms, dips, the theorem's regime, times to learn, kinds."""

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Mark, Panel, Points, Reference, Span
from dynascope.core.run import Run
from dynascope.probes.curves import bump, descents
from dynascope.probes.entries import entry_kinds
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by import drawing
from dynascope.studies.swing_by.drawing import curve, loss_panel, with_theory
from dynascope.studies.swing_by.events import SMALL_RISE
from dynascope.studies.swing_by.jacobian_stages import claims, learning_times, peaks, runs, theorem
from dynascope.studies.swing_by.jacobian_stages.runs import SIZES, Settings, study
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.entry_flow import suppression_threshold
from dynascope.theories.swing_by.stages import stage_brackets

ENTRIES = {(1, 1): 2.0, (0, 1): 4.0, (0, 0): 1.5}  # and the true time in which each is decided
MOST_POINTS = 300


@study.chart(claims.reference, runs.theory, claims.by_correlation, headline=True)
def headline(s: Settings, reference: Run, theory: xr.Dataset, starts: dict[float, Run]) -> Chart:
    """The weak major entry of the reference: it dips before it grows."""
    shown = reference["time"].values <= 1.3
    measured, predicted = (r["input_jacobian"].values[0, shown, 0, 0] for r in (reference, theory))
    paths = (starts[c]["input_jacobian"].values[0] for c in (0.9, 0.99))
    moderate, strong = (claims.deepest_dip(path, 0) for path in paths)
    return headline_chart(
        f"Weak major entry w11, rows correlated at {s.correlation:g}",
        ("gradient-flow time", reference["time"].values[shown]), ("w11", measured),
        ("theory", predicted),
        note=f"it falls by {moderate:.0%} (by {strong:.0%} at correlation 0.99) where the text "
        "has it grow throughout",
    )  # fmt: skip


@study.chart(claims.reference, runs.theory)
def stages(s: Settings, reference: Run, theory: xr.Dataset) -> Chart:
    """Fig. 5: entries and loss with the stages as brackets, theory over simulation."""
    spans = _brackets(reference.isel(seed=0), signal(s.task))
    shown = reference["time"].values <= spans[-1].end
    run, flow = (r.isel(seed=0, step=shown) for r in (reference.dataset, theory))
    losses = with_theory(run["test_loss"], flow["test_loss"], "test loss")
    entries = drawing.entries(run, flow, tuple(ENTRIES))
    return Chart(
        "stages", "Three stages of the Jacobian",
        "Initial growth: all entries grow, the loss falls. First suppression: w22 nears 1 and "
        "pushes w12 down; the first output, which lived on w12, shrinks and the loss rises. Second "
        "growth: w11 takes over. The exact flow (dashed) lies on the simulation.",
        (loss_panel((*spans, *entries), "Jacobian entries", "entry"),
         loss_panel((*spans, *losses), "Test loss", y_scale="log")),
    )  # fmt: skip


def _brackets(run: Run, strengths: np.ndarray) -> tuple[Span, ...]:
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


@study.chart(claims.reference)
def terms(s: Settings, reference: Run) -> Chart:
    """What moves each of the three entries, and that it adds up."""
    panels = []
    for (i, j), window in ENTRIES.items():
        run = reference.isel(seed=0, step=reference["time"].values <= window)
        growth, suppression, noise, entry = (
            run[n][:, i, j] for n in ("growth", "suppression", "noise", "input_jacobian")
        )
        change = entry.copy(data=np.gradient(entry.values, 2 * run["time"].values))
        marks = (
            curve(growth, "growth", group=1),
            curve(-suppression, "- suppression", group=2),
            curve(-noise, "- noise", group=3),
            curve(change, "rate of change", group=0),
            curve(growth - suppression - noise, "sum of the three", group=0, role="theory"),
        )
        panels.append(loss_panel(marks, f"w{i + 1}{j + 1}", "per paper time"))
    return Chart(
        "terms", "Growth, suppression and noise",
        "The measured rate of change of each entry is the sum of the three terms (dashed). "
        "Suppression ends the growth of w22, turns that of w12 around, and noise, which is w12 "
        "squared, holds w11 down until w12 is gone.",
        tuple(panels),
    )  # fmt: skip


@study.chart(claims.by_correlation, claims.by_mean)
def dips(s: Settings, starts: dict[float, Run], signals: dict[float, Run]) -> Chart:
    """The weak entry by correlation, and w22 at the peak of w12 by ratio of signals."""
    lines = []
    for group, (correlation, run) in enumerate(starts.items()):
        times, entry = run["time"].values, run["input_jacobian"].values[0, :, 0, 0]
        shown = slice(1, int(np.searchsorted(times, 6.0)), 10)
        lines.append(Line(times[shown], entry[shown], f"correlation {correlation:g}", group=group))
    strengths = [signal(run.experiment.task) for run in signals.values()]
    found, ratios = [a[1] / a[0] for a in strengths], np.geomspace(1.1, 20, 60)
    heights = [peaks.at_peak(run)[1, 1] for run in signals.values()]
    marks = (
        Points(found, heights, "measured", group=0),
        Line(ratios, suppression_threshold(ratios, 1.0), "threshold, w11 = 0", role="theory"),
        Reference("y", 0.8, "level of lemma D.7"),
    )
    return Chart(
        "dips", "The weak entry dips, and suppression needs no factor 3",
        "Left: the stronger the correlation, the deeper w11 falls before it grows; the text has "
        "it grow throughout. Right: w22 at the peak of w12; the threshold is below 1 for every "
        "ratio of signals. Close signals fall short of it because w11 has grown by then.",
        (Panel(tuple(lines), "Weak major entry", "gradient-flow time", "w11", "linear", "log"),
         Panel(marks, "Where suppression starts", "a2 / a1", "w22 at the peak of w12", "log")),
    )  # fmt: skip


@study.chart(runs.by["size"], theorem.correlated)
def regime(s: Settings, starts: dict[float, Run], lemmas: theorem.LemmaRun) -> Chart:
    """The peak of the minor entry from ordinary starts down to the theorem's own."""
    peak = [np.abs(run["input_jacobian"].values[0, :, 0, 1]).max() for run in starts.values()]
    rise = [float(bump(run["test_loss"].values[0])) for run in starts.values()]
    weak, strong = signal(s.task)
    power, omega = (1 - weak / strong) / 2, lemmas.constants.omega
    far = np.geomspace(omega, SIZES[0], 50)
    peaks: tuple[Mark, ...] = (
        Points(SIZES, peak, "peak of w12", group=0),
        Points([omega], [lemmas.largest_minor], "run that the lemmas are held against", group=1),
        Line(far, peak[-1] * (far / SIZES[-1]) ** power, f"size to the power {power:.2f}",
             role="theory"),
    )  # fmt: skip
    rises: tuple[Mark, ...] = (
        Points(SIZES, rise, "rise of the test loss", group=0),
        Line(SIZES, rise, "", group=0),
        Reference("y", SMALL_RISE, "counts as a rise"),
    )
    return Chart(
        "regime", "Theorem and swing-by live far apart",
        "Left: a smaller start means a smaller detour; the theorem's assumptions allow starts of "
        f"at most {omega:.0e}, where the minor entry peaks at {lemmas.largest_minor:.0e}. Right: "
        "the rise of the test loss is gone by 1e-6.",
        (Panel(peaks, "Minor entry", "size of the start", "peak of w12", "log", "log"),
         Panel(rises, "Test loss", "size of the start", "rise / first loss", "log", "log")),
    )  # fmt: skip


@study.chart(learning_times.times)
def law(s: Settings, times: dict[tuple[int, float], dict[str, np.ndarray]]) -> Chart:
    """Measured half-times against the Schur law and the naive estimate, a panel per scale."""
    panels = []
    for scale in sorted({scale for _, scale in times}):
        here = [found for (_, at), found in times.items() if at == scale]
        measured, schur, naive = (
            np.concatenate([t[kind].ravel() for t in here])
            for kind in ("measured", "schur", "naive")
        )
        places = np.flatnonzero(np.isfinite(measured))
        pick = places[:: max(1, -(-len(places) // MOST_POINTS))]
        ends = [measured[pick].min(), measured[pick].max()]
        marks = (
            Points(naive[pick], measured[pick], "naive estimate", role="control"),
            Points(schur[pick], measured[pick], "Schur law", group=0),
            Line(ends, ends, "measured = predicted", role="theory"),
        )
        title = f"U uniform up to {scale:g}"
        panels.append(Panel(marks, title, "predicted time", "measured time", "log", "log"))
    return Chart(
        "law", "When each concept is learned",
        "Every point is one direction of one start in two, three or four dimensions: the time at "
        "which its major entry passes one half. The Schur law lies on the diagonal; the naive "
        "estimate, which looks at w_kk alone, is too early for all but the strongest direction.",
        tuple(panels),
    )  # fmt: skip


@study.chart()
def kinds(s: Settings) -> Chart:
    """Fig. 4: the kinds of entries as a picture of the matrix."""
    found, places = entry_kinds(5, 3), np.arange(1, 6)
    major, minor, irrelevant = found.counts
    kind = 2 * found.major + 1 * found.minor
    heat = Heat(places, places, kind, categories=("irrelevant", "minor", "major"))
    return Chart(
        "kinds", "Kinds of Jacobian entries",
        f"3 concepts in 5 dimensions: {major} major, {minor} minor and {irrelevant} irrelevant "
        "entries. A minor entry of two concepts belongs to two groups, one at the rim to a single "
        "one.",
        (Panel((heat,), "Entries w_ij", "j", "i", matrix=True),),
    )  # fmt: skip
