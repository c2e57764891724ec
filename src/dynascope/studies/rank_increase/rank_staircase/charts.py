"""The staircase at all scales, entries that appear one by one, and the linear network."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
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


Draws = dict[int, Followed]


def _first(draws: Draws) -> tuple[int, Followed]:
    """The draw that is shown, with its seed, until its last plateau that is predicted ends."""
    seed, shown = next(iter(draws.items()))
    return seed, shown._replace(flows=tuple(_until(f, shown.stages.until) for f in shown.flows))


def _until(flow: Trajectory, end: float) -> Trajectory:
    rows = flow.times <= end
    return flow._replace(
        times=flow.times[rows], losses=flow.losses[rows], products=flow.products[rows]
    )


@study.chart(runs.toy, headline=True)
def headline(s: Settings, toy: Draws) -> Chart:
    """The smallest start of the first draw, with the staircase over it."""
    seed, shown = _first(toy)
    flow = shown.flows[-1]
    apart = [distance(one.flows[-1], one.stages) for one in toy.values()]
    return headline_chart(
        f"Loss of the toy problem from a start of size {flow.alpha:g}, seed {seed}",
        (TIME, flow.times), ("loss", flow.losses), ("theory", shown.stages.loss_at(flow.times)),
        note=f"mean distance to the staircase: {apart[0]:.1%} of the first loss; "
        f"{min(apart):.1%} to {max(apart):.1%} in {len(apart)} draws",
    )  # fmt: skip


@study.chart(runs.toy)
def scales(s: Settings, toy: Draws) -> Chart:
    """Fig. 2a: the loss at every scale, and how close it is to the staircase in all draws."""
    seed, shown = _first(toy)
    until = shown.flows[0].times[-1]
    lines = [Line(f.times, f.losses, f"alpha = {f.alpha:g}", group=k)
             for k, f in enumerate(shown.flows)]  # fmt: skip
    theory = Line(*staircase(shown.stages, until), "Algorithm 1", "theory")
    logs = [np.log10(1 / f.alpha) for f in shown.flows]
    apart = [Line(logs, [distance(f, one.stages) for f in one.flows], "" if k else "one draw",
                  group=0) for k, one in enumerate(toy.values())]  # fmt: skip
    return Chart(
        "staircase", "Smaller starts follow the staircase more closely",
        "Left: the loss rests at the predicted plateaus and drops between them; the smaller the "
        "start, the sharper. Right: the mean distance to the dashed staircase, one line a draw.",
        (Panel((*lines, theory), f"Loss, seed {seed}", TIME, "loss"),
         Panel(tuple(apart), "Distance to the staircase", "log10(1 / alpha)", "share of first loss",
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


def _entries_chart(name: str, title: str, draws: Draws, first: int, last: int) -> Chart:
    """One product's entries in the first draw, a panel for each scale."""
    seed, toy = _first(draws)
    panels, chosen = [], _learned(toy, first, last)
    for flow in toy.flows:
        marks = _entries(flow, toy.stages, chosen, first)
        shown = tuple(marks) or (Reference("y", 0.0, "nothing learned"),)
        panels.append(Panel(shown, f"alpha = {flow.alpha:g}", TIME, "entry"))
    return Chart(
        name, title,
        "Entries that are ever learned, with the heights that Algorithm 1 predicts (dashed). From "
        f"large starts they rise together, smoothly; from 1e-32 one after the other. Seed {seed}.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.toy)
def score_entries(s: Settings, toy: Draws) -> Chart:
    """Figs. 2b, 8: entries of w_K w_Q at every scale."""
    title = "Entries of w_K w_Q appear one by one"
    return _entries_chart("scores", title, toy, 0, s.task.size)


@study.chart(runs.toy)
def value_entries(s: Settings, toy: Draws) -> Chart:
    """Figs. 2b, 9: entries of w_V w_O at every scale."""
    title = "Entries of w_V w_O appear one by one"
    return _entries_chart("values", title, toy, s.task.size, 2 * s.task.size)


@study.chart(runs.toy)
def all_entries(s: Settings, toy: Draws) -> Chart:
    """Figs. 8, 9: how many entries are learned, at every scale."""
    seed, shown = _first(toy)
    largest = max(np.abs(flow.products).max() for flow in shown.flows)
    lines = []
    for k, flow in enumerate(shown.flows):
        count = (np.abs(flow.products) > 0.02 * largest).sum(axis=1)
        lines.append(Line(flow.times, count, f"alpha = {flow.alpha:g}", group=k))
    return Chart(
        "rank", "The number of learned entries rises by one at a time",
        f"Entries above 2 % of the largest one, seed {seed}. Small starts show single steps.",
        (Panel(tuple(lines), "", TIME, "learned entries"),),
    )  # fmt: skip


@study.chart(runs.separate, runs.returning)
def linear(s: Settings, separate: Draws, returning: Followed) -> Chart:
    """Diagonal linear networks: the error of escape times, and an entry that leaves."""
    seed, shown = _first(separate)
    stages = shown.stages
    points = []
    for k in range(len(stages.order)):
        late = [abs(escape(f, stages, k) / stages.times[k] - 1) for f in shown.flows]
        logs = [np.log(1 / f.alpha) for f in shown.flows]
        points.append(Line(logs, late, f"target {runs.SEPARATE[stages.order[k]]:g}", group=k))
    flow, found = returning.at(1e-300), returning.stages
    times = np.concatenate([[0.0], np.repeat(found.times, 2), [flow.times[-1]]])
    marks = []
    for i in range(3):
        marks.append(Line(flow.times, flow.products[:, i], f"entry {i}", group=i))
        marks.append(Line(times, np.repeat(found.products[:, i], 2), "", "theory", i))
    return Chart(
        "linear", "Closed forms: how fast the limit is reached, and an entry that returns",
        "Left: relative error of escape times against log(1 / alpha), slope -1 "
        f"(start of seed {seed}). Right: with "
        "correlated inputs entry 0 is learned with the wrong sign, leaves, and returns much later.",
        (Panel(tuple(points), "Error of escape times", "log(1 / alpha)", "relative error", "log",
               "log"),
         Panel(tuple(marks), "An entry leaves and returns, alpha = 1e-300", TIME, "entry")),
    )  # fmt: skip
