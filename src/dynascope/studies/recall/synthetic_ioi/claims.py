"""Figs. C.5 and C.6: dropping or truncating the last MLP raises accuracy, depth by depth."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies import at_least, average, case
from dynascope.studies.nodes import Missing
from dynascope.studies.recall.synthetic_ioi import runs
from dynascope.studies.recall.synthetic_ioi.runs import study


def mean_gain(gains: np.ndarray) -> Measured | Missing:
    """Gain in accuracy, mean over the seeds that converged."""
    return average(gains) if len(gains) else Missing("no seed converged")


for (rule, depth), node in runs.gain.items():
    what = "dropping the last MLP" if rule == "sgd" else "truncating the last MLP's input map"
    name = "SGD" if rule == "sgd" else "Adam"
    study.claim(
        f"{rule}-{depth}",
        f"With {depth} layers trained by {name}, {what} raises the accuracy on indirect objects, "
        "on average over the seeds that converge.",
        chen2025("Fig. C.5" if rule == "sgd" else "Fig. C.6"), mean_gain, at_least(0.0, "printed"),
        on=node, fails_on=case("planted: 0.3 less", runs.planted["worse"]),
        holds_on=case("planted: 0.3 more", runs.planted["better"]),
    )  # fmt: skip
