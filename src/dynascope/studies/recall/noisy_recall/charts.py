"""Training with cuts of the last MLP, what is stored where, and which pairs attention matches."""

import numpy as np

from dynascope.core.charts import Chart, Heat, Line, Panel, Reference
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.drawing import LOG_STEP, log_steps
from dynascope.studies.recall.noisy_recall import runs
from dynascope.studies.recall.noisy_recall.claims import FIRST, LAST
from dynascope.studies.recall.noisy_recall.runs import Maps, Settings, study

SHOWN = {"whole": "whole", f"{LAST} 0.5": "half kept", f"{LAST} 0.1": "a tenth kept",
         f"{LAST} 0": "last MLP dropped"}  # fmt: skip


@study.chart(runs.noisy, headline=True)
def headline(s: Settings, noisy: Run) -> Chart:
    """p(answer) with and without the last MLP."""
    right = noisy["recall"].sel(readout="right").mean("seed")
    return headline_chart(
        f"Probability of the answer, mean over {s.seeds} seeds", ("step", noisy["step"].values),
        ("probability", right.sel(cut=f"{LAST} 0").values),
        ("whole model", right.sel(cut="whole").values),
        note="measured: without the last MLP",
    )  # fmt: skip


@study.chart(runs.noisy)
def fig_4_3(s: Settings, noisy: Run) -> Chart:
    """Fig. 4.3: what is predicted for each cut, and the margin of the noise."""
    steps = log_steps(noisy)

    def lines(part: str) -> tuple:
        found = []
        for group, (cut, label) in enumerate(SHOWN.items()):
            curve = noisy["recall"].sel(cut=cut, readout=part)
            low, high = curve.min("seed").values, curve.max("seed").values
            found.append(
                Line(steps, curve.mean("seed").values, label, group=group, low=low, high=high)
            )
        return tuple(found)

    half = Reference("y", s.task.noise, "alpha")
    margin = noisy["noise_margin"]
    last = Line(steps, margin.mean("seed").values, "", group=0, low=margin.min("seed").values,
                high=margin.max("seed").values)  # fmt: skip
    return Chart(
        "fig-4-3", "What is predicted while the last MLP is whole, cut or dropped",
        "Rows without noise, means over seeds with smallest and largest. To look for: "
        "noise within a few steps; later alpha for the whole model, and the answer without the "
        "last MLP. Last panel: how far that MLP puts the noise above all else at the trigger.",
        (Panel((*lines("right"), half), "p(answer)", LOG_STEP, "probability", "log"),
         Panel((*lines("noise"), half), "p(noise)", LOG_STEP, "probability", "log"),
         Panel(lines("loss"), "Clean loss", LOG_STEP, "loss", "log", "log"),
         Panel((last, Reference("y", 0.0, "")), "Margin of the noise", LOG_STEP, "logit", "log")),
    )  # fmt: skip


@study.chart(runs.noisy)
def attention(s: Settings, noisy: Run) -> Chart:
    """Fig. 4.4 and 4.6 left: where the blocks look; and the first MLP dropped."""
    steps = log_steps(noisy)
    words = {"answers": "answers after the trigger", "noise": "noise after the trigger",
             "previous": "first block: previous token"}  # fmt: skip
    found = noisy["recall_attention"]
    lines = tuple(
        Line(steps, found.sel(attention_part=part).mean("seed").values, label, group=group)
        for group, (part, label) in enumerate(words.items())
    )
    first = noisy["recall"].sel(cut=f"{FIRST} 0").mean("seed")
    dropped = (Line(steps, first.sel(readout="right").values, "answer", group=0),
               Line(steps, first.sel(readout="noise").values, "noise", group=1))  # fmt: skip
    return Chart(
        "attention", "Where the two blocks look, and what is left without the first MLP",
        "Left: share of attention at the asked places. Right: predictions with the first MLP "
        "dropped instead.",
        (Panel(lines, "Attention", LOG_STEP, "share", "log"),
         Panel(dropped, "First MLP dropped", LOG_STEP, "probability", "log")),
    )  # fmt: skip


@study.chart(runs.clean_maps)
def clean_heat(s: Settings, maps: Maps) -> Chart:
    """The maps of training without noise: no column of the noise."""
    return _heat("maps-clean", "What is stored where, trained without noise", maps)


@study.chart(runs.noisy_maps)
def heat(s: Settings, maps: Maps) -> Chart:
    """Figs. 4.6 and 4.8."""
    return _heat(
        "fig-4-6", "Noise in the MLP, copying in the values, the trigger in the match", maps
    )


def _heat(name: str, title: str, maps: Maps) -> Chart:
    axis = np.arange(maps.values.shape[-1])

    def panel(title: str, values: np.ndarray) -> Panel:
        heat = Heat(axis, axis, values[0], "", True)
        return Panel((heat,), title, "output j", "input i", matrix=True)

    return Chart(
        name, title,
        f"First seed; the noise is token {maps.generic}, triggers {maps.triggers}. Left: logits of "
        "the last MLP for every input. Middle: logits through the last block's values. Right: "
        "which token before is matched by which token that asks.",
        (panel("Last MLP", maps.feed_forward), panel("Values", maps.values),
         panel("Match", maps.matching)),
    )  # fmt: skip
