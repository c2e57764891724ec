"""What a watched run is doing: rules over its record, each with evidence and threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.watching.diagnosis.base import Finding
from dynascope.watching.diagnosis.catapult import catapult
from dynascope.watching.diagnosis.learning import (
    incremental_learning,
    lazy_or_features,
    swing_by,
)
from dynascope.watching.diagnosis.oscillation import oscillation
from dynascope.watching.diagnosis.stability import (
    divergence_ahead,
    edge_of_stability,
    progressive_sharpening,
)

if TYPE_CHECKING:
    import xarray as xr

RULES: tuple[Callable[[xr.Dataset], Finding | None], ...] = (
    divergence_ahead,
    catapult,
    edge_of_stability,
    progressive_sharpening,
    oscillation,
    incremental_learning,
    swing_by,
    lazy_or_features,
)


def diagnose(record: xr.Dataset) -> list[Finding]:
    """Everything the rules see in a record; "nothing unusual" if they see nothing.

    Args:
        record: Of a watched run, or any dataset with `loss` along `step`.

    Returns:
        The findings, the most urgent first.
    """
    found = [finding for rule in RULES if (finding := rule(record)) is not None]
    if found:
        return found
    steps = record["step"].values
    sentence = "Nothing unusual: no rule speaks on what was recorded."
    return [Finding("nothing unusual", sentence, (int(steps[0]), int(steps[-1])))]


__all__ = ["RULES", "Finding", "diagnose"]
