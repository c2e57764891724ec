"""What several studies draw: curves of one name, orbits, and what a logarithmic axis can show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dynascope.core.charts import Line, Role
from dynascope.theories.oscillation.quartic import orbit_points


def curves(
    pairs: Iterable[tuple[Any, Any]], label: str, role: Role = "measured", group: int | None = None
) -> list[Line]:
    """Several curves (x, y) under one label and in one colour."""
    return [Line(x, y, "" if k else label, role, group) for k, (x, y) in enumerate(pairs)]


def levels(values: Iterable[float], until: int, label: str) -> list[Line]:
    """Predicted values, as lines from step 0 to another."""
    return curves((((0, until), (value, value)) for value in values), label, "theory")


def orbit_lines(until: float) -> list[Line]:
    """Both points of the quartic's orbit of period 2 over K, for a minimum at 1."""
    strengths = np.linspace(1.0005, until, 60)
    orbits = np.transpose([orbit_points(1.0, float(k)) for k in strengths])
    return curves(((strengths, points) for points in orbits), "the quartic's orbit", "theory")


def above_rounding(values: np.ndarray) -> np.ndarray:
    """What a logarithmic axis can show: nothing below 1e-16."""
    return np.where(values > 1e-16, values, np.nan)
