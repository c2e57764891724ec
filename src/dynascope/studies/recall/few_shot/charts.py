"""The printed differences with what 1,319 questions leave open."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.studies.recall.few_shot.claims import SURE
from dynascope.studies.recall.few_shot.runs import (
    NAMES,
    QUESTIONS,
    SHOTS,
    Accuracies,
    Settings,
    printed,
    study,
)


@study.chart(printed, headline=True)
def headline(s: Settings, found: Accuracies) -> Chart:
    """LASER's gain over the number of examples, for each model."""
    lines = []
    for i, name in enumerate(NAMES):
        before, after = found.share[i]
        error = np.sqrt((before * (1 - before) + after * (1 - after)) / QUESTIONS)
        gain = 100 * (after - before)
        lines.append(Line(SHOTS, gain, name, group=i, low=gain - 100 * SURE * error,
                          high=gain + 100 * SURE * error))  # fmt: skip
    panel = Panel((*lines, Reference("y", 0.0)), "", "worked examples", "points gained by LASER",
                  "log")  # fmt: skip
    return Chart(
        "headline", "Table 4.2: what LASER gains on GSM8K, as printed",
        "Bands are 1.96 standard errors of two independent samples of 1,319 questions. Only the "
        "first point of Phi-3 is clear of 0.", (panel,),
    )  # fmt: skip
