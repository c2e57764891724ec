"""Order by strength, paths in the plane, sample sheets, error, speed, and what was readable."""

from dataclasses import replace

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference, picture_grid
from dynascope.core.run import Run
from dynascope.studies.diffusion import drawing
from dynascope.studies.diffusion.concept_diffusion import runs
from dynascope.studies.diffusion.concept_diffusion.runs import (
    Classified,
    Reading,
    Settings,
    Sheets,
    study,
)

SHOWN = 9  # checkpoints of a sample sheet
ROWS = 4  # pictures of a sheet at each


def _columns(count: int) -> np.ndarray:
    """Checkpoints for a sheet, evenly spread over those there are."""
    return np.unique(np.linspace(0, count - 1, min(SHOWN, count)).round().astype(int))


@study.chart(runs.sheets, headline=True)
def headline(s: Settings, sheets: dict[float, Sheets]) -> Chart:
    """The order of the two concepts against the strength of colour (Fig. 6a)."""
    strengths, mean, error = drawing.order_points({c: v.paths for c, v in sheets.items()})
    between = len(strengths) > 2
    curve = Line(strengths, mean, "mean over seeds", group=0, low=mean - error, high=mean + error)
    panel = Panel(
        (curve, Points(strengths, mean, group=0), Reference("y", 0.0, "both at once")),
        "", "strength of colour", "log(step of size / step of colour)",
    )  # fmt: skip
    return Chart(
        "headline", "Which concept is learned first, by the strength of colour",
        "Above 0 colour is learned first, below 0 size. The band is one standard error over seeds: "
        f"{s.seeds} at both ends" + (f", {s.seeds_between} between." if between else "."),
        (panel,),
    )  # fmt: skip


@study.chart(runs.sheets)
def plane(s: Settings, sheets: dict[float, Sheets]) -> Chart:
    """Paths in the plane of the two concepts (Fig. 6a)."""
    marks = [*drawing.clusters()]
    for i, (colour, sheet) in enumerate(sheets.items()):
        marks.append(drawing.mean_path(sheet.paths, f"colour {colour:g}", i))
        marks.append(drawing.swing_mark(sheet.paths, i))
    panel = Panel(tuple(marks), "", "blue", "small", equal=True)
    return Chart(
        "plane", "What is generated when a small blue disc is asked for",
        "Shares of readable pictures that are blue and small, along training, mean over the seeds "
        "that can be read to the end. A strong colour bends the path to big blue discs, a weak one "
        "to small red ones; a point marks the largest lead.", (panel,),
    )  # fmt: skip


@study.chart(runs.sheets)
def curves(s: Settings, sheets: dict[float, Sheets]) -> Chart:
    """Concept error and speed (Fig. 6b, c)."""
    paths = {f"colour {c:g}": sheet.paths for c, sheet in sheets.items()}
    return Chart(
        "curves", "Error and speed along training",
        "The concept error is 1 where neither concept is there and 0 at the target. A second "
        "descent would be a rise in between. Bands are one standard error over the seeds that can "
        "be read to the end; the speed is on a log axis, where an exponential slow-down is a "
        "straight line.",
        (drawing.error_panel(paths), drawing.speed_panel(paths)),
    )  # fmt: skip


def _sheet_panel(sheet: Sheets, title: str) -> Panel:
    at = _columns(len(sheet.steps))
    pictures = sheet.pictures[0][at, :ROWS].swapaxes(0, 1)
    rows = tuple(f"{i + 1}" for i in range(len(pictures)))
    columns = tuple(f"{step:.0f}" for step in sheet.steps[at])
    grid = picture_grid(pictures, rows, columns)
    return Panel((grid,), title, "step", "picture", equal=True)


def _declare_sheet(name: str, which: int, words: str) -> None:
    @study.chart(runs.sheets)
    def sheet(s: Settings, sheets: dict[float, Sheets]) -> Chart:
        colour = s.colours[which]
        return Chart(
            f"sheet-{name}", f"Asked for small blue discs along training, colour {colour:g}",
            f"Seed 0, the same noise in each row, {s.sampling_steps} steps of the sampler. {words}",
            (_sheet_panel(sheets[colour], ""),),
        )  # fmt: skip


