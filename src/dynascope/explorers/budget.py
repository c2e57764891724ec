"""What a picture costs, and how it is cut to what one request may take.

Whoever opens the page may ask for more than the machine should do for a slider. Every explorer
says how much a picture takes, as steps x lanes x size, and names the setting that is cut first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dynascope.core.errors import bad
from dynascope.core.paths import get_path, set_path

BUDGET = 6_000_000  # steps x lanes x size of one request: some seconds for the slowest explorer


@dataclass(frozen=True)
class Work:
    """Steps, how many runs go side by side, and how many numbers move in each of them."""

    steps: int
    lanes: int = 1
    size: int = 1

    @property
    def total(self) -> int:
        """Steps x lanes x size."""
        return self.steps * self.lanes * self.size


def fitted(settings: Any, work: Work, cut: str, budget: int) -> tuple[Any, str]:
    """Settings whose work fits, and a line that says what was cut off, or nothing.

    Args:
        settings: As they were asked for.
        work: That they take.
        cut: Path of what is cut: a count, or a text of which the first lines stay.
        budget: What a request may take.

    Returns:
        Settings and line.

    Example:
        >>> from dynascope.explorers.one_layer import Settings
        >>> fitted(Settings(steps=800), Work(800, size=4), "steps", 1600)[1]
        'Cut off: the first 400 of 800 steps; a request may take 1,600 steps x lanes x size.'
    """
    if work.total <= budget:
        return settings, ""
    limit = f"a request may take {budget:,} steps x lanes x size"
    if not cut:
        raise bad("request", f"{work.total:,} steps x lanes x size", f"at most {budget:,} of them")
    value, share = get_path(settings, cut), budget / work.total
    lines = value.splitlines(keepends=True) if isinstance(value, str) else []
    asked = len(lines) if isinstance(value, str) else value
    kept = max(1, int(asked * share))
    less = "".join(lines[:kept]) if isinstance(value, str) else kept
    line = f"Cut off: the first {kept:,} of {asked:,} {cut.rpartition('.')[2]}; {limit}."
    return set_path(settings, cut, less), line
