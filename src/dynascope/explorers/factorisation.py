"""Factorising a matrix past the edge of stability: the second singular value decides."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Heat, Line, Panel, Reference
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Click, Slider
from dynascope.runtime.progress import Progress
from dynascope.studies.oscillation.matrix_factorization.descents import descend, generic, spectra
from dynascope.theories.oscillation.factorization import neimark_sacker_line
from dynascope.theories.oscillation.factorization_stability import factorization_verdict

GRID, STEPS, SHOWN = 28, 800, 120
K_RANGE, B_RANGE = (0.8, 1.6), (0.2, 1.0)


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.factorisation"):
    """The learning rate times the two singular values of the target, and a start."""

    first: float = 1.2
    second: float = 0.5
    seed: int = 0


@lru_cache(maxsize=16)
def _escapes(seed: int) -> np.ndarray:
    """Whether descent from a small start escapes, (b, K)."""
    k, b = np.meshgrid(np.linspace(*K_RANGE, GRID), np.linspace(*B_RANGE, GRID))
    targets = spectra(k.ravel(), b.ravel(), 2)
    return descend(targets, *generic(targets.shape[0], 2, seed), STEPS).escaped.reshape(GRID, GRID)


@lru_cache(maxsize=256)
def _verdict(first: float, second: float) -> tuple[str, str]:
    found = factorization_verdict(np.diag([first, min(first, second)]), 1.0)
    return found.verdict, found.reason


@explorer(
    "factorisation",
    title="Which factorisations survive past the edge",
    about="Gradient descent on ||Y Z^T - C||^2 / 2. K and b are the learning rate times the two "
    "singular values of C. Past K = 1 the first direction oscillates; whether it may is decided by "
    "the second: the dashed line is K + b = 2. Click a point of the map to see its descent.",
    phenomenon="oscillation",
    settings=Settings,
    moves=(
        Slider("first", "K, strength of the first direction", *K_RANGE),
        Slider("second", "b, strength of the second direction", *B_RANGE),
        Slider("seed", "start number", 0, 15),
        Click(0, "first", "second"),
    ),
    studies=("matrix-factorization",),
    work=lambda s: Work(STEPS, lanes=GRID**2, size=8),
)
def factorisation(s: Settings) -> Explored:
    """The map of escapes with the predicted line, and the largest singular values by step."""
    escaped = _escapes(s.seed)
    k, b = np.linspace(*K_RANGE, GRID), np.linspace(*B_RANGE, GRID)
    target = spectra(np.array([s.first]), np.array([s.second]), 2)
    state, tops = generic(1, 2, s.seed), []
    with Progress("factorisation", SHOWN, enabled=False) as bar:
        for step in range(SHOWN):
            bar.update(step)
            found = descend(target, *state, 1)
            if found.escaped.any():
                break
            state = found.y, found.z
            tops.append([np.linalg.svd(w[0], compute_uv=False)[0] for w in state])
    values = np.array(tops).reshape(-1, 2)
    steps = np.arange(1, len(values) + 1)
    word, reason = _verdict(round(s.first, 6), round(s.second, 6))
    ends = (neimark_sacker_line(B_RANGE[1]), K_RANGE[1])  # where K + b = 2 enters and leaves
    line = Line(ends, [neimark_sacker_line(x) for x in ends], "K + b = 2", "theory")
    here = (Reference("x", s.first), Reference("y", s.second, "here"))
    lengths = [Line(steps, values[:, i], name, group=i) for i, name in enumerate(("Y", "Z"))]
    seen = "escapes" if len(values) < SHOWN else f"stays bounded for {SHOWN} steps"
    words = (f"Predicted: {word} ({reason}).", f"From this start descent {seen}.")
    chart = Chart(
        "factorisation", "Map of escapes", " ".join(words),
        (Panel((Heat(k, b, escaped, categories=("bounded", "escaped")), line, *here),
               f"small starts, {STEPS} steps", "K", "b"),
         Panel(tuple(lengths), "at this point", "step", "largest singular value")),
    )  # fmt: skip
    data = xr.Dataset(
        {"escaped": (("b", "K"), escaped), "top": (("step", "factor"), values)},
        {"K": k, "b": b, "step": steps, "factor": ["Y", "Z"]}, {"predicted": word},
    )  # fmt: skip
    return Explored(data, chart, words)
