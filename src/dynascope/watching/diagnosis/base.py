"""What a rule finds in a record: a sentence, where, the numbers, and what one could try."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Finding:
    """One thing that a run does.

    Attributes:
        kind: "catapult", "edge of stability", ...
        sentence: What happens, with the numbers that show it.
        steps: First and last step of it.
        evidence: The numbers behind the sentence.
        threshold: From where on the rule speaks, in words.
        suggestion: What one could try; a suggestion, not a finding.
        study: The study that shows the mechanism.
    """

    kind: str
    sentence: str
    steps: tuple[int, int]
    evidence: dict[str, float] = field(default_factory=dict)
    threshold: str = ""
    suggestion: str = ""
    study: str = ""


def measured(record: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values at which a quantity was measured and is finite; empty without it."""
    if name not in record or record[name].dims != ("step",):
        return np.zeros(0, int), np.zeros(0)
    values = np.asarray(record[name].values, float)
    kept = np.isfinite(values)
    return record["step"].values[kept], values[kept]


def smoothed(values: np.ndarray, window: int) -> np.ndarray:
    """Running median over an odd window, shorter at the ends."""
    from scipy.ndimage import median_filter

    return median_filter(values, size=max(1, window | 1), mode="nearest")
