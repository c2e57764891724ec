"""Factorised descents that escape or stay bounded: a map of them, and one of them by step."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dynascope.core.charts import Heat, Line, Panel, Reference
from dynascope.studies.oscillation.matrix_factorization.descents import Descents as Factors
from dynascope.studies.oscillation.matrix_factorization.descents import (
    descend,
    generic,
    spectra,
    top_values,
)
from dynascope.theories.oscillation.factorization import neimark_sacker_line
from dynascope.theories.oscillation.factorization_stability import factorization_verdict

GRID, STEPS = 28, 800
K, B = np.linspace(0.8, 1.6, GRID), np.linspace(0.2, 1.0, GRID)  # strengths of the map


@lru_cache(maxsize=16)
def escape_map(seed: int) -> np.ndarray:
    """Whether descent from a small start escapes, (b, K).

    Example:
        >>> found = escape_map(0)
        >>> bool(found[0, 0]), bool(found[-1, -1])  # K + b = 1 and 2.6; the edge is 2
        (False, True)
    """
    k, b = (axis.ravel() for axis in np.meshgrid(K, B))
    start = generic(len(k), 2, seed)
    return descend(spectra(k, b, 2), *start, STEPS).escaped.reshape(GRID, GRID)


def top_singular_values(k: float, b: float, seed: int, steps: int) -> np.ndarray:
    """Largest singular values of Y and of Z by step, (step, 2); they end where descent escapes.

    Example:
        >>> top_singular_values(0.9, 0.3, seed=0, steps=100)[-1].round(2).tolist()
        [0.95, 0.95]
    """
    target, start = spectra(np.array([k]), np.array([b]), 2), generic(1, 2, seed)
    seen = top_values(Factors(*start, np.array([False])), target, steps + 1)[1:, 0]
    escaped = np.flatnonzero((seen == 0).all(axis=1))  # there it rests at zero
    return seen[: escaped[0]] if len(escaped) else seen


@lru_cache(maxsize=256)
def predicted(k: float, b: float) -> tuple[str, str]:
    """What theory says of these strengths, and why.

    Example:
        >>> predicted(0.9, 0.5)
        ('converges', 'K = 0.9 is at most 1')
    """
    found = factorization_verdict(np.diag([k, min(k, b)]), 1.0)
    return found.verdict, found.reason


def map_panel(escaped: np.ndarray, k: float, b: float) -> Panel:
    """The map, the line K + b = 2, and the chosen point."""
    ends = neimark_sacker_line(B[-1]), K[-1]  # where the line enters and leaves
    marks = (
        Heat(K, B, escaped, categories=("bounded", "escaped")),
        Line(ends, [neimark_sacker_line(end) for end in ends], "K + b = 2", "theory"),
        Reference("x", k),
        Reference("y", b, "here"),
    )
    return Panel(marks, f"small starts, {STEPS} steps", "K", "b")


def lengths_panel(tops: np.ndarray) -> Panel:
    """Largest singular values of both factors by step."""
    steps = np.arange(1, len(tops) + 1)
    lines = tuple(Line(steps, tops[:, i], name, group=i) for i, name in enumerate(("Y", "Z")))
    return Panel(lines, "at this point", "step", "largest singular value")
