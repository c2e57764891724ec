"""Losses with their extremes, the entries behind them, counts, the printed recursion."""

import numpy as np
import xarray as xr

from dynascope.core.charts import Bars, Chart, Line, Panel, Points, Role
from dynascope.core.run import Run
from dynascope.probes.curves import descents
from dynascope.studies.headlines import headline_chart
from dynascope.studies.measures import share
from dynascope.studies.swing_by import drawing
from dynascope.studies.swing_by.drawing import curve, loss_panel, over_log_time, with_theory
from dynascope.studies.swing_by.events import SMALL_RISE
from dynascope.studies.swing_by.multiple_descent import claims, runs
from dynascope.studies.swing_by.multiple_descent.runs import Settings, study
from dynascope.theories.swing_by.tied_flow import PrintedPath

READINGS = {
    "text": "A (text)",
    "program": "A squared, program's clusters",
    "squared": "A squared, text's clusters",
    "wide": "A, wide Gaussian start",
}


@study.chart(runs.references["triple, text"], runs.theory["triple, text"], claims.text,
             headline=True)  # fmt: skip
def headline(s: Settings, run: Run, theory: xr.Dataset, counts: np.ndarray) -> Chart:
    """The triple descent of the text's reference start."""
    shown = run["time"].values <= 2 * claims.turns(run).ascents[-1].end.time
    measured, predicted = (r.isel(seed=0, step=shown) for r in (run.dataset, theory))
    often = counts >= 3
    return headline_chart(
        "Test loss, Fig. 8 setting, reference start: three descents",
        ("gradient-flow time", measured["time"].values),
        ("test loss", measured["test_loss"].values), ("theory", predicted["test_loss"].values),
        note=f"{often.mean():.0%} of {often.size} uniform starts descend three times",
    )  # fmt: skip


@study.chart(runs.references, runs.uncorrelated, runs.theory)
def reference_starts(
    s: Settings, references: dict[str, Run], alone: dict[str, Run], theory: dict[str, xr.Dataset]
) -> list[Chart]:
    """Figs. 8 and 9: losses with A and with A squared, and the entries between them."""

    def chart(word: str, what: str) -> Chart:
        text, program = (
            (references[n].isel(seed=0), alone[n].isel(seed=0), theory[n].isel(seed=0))
            for n in (f"{word}, text", f"{word}, program")
        )
        return Chart(
            word, f"{word.capitalize()} descent",
            f"Left and right: close-ups that start on the first descent; simulation at the "
            f"program's rate with the exact flow on it, diamonds at the flow's extremes. Middle: "
            f"{what}",
            (_turning_panel("Test loss, A (text)", *text), _entries_panel(text[0], text[2]),
             _turning_panel("Test loss, A squared (program)", *program)),
        )  # fmt: skip

    return [
        chart("triple", "each rise is the suppression of minor entries: of w13 and w23 by w33, "
              "then of w12 by w22; each fall is the growth of the next major entry."),
        chart("quadruple", "the four major entries w44, w33, w22, w11 grow one after the other, "
              "and between two of them the minor entries of the last one are suppressed."),
    ]  # fmt: skip


def _turning_panel(title: str, run: Run, alone: Run, theory: xr.Dataset) -> Panel:
    """A close-up that starts on the first descent, a little above the highest maximum."""
    turns = descents(theory["test_loss"].values, theory["time"].values, SMALL_RISE).turns[1:-1]
    top = 1.4 * max(t.value for t in turns)

    def close_up(run: Run | xr.Dataset) -> xr.DataArray:
        loss = run["test_loss"]
        return loss.isel(step=(loss.values < top) & (loss["time"].values < 50))

    marks = (
        *with_theory(close_up(run), close_up(theory), "simulation"),
        curve(close_up(alone), "uncorrelated start", role="control"),
        Points([t.time for t in turns], [t.value for t in turns], "extremes", role="theory"),
    )
    return over_log_time(loss_panel(marks, title))


def _entries_panel(run: Run, theory: xr.Dataset) -> Panel:
    """Major entries, and the minor ones of the first and the last suppression."""
    d = theory.sizes["output"]
    pairs = [*((k, k) for k in reversed(range(d))), (d - 2, d - 1), (0, 1)]
    marks = drawing.entries(run, theory, pairs)
    return over_log_time(loss_panel(marks, "Jacobian entries, A (text)", "entry"))


@study.chart(runs.counted)
def histogram(s: Settings, counted: dict[str, np.ndarray]) -> Chart:
    """Shares of random starts by number of descents, a panel per number of concepts."""
    panels = []
    for word, most in (("three", 3), ("four", 4)):
        numbers, bars = range(1, most + 1), []
        for group, (reading, label) in enumerate(READINGS.items()):
            starts = counted.get(f"{word} concepts, {reading}")
            if starts is not None:
                shares = [share(starts == n) for n in numbers]
                role: Role = "control" if reading == "wide" else "measured"
                names = tuple(map(str, numbers))
                bars.append(drawing.shares_as(Bars, names, shares, label, group, role))
        title = f"{word.capitalize()} concepts"
        panels.append(Panel(tuple(bars), title, "descents", "share of starts"))
    return Chart(
        "histogram", "How often the test loss descends",
        f"Shares of {s.seeds} random starts, with 95 % intervals. Uniform narrow starts "
        "mostly descend twice; A squared adds descents; wide Gaussian starts, whose rows are "
        "nearly uncorrelated, descend once.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.references["triple, text"], runs.printed["triple, text"])
def recursion(s: Settings, run: Run, printed: PrintedPath) -> Chart:
    """The printed recursion on W beside descent on U, until it runs away."""
    means, stop = np.array(s.triple.means), int(printed.ran_away)
    error = (printed.jacobian[:stop] - np.eye(len(means))) @ means
    loss = (error**2).sum(axis=-1) / 2
    loss = np.where(loss <= 10, loss, np.nan)
    times = np.arange(stop) * s.learning_rate / 2
    shown = times >= run["time"].values[1]
    lines = (
        curve(run["test_loss"].isel(seed=0), "descent on U"),
        Line(times[shown], loss[shown], "recursion on W, as printed", role="control"),
    )
    return Chart(
        "recursion", "Why W is never iterated",
        "The same start and rate. The printed recursion on W drops a term of second order that "
        "keeps W positive semidefinite: it follows the first descent, then runs away (cut at 10).",
        (over_log_time(loss_panel(lines, "Test loss, Fig. 8 setting")),),
    )  # fmt: skip
