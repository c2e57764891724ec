"""What the matrix factorisation study found, and what its claims read off it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.studies.comparisons import Evidence, at_most, compare, single
from dynascope.studies.oscillation.candidates import ByEdges
from dynascope.studies.oscillation.factor_runs import QuasiRun


class Found(NamedTuple):
    """What claims and charts read."""

    strengths: np.ndarray  # (columns,) of the map
    others: np.ndarray  # (rows,) of the map
    escaped: dict[str, np.ndarray]  # (rows, columns) by kind of start
    traces: dict[float, np.ndarray]  # (looks, seeds, 2): top values of Y and Z
    rows: dict[float, float]  # largest difference of u1^T Y and u1^T Z, by strength
    quasi: dict[float, QuasiRun]  # by alpha: Fig. B.3
    edges: dict[float, ByEdges]  # by strength: the candidate models
    minimisers: list[tuple[np.ndarray, np.ndarray]]


def condition(found: Found, kind: str, alpha: float) -> Evidence:
    """Condition (3.9) for one kind of start: share that meets it and escapes."""
    k, b = np.meshgrid(found.strengths, found.others)
    met = np.maximum(k / alpha**2 + b * alpha**2, b / alpha**2 + k * alpha**2) <= 2
    escaped = found.escaped[kind]
    return compare(
        at_most(0.0), single(escaped[met].mean()),
        ("K + b > 2.1", single(escapes(found, kind, 0.1).mean())),
        f"{met.sum()} cells meet (3.9); {(~escaped & ~met).sum()} others stay bounded too: "
        "sufficient, not tight.",
    )  # fmt: skip


def allowed(seen: ByEdges) -> np.ndarray:
    """Eigenvalues beyond 2 / rate where no descent on X X^T escapes, by number of edges."""
    return np.where(seen.symmetric.any(axis=1), 0, seen.beyond.mean(axis=1))


def escapes(found: Found, kind: str, side: float) -> np.ndarray:
    """Which descents escaped, of those with K + b below 2 + side (or above, if positive)."""
    k, b = np.meshgrid(found.strengths, found.others)
    total = k + b - 2
    return found.escaped[kind][total < side if side < 0 else total > side]


def first_escape(column: np.ndarray, others: np.ndarray) -> float:
    """The lowest b of a column of the map that escaped; the highest b if none did."""
    places = np.flatnonzero(column)
    return float(others[places[0]]) if len(places) else float(others[-1])
