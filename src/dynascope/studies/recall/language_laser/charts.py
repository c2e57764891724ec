"""Gains by share and by layer beside their controls, and who writes the generic token."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Panel, Reference
from dynascope.studies.nodes import together
from dynascope.studies.recall.language_laser.claims import TITLES
from dynascope.studies.recall.language_laser.planted import planted
from dynascope.studies.recall.language_laser.runs import (
    CONTROLS,
    Judged,
    Settings,
    gain,
    judged,
    study,
)

KINDS = ("largest singular values", "random directions", "smallest singular values")
SHORT = {"best": "chosen", "random_there": "random, there", "smallest_there": "smallest, there",
         "dropped_there": "part dropped", "best_random": "best random",
         "best_dropped": "best dropped"}  # fmt: skip
there = together(planted=planted["helps"], **judged)


def _shown(found: dict[str, Judged]) -> dict[str, Judged]:
    """The models that are there; without any, what was planted, for looking only."""
    return {TITLES[n]: j for n, j in found.items() if n in TITLES} or {
        "no model is there: planted gains, for looking only": found["planted"]
    }


@study.chart(there, headline=True)
def headline(s: Settings, found: dict[str, Judged]) -> Chart:
    """How the gain goes with the share that is kept, at the chosen layer and matrix."""
    title, one = next(iter(_shown(found).items()))
    lines = [
        Line(one.keeps, np.exp(one.by_keep[i]), name, "measured" if i == 0 else "control", group=i)
        for i, name in enumerate(KINDS)
    ]
    panel = Panel((*lines, Reference("y", 1.0, "as it is")), one.edit, "share kept",
                  "factor on p(answer) / p(generic)", "log", "log")  # fmt: skip
    return Chart(
        "headline", f"What truncation does: {title}",
        "Geometric mean over all prompts, those that chose included.", (panel,),
    )  # fmt: skip


@study.chart(there)
def controls(s: Settings, found: dict[str, Judged]) -> Chart:
    """The chosen truncation beside its controls on held-out prompts."""
    panels = []
    for title, one in _shown(found).items():
        names = ("best", *CONTROLS)
        logs = [gain(one, n) / np.log(10) for n in names]
        mean = np.array([v.mean() for v in logs])
        error = np.array([1.96 * v.std() / len(v) ** 0.5 for v in logs])
        bars = Bars(tuple(SHORT[n] for n in names), mean, low=mean - error, high=mean + error)
        panels.append(Panel((bars, Reference("y", 0.0)), title, "", "log10 of the factor"))
    return Chart(
        "controls", "Held-out prompts: the chosen truncation beside its controls",
        "Powers of ten by which p(answer) / p(generic) grows, mean over held-out prompts with its "
        "95 % interval.", tuple(panels),
    )  # fmt: skip


@study.chart(there)
def layers(s: Settings, found: dict[str, Judged]) -> Chart:
    """Layer by layer: what its best truncation gains, and who writes the generic token."""
    panels = []
    for title, one in _shown(found).items():
        numbers = np.arange(one.written.shape[1])
        panels.append(Panel(
            (Line(numbers, one.written[0].mean(1), "attention", group=0),
             Line(numbers, one.written[1].mean(1), "feed-forward", group=1),
             Line(one.layer_numbers, one.by_layer, "gain of its best truncation", "control"),
             Reference("y", 0.0)),
            title, "layer", "logit difference; log of the gain",
        ))  # fmt: skip
    return Chart(
        "layers", "Who writes the generic token, and where truncation helps",
        "What each part adds to the generic token's logit over the answer's (mean over prompts), "
        "and in grey the logarithm of the held-out gain of each layer's best truncation.",
        tuple(panels),
    )  # fmt: skip
