"""Fig. 4.14: at a fixed number of parameters, fewer in MLPs means a higher loss of bigrams."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies import at_most, average, case
from dynascope.studies.recall.recall_budget import runs
from dynascope.studies.recall.recall_budget.runs import study


def falls(losses: np.ndarray) -> Measured:
    """Rank correlation of loss and share of MLPs, mean over totals, for every seed."""
    from scipy.stats import spearmanr  # slow to load

    shares = np.arange(losses.shape[2])
    found = [[spearmanr(shares, seed).statistic for seed in total] for total in losses]
    return average(np.mean(found, axis=0))


study.claim(
    "mlps-learn-bigrams",
    "At a fixed number of parameters the loss of the bigrams after 100 steps falls with the share "
    "that MLPs have: rank correlation of at most -0.7.",
    chen2025("Fig. 4.14"), falls, at_most(-0.7, "ours"), on=runs.every_total,
    fails_on=case("planted: losses that rise", runs.planted["rising"]),
    holds_on=case("planted: losses that fall", runs.planted["falling"]),
)  # fmt: skip
