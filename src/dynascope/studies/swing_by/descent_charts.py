"""Charts of the multiple descents: losses with their extremes, entries, counts, the recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points
from dynascope.probes.curves import descents
from dynascope.studies.comparisons import share
from dynascope.studies.swing_by.drawing import curve, loss_panel, over_log_time, share_bars
from dynascope.tasks import IdentityMapping
from dynascope.theories.tied_flow import PrintedPath

if TYPE_CHECKING:
    from dynascope.studies.swing_by.multiple_descent import Found

SMALL_RISE = 0.002  # of the first loss; smaller turns are not counted
READINGS = {
    "text": "A (text)",
    "program": "A squared, program's clusters",
    "squared": "A squared, text's clusters",
    "wide": "A, wide Gaussian start",
}


def reference_chart(found: Found, word: str, title: str, what: str) -> Chart:
    """Losses with A and with A squared, and the entries between them; `word` names the starts."""
    text, program = f"{word}, text", f"{word}, program"
    return Chart(
        word,
        title,
        f"Left and right: close-ups that start on the first descent; simulation at the printed "
        f"rate with the exact flow on it, diamonds at the flow's extremes. Middle: {what}",
        (
            _turning_panel(found, text, "Test loss, A (text)"),
            _entries_panel(found, text),
            _turning_panel(found, program, "Test loss, A squared (program)"),
        ),
    )


def _turning_panel(found: Found, name: str, title: str) -> Panel:
    """A close-up that starts on the first descent, a little above the highest maximum."""
    run, theory = found.runs[name].isel(seed=0), found.theory[name].isel(seed=0)
    turns = descents(theory["test_loss"].values, theory["time"].values, SMALL_RISE).turns[1:-1]
    alone = found.runs[f"{name}, uncorrelated"].isel(seed=0)
    top = 1.4 * max(t.value for t in turns)

    def close_up(values: xr.DataArray) -> xr.DataArray:
        return values.isel(step=(values.values < top) & (values["time"].values < 50))

    marks = (
        curve(close_up(run["test_loss"]), "simulation"),
        curve(close_up(theory["test_loss"]), "theory", role="theory"),
        curve(close_up(alone["test_loss"]), "uncorrelated start", role="control"),
        Points([t.time for t in turns], [t.value for t in turns], "extremes", role="theory"),
    )
    return over_log_time(loss_panel(marks, title))


def _entries_panel(found: Found, name: str) -> Panel:
    """Major entries, and the minor ones of the first and the last suppression."""
    run, theory = found.runs[name].isel(seed=0), found.theory[name].isel(seed=0)
    d = run.sizes["output"]
    majors = [(k, k) for k in reversed(range(d))]
    pairs = [*majors, (d - 2, d - 1), (0, 1)]
    marks: list[Mark] = []
    for group, (i, j) in enumerate(pairs):
        label = f"w{i + 1}{j + 1}"
        marks.append(curve(run["input_jacobian"][:, i, j], label, group=group))
        predicted = theory["input_jacobian"][:, i, j]
        marks.append(
            curve(predicted, "theory" if (i, j) == pairs[-1] else "", group=group, role="theory")
        )
    return over_log_time(loss_panel(marks, "Jacobian entries, A (text)", "entry"))


def histogram_chart(counts: dict[str, np.ndarray], starts: int) -> Chart:
    """Shares of random starts by number of descents, a panel per number of concepts."""
    panels = []
    for word, most in (("three", 3), ("four", 4)):
        bars = [
            share_bars(
                tuple(str(n + 1) for n in range(most)),
                [share(counts[f"{word} concepts, {reading}"] == n + 1) for n in range(most)],
                label,
                group,
                "control" if reading == "wide" else "measured",
            )
            for group, (reading, label) in enumerate(READINGS.items())
            if f"{word} concepts, {reading}" in counts
        ]
        title = f"{word.capitalize()} concepts"
        panels.append(Panel(tuple(bars), title, "descents", "share of starts"))
    return Chart(
        "histogram",
        "How often the test loss descends",
        f"Shares of {starts} random starts, with two standard errors. Uniform narrow starts mostly "
        "descend twice; A squared adds descents; wide Gaussian starts, whose rows are nearly "
        "uncorrelated, descend once.",
        tuple(panels),
    )


def recursion_chart(
    run: xr.Dataset, printed: PrintedPath, task: IdentityMapping, rate: float
) -> Chart:
    """The printed recursion on W beside descent on U, until it runs away."""
    means, stop = np.array(task.means), int(printed.ran_away)
    error = (printed.jacobian[:stop] - np.eye(len(means))) @ means
    loss = np.minimum((error**2).sum(axis=-1) / 2, 10.0)
    times = np.arange(stop) * rate
    shown = times >= run["time"].values[1]
    lines = (
        curve(run["test_loss"].isel(seed=0), "descent on U"),
        Line(times[shown], loss[shown], "recursion on W, as printed", role="control"),
    )
    return Chart(
        "recursion",
        "Why W is never iterated",
        "The same start and rate. The printed recursion on W drops a term of second order that "
        "keeps W positive semidefinite: it follows the first descent, then runs away (cut at 10).",
        (over_log_time(loss_panel(lines, "Test loss, Fig. 8 setting")),),
    )