_declare_sheet("weak", 0, "Discs are small before they are blue.")
_declare_sheet("strong", -1, "Discs are blue before they are small.")


@study.chart(runs.readings)
def data(s: Settings, readings: dict[float, Reading]) -> Chart:
    """True pictures of all four kinds (Fig. 19), and how they are read."""
    names = ("big red", "small red", "big blue", "small blue (held out)")
    panels = []
    for colour in (s.colours[0], s.colours[-1]):
        found = readings[colour]
        grid = picture_grid(found.pictures, names, tuple(map(str, range(found.pictures.shape[1]))))
        panels.append(Panel((grid,), f"colour {colour:g}, size {s.task.size:g}", equal=True))
    readable = np.concatenate([r.readable for r in readings.values()])
    right = np.concatenate([r.right for r in readings.values()])[readable]
    return Chart(
        "data", "The four kinds of discs at the weakest and at the strongest colour",
        f"Of true pictures {readable.mean():.2%} are readable by their pixels, and "
        f"{right.mean():.2%} of these are read right.", tuple(panels),
    )  # fmt: skip


@study.chart(runs.sheets)
def readable(s: Settings, sheets: dict[float, Sheets]) -> Chart:
    """How many pictures had one readable disc, and how many discs were small and blue."""
    marks, both = [], []
    for i, (colour, sheet) in enumerate(sheets.items()):
        name = f"colour {colour:g}"
        marks.append(drawing.band(sheet.steps, sheet.paths.readable, name, i))
        both.append(drawing.band(sheet.steps, sheet.together, name, i))
    return Chart(
        "readable", "Pictures that could be read, and those that were right",
        "Left: share of generated pictures with one readable disc. Right: share of these that are "
        "small and blue. Pictures without one readable disc are left out, never guessed.",
        (Panel(tuple(marks), "Readable", "step", "share", x_scale="log"),
         Panel(tuple(both), "Small and blue", "step", "share", x_scale="log")),
    )  # fmt: skip


@study.chart(runs.classified, runs.sheets, runs.without_meaning)
def witnesses(
    s: Settings, classified: dict[float, Classified], sheets: dict[float, Sheets], control: Sheets
) -> Chart:
    """The classifier's paths over those of the pixels, and the control without meaning."""
    marks = [*drawing.clusters()]
    for i, (colour, found) in enumerate(classified.items()):
        marks.append(drawing.mean_path(sheets[colour].paths, f"colour {colour:g}, pixels", i))
        path = drawing.mean_path(found.paths, f"colour {colour:g}, classifier", i)
        marks.append(replace(path, role="control"))
    agreement = np.concatenate([c.agreement for c in classified.values()]).mean()
    strong = sheets[s.colours[-1]]
    right = (
        drawing.band(
            strong.steps, strong.together[strong.paths.to_the_end()], f"colour {s.colours[-1]:g}", 0
        ),
        Line(control.steps, control.together.mean(0), "conditions shuffled", "control"),
    )
    return Chart(
        "witnesses", "The trained classifier beside the pixels, and conditions without meaning",
        f"Left: both ways of reading; they agree on {agreement:.1%} of the answers on readable "
        "pictures. Right: discs that are small and blue, with true and with shuffled conditions.",
        (Panel(tuple(marks), "Two ways of reading", "blue", "small", equal=True),
         Panel(right, "Small and blue", "step", "share", x_scale="log")),
    )  # fmt: skip


@study.chart(runs.trained)
def bound(s: Settings, trained: Run) -> Chart:
    """The training objective in its parts."""
    panels = tuple(
        drawing.bound_panel(trained.sel(**{"task.colour": c}), f"colour {c:g}")
        for c in (s.colours[0], s.colours[-1])
    )
    return Chart(
        "bound", "The variational bound in its three parts",
        "Reconstruction hangs on the learned schedule alone: its first level falls towards the "
        "data noise. Diffusion is what the network learns.", panels,
    )  # fmt: skip
