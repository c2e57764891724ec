"""The staircase at all scales, entries that appear one by one, and the linear network."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.rank_increase.rank_staircase import runs
from dynascope.studies.rank_increase.rank_staircase.runs import Settings, study
from dynascope.studies.rank_increase.trajectories import (
    SUPPORT,
    Followed,
    Trajectory,
    distance,
    escape,
)
from dynascope.theories import Stages

TIME = "t / log(1 / alpha)"


def staircase(stages: Stages, until: float) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the predicted loss."""
    ends = np.concatenate([[0.0], np.repeat(stages.times, 2), [until]])
    return ends, np.repeat(stages.losses, 2)


@study.chart(runs.toy, headline=True)
def headline(s: Settings, toy: Followed) -> Chart:
    """The smallest start, with the staircase over it."""
    flow = toy.flows[-1]
    return headline_chart(
        f"Loss of the toy problem from a start of size {flow.alpha:g}", (TIME, flow.times),
        ("loss", flow.losses), ("theory", toy.stages.loss_at(flow.times)),
        note=f"mean distance to the staircase: {distance(flow, toy.stages):.1%} of the first loss",
    )  # fmt: skip


@study.chart(runs.toy)
def scales(s: Settings, toy: Followed) -> Chart:
    """Fig. 2a: the loss at every scale, and how close it is to the staircase."""
    until = toy.flows[0].times[-1]
    lines = [Line(f.times, f.losses, f"alpha = {f.alpha:g}", group=k)
             for k, f in enumerate(toy.flows)]  # fmt: skip
    theory = Line(*staircase(toy.stages, until), "Algorithm 1", "theory")
    logs = [np.log10(1 / f.alpha) for f in toy.flows]
    apart = Points(logs, [distance(f, toy.stages) for f in toy.flows], "", group=0)
    return Chart(
        "staircase", "Smaller starts follow the staircase more closely",
        "Left: the loss rests at the predicted plateaus and drops between them; the smaller the "
        "start, the sharper. Right: the mean distance to the dashed staircase.",
        (Panel((*lines, theory), "Loss", TIME, "loss"),
         Panel((apart,), "Distance to the staircase", "log10(1 / alpha)", "share of first loss",
               y_scale="log")),
    )  # fmt: skip


def _learned(toy: Followed, first: int, last: int) -> list[int]:
    """Entries of a range that are learned at any scale, or predicted to be."""
    large = SUPPORT * np.abs(toy.stages.products).max()
    seen = np.max([np.abs(f.products).max(axis=0) for f in toy.flows[1:]], axis=0) > large
    wanted = seen | toy.stages.products.any(axis=0)
    return [i for i in range(first, last) if wanted[i]]


def _entries(flow: Trajectory, stages: Stages, chosen: list[int], first: int) -> list[Line]:
    """Some entries, each with the height that is predicted for it."""
    marks = []
    times = np.concatenate([[0.0], np.repeat(stages.times, 2), [flow.times[-1]]])
    for group, i in enumerate(chosen):
        label = f"{i - first}" if group < 8 else ""
        marks.append(Line(flow.times, flow.products[:, i], label, group=group))
        marks.append(Line(times, np.repeat(stages.products[:, i], 2), "", "theory", group))
    return marks


def _entries_chart(name: str, title: str, toy: Followed, first: int, last: int) -> Chart:
    """One product's entries, a panel for each scale."""
    panels, chosen = [], _learned(toy, first, last)
    for flow in toy.flows:
        marks = _entries(flow, toy.stages, chosen, first)
        shown = tuple(marks) or (Reference("y", 0.0, "nothing learned"),)
        panels.append(Panel(shown, f"alpha = {flow.alpha:g}", TIME, "entry"))
    return Chart(
        name, title,
        "Entries that are ever learned, with the heights that Algorithm 1 predicts (dashed). From "
        "large starts they rise together and smoothly; from 1e-32 one after the other.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.toy)
def score_entries(s: Settings, toy: Followed) -> Chart:
    """Figs. 2b, 8: entries of w_K w_Q at every scale."""
    title = "Entries of w_K w_Q appear one by one"
    return _entries_chart("scores", title, toy, 0, s.task.size)


@study.chart(runs.toy)
def value_entries(s: Settings, toy: Followed) -> Chart:
    """Figs. 2b, 9: entries of w_V w_O at every scale."""
    title = "Entries of w_V w_O appear one by one"
    return _entries_chart("values", title, toy, s.task.size, 2 * s.task.size)


@study.chart(runs.scales)
def all_entries(s: Settings, run: Run) -> Chart:
    """Figs. 8, 9: how many entries are learned, at every scale."""
    largest = np.abs(run["products"].values).max()
    lines = []
    for k, alpha in enumerate(s.alphas):
        learned = np.abs(run["products"].isel({"dynamics.alpha": k, "seed": 0}).values)
        count = (learned > 0.02 * largest).sum(axis=1)
        lines.append(Line(run["time"].values, count, f"alpha = {alpha:g}", group=k))
    return Chart(
        "rank", "The number of learned entries rises by one at a time",
        "Entries above 2 % of the largest one. Small starts show single steps.",
        (Panel(tuple(lines), "", TIME, "learned entries"),),
    )  # fmt: skip


@study.chart(runs.separate, runs.returning)
def linear(s: Settings, separate: Followed, returning: Followed) -> Chart:
    """Diagonal linear networks: the error of escape times, and an entry that leaves."""
    stages = separate.stages
    points = []
    for k in range(len(stages.order)):
        late = [abs(escape(f, stages, k) / stages.times[k] - 1) for f in separate.flows]
        logs = [np.log(1 / f.alpha) for f in separate.flows]
        points.append(Line(logs, late, f"target {runs.SEPARATE[stages.order[k]]:g}", group=k))
    flow, found = returning.at(1e-300), returning.stages
    times = np.concatenate([[0.0], np.repeat(found.times, 2), [flow.times[-1]]])
    marks = []
    for i in range(3):
        marks.append(Line(flow.times, flow.products[:, i], f"entry {i}", group=i))
        marks.append(Line(times, np.repeat(found.products[:, i], 2), "", "theory", i))
    return Chart(
        "linear", "Closed forms: how fast the limit is reached, and an entry that returns",
        "Left: relative error of escape times against log(1 / alpha), slope -1. Right: with "
        "correlated inputs entry 0 is learned with the wrong sign, leaves, and returns much later.",
        (Panel(tuple(points), "Error of escape times", "log(1 / alpha)", "relative error", "log",
               "log"),
         Panel(tuple(marks), "An entry leaves and returns, alpha = 1e-300", TIME, "entry")),
    )  # fmt: skip
