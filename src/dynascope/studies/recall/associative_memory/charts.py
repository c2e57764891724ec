"""Losses of truncated memories, the rates of two items, and where the noise sits for any N."""

from typing import Any

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.associative_memory import runs
from dynascope.studies.recall.associative_memory.runs import ITEMS, LATE, Settings, study
from dynascope.theories.recall.associative_memory import associative_memory, pure_loss
from dynascope.theories.recall.truncation import crossing_signal, late_ratio
from dynascope.theories.recall.two_items import TwoItems, late_constant

RANKS = {1: "rank 1", 2: "rank 2", 3: "rank 3", 4: "rank 4"}


@study.chart(runs.orthonormal, headline=True)
def headline(s: Settings, run: Run) -> Chart:
    """Clean loss of rank 2 with orthonormal vectors, and the theory."""
    seen = run["truncated_loss"].isel(seed=0)[1:].sel(kept_rank=2)
    memory = associative_memory(s.task.items, s.task.noise, run["time"].values[1:], "mean")
    return headline_chart(
        f"Clean loss of a memory of {s.task.items} items cut to rank 2, {s.task.noise:.0%} noise",
        ("time", run["time"].values[1:]), ("loss", seen.values),
        ("theory", pure_loss(memory, "signal")), y_scale="log",
        note=f"the whole matrix stays at {-np.log(1 - s.task.noise):.4f}",
    )  # fmt: skip


@study.chart(runs.memories)
def fig_4_5(s: Settings, memories: dict[str, Run]) -> Chart:
    """Fig. 4.5: medians and quartiles over runs."""

    def panel(title: str, run: Run) -> Panel:
        marks: list[Mark] = []
        found = run["truncated_loss"].isel(step=slice(1, None))
        for group, (rank, label) in enumerate(RANKS.items()):
            low, middle, high = np.quantile(found.sel(kept_rank=rank), (0.25, 0.5, 0.75), axis=0)
            marks.append(Line(found["step"], middle, label, group=group, low=low, high=high))
        bound = Reference("y", -np.log(1 - s.task.noise), "-log(1 - alpha)")
        return Panel((*marks, bound), title, "step", "clean loss", "log", "log")

    return Chart(
        "fig-4-5", "Rank 2 forgets the noise, late in training",
        "Clean loss of memories cut to each rank while only the whole matrix is trained: median "
        "and quartiles over seeds. Rank 2 ends far below the whole matrix, and starts above it.",
        tuple(panel(f"{name}, {s.seeds} runs", run) for name, run in memories.items()),
    )  # fmt: skip


@study.chart(runs.flows)
def two_items(s: Settings, flows: dict[str, dict[float, TwoItems]]) -> Chart:
    """Theorem 4.3: rates, and the constants."""
    found = flows["right"][0.3]
    left = (
        Line(LATE, found.full()[:, 2], "whole matrix", group=0),
        Line(LATE, found.rank_one()[:, 2], "rank 1", group=1),
        Line(LATE, np.sqrt(late_constant(0.3, "right") / LATE), "corrected constant", "theory", 1),
    )
    right = []
    for group, flow in enumerate(("right", "printed")):
        words = {"right": "flow of the loss", "printed": "printed flow"}[flow]
        right.append(Line(LATE, LATE * flows[flow][0.3].other, words, group=group))
    places: tuple[tuple[Any, str], ...] = (
        ("printed", "printed"),
        ("printed flow", "corrected, printed flow"),
        ("right", "corrected"),
    )
    stated = [Reference("y", late_constant(0.3, which), words)
              for which, words in places]  # fmt: skip
    return Chart(
        "two-items", "The rate of Theorem 4.3 stands, its constant does not",
        "Two items, alpha = 0.3. Left: P(noise) falls like t^-1/2 once the matrix is cut to rank "
        "1. Right: t times the odds of the wrong item goes to neither flow's printed constant.",
        (Panel(left, "P(noise)", "time", "probability", "log", "log"),
         Panel((*right, *stated), "Odds of the wrong item, times t", "time", "t e^a", "log")),
    )  # fmt: skip


@study.chart()
def where_the_noise_sits(s: Settings) -> Chart:
    """The noise's singular value over the signal's, over time and for any number of items."""
    times = np.geomspace(1, 1e12, 200)
    marks = []
    for group, n in enumerate((2, 3, 4, 10)):
        memory = associative_memory(n, s.task.noise, times)
        marks.append(Line(times, memory.noise / memory.signal, f"N = {n}", group=group))
    ends = Points(ITEMS, [late_ratio(n) for n in ITEMS], "limit (N - 1) / sqrt(N + 1)", "theory")
    last = [associative_memory(n, s.task.noise, 1e12) for n in ITEMS]
    seen = Points(ITEMS, [m.noise / m.signal for m in last], "at time 1e12", group=0)
    cross = crossing_signal(4, s.task.noise)
    return Chart(
        "spectrum", "From four items on, the noise ends as the largest direction",
        "Singular value of the noise over that of the signal. Below 1 a truncation to rank N - 1 "
        "removes the noise, above 1 it removes signal. It touches 0 where the direction turns "
        f"from taking the token away to writing it. N = 4 crosses at a signal of {cross:.1f}.",
        (Panel((*marks, Reference("y", 1.0, "")), f"{s.task.noise:.0%} noise", "time", "ratio",
               "log"),
         Panel((seen, ends, Reference("y", 1.0, "")), "Late", "items", "ratio", "log", "log")),
    )  # fmt: skip
