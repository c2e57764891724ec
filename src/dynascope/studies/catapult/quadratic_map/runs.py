"""Descents of one training example: followed in the weights, drawn at random, over grids.

v is the learning rate times the first tangent kernel.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec
from dynascope.studies.catapult.quadratic_map.weights import Kind, WeightPath, descend, draw
from dynascope.studies.study import Study
from dynascope.theories import QuadraticMap, phase_diagram
from dynascope.theories.catapult.phases import PhaseDiagram, margin
from dynascope.theories.catapult.quadratic_map import DescentSummary

CHECKED = (0.5, 1.9, 2.5, 3.0, 3.7)  # v of the descents that are followed in their weights
SIDES = {"below": (0.0, 2.0), "between": (2.0, 4.0), "past": (4.0, 6.0)}  # regimes of v
SUBCRITICAL = (0.3, 0.5, 1.0, 1.5, 1.9)  # v
WIDE = 1e6
Followed = list[tuple[QuadraticMap, WeightPath]]  # the same descents in two forms
Side = tuple[np.ndarray, DescentSummary]  # v, and what descents from there did
Ended = np.ndarray  # v at the end of descents
LABELS = (0.0, 1.0, -1.0, 3.0)
WIDTHS = np.logspace(2, 6, 9)  # at which the largest rate is sought
FLAT = 1e300  # a width that leaves no curvature: the linear model
Distances = dict[float, tuple[np.ndarray, np.ndarray]]  # by v: distances and first errors


@dataclass(frozen=True)
class Settings(Spec, tag="studies.quadratic-map"):
    """How many descents."""

    columns: int = 360  # of the phase diagrams
    rows: int = 120
    steps: int = 400
    narrow: float = 100.0  # width of the diagram over labels
    draws: int = 20_000
    path_widths: tuple[int, ...] = (100, 1000, 10_000, 100_000)
    path_seeds: int = 24
    seed: int = 0


study = Study(
    "quadratic-map",
    title="The catapult in two numbers: what a learning rate will do",
    sources=(zhu2024("Thms. 3.3.1, 3.3.4, B.3.1, B.7.1, Lemmas 3.3.2, 3.3.3, section 3.3, "
                     "Figs. 3.1, 3.2a"),),
    settings=Settings,
    scales={
        "smoke": {"columns": 120, "rows": 40, "draws": 4000, "path_widths": (100, 1000, 10_000)},
        "laptop": {},
        "paper": {"columns": 1000, "rows": 300, "draws": 100_000},
    },
    notes=(
        "As in the document: lambda is the tangent kernel, m the width, c = |x|^2 / (m d), "
        "u = c eta^2 (g - y)^2, v = eta lambda, w = c eta^2 (g - y) y, C = eta |x| |y| / sqrt d, "
        "C_u = m u(0); delta is v(0) - 2 above the critical rate, the smaller of v(0) and "
        "2 - v(0) below it; R_lambda is what a step takes from the kernel.",
        "The loss is half the squared error, as in the chapter's text; epsilon is read as "
        "log m / sqrt m.",
        "(3.12) is used as a product; as printed it divides by g - y.",
        "w keeps the sign of (g - y) y: without it (3.13), (3.14) are another map.",
        "|w(0)| is C sqrt(C_u) / m; the proofs of B.3.1 and 3.3.2 print smaller orders.",
        "The order Omega(...) of Theorem 3.3.1 has no constant; slopes in the width decide.",
    ),
)  # fmt: skip


def starts(
    rng: Any, count: int, ends: tuple, least: float = 4.0, label: float = 1.0
) -> dict[str, np.ndarray]:
    """Random v between two ends, epsilon away from both; widths above 10^least; labels."""
    width = 10 ** rng.uniform(least, 8, count)
    (low, high), away = ends, margin(width)
    v = low + away + (high - low - 2 * away) * rng.uniform(0, 1, count)
    return {"learning_rate": v, "width": width, "label": label * rng.uniform(-1, 1, count)}


@study.compute(
    each=lambda s: ("quadratic", "linear", "no label"), reads=("seed",), seconds=lambda s: 1.0
)
def followed(s: Settings, kind: str) -> Followed:
    """The same descents in two numbers and in their weights."""
    start, label = draw(500, 7, s.seed), 0.0 if kind == "no label" else 0.8
    model: Kind = "linear" if kind == "linear" else "quadratic"
    return [(m, descend(start, m, 100, model)) for m in (start.map(v, label) for v in CHECKED)]


@study.finding(followed["quadratic"])
def planted_path(s: Settings, followed: Followed) -> Followed:
    """The weights, had they moved by the map to twelve digits."""
    paths = [(descent, descent.trajectory(100)) for descent, _ in followed]
    return [(d, WeightPath(1.000000000001 * p.residual, p.kernel, p.kernel)) for d, p in paths]


@study.compute(each=lambda s: s.path_widths, reads=("path_widths", "path_seeds", "seed"),
               seconds=lambda s: 1.2e-5 * s.path_seeds * sum(s.path_widths))  # fmt: skip
def distances(s: Settings, width: int) -> Distances:
    """Largest distance of the weights from their start, and the first error, over seeds."""
    begun = [draw(width, 1, s.seed + k) for k in range(s.path_seeds)]
    paths = {v: [descend(b, b.map(v, 1.0), 40) for b in begun] for v in (1.0, 3.0)}
    return {
        v: (np.array([p.distance.max() for p in own]), np.array([abs(p.residual[0]) for p in own]))
        for v, own in paths.items()
    }


@study.finding(distances)
def planted_distances(s: Settings, found: dict[int, Distances]) -> dict[int, Distances]:
    """Distances of the first error (v = 1) or like the root of the width (v = 3), by a law."""
    near = 1 + 0.01 * np.cos(np.arange(s.path_seeds))
    return {m: {1.0: (near * own[1.0][1], own[1.0][1]), 3.0: (near * m**0.5, own[3.0][1])}
            for m, own in found.items()}  # fmt: skip


@study.compute(each=lambda s: [(side, y) for y in (1.0, 0.0) for side in SIDES],
               reads=("draws", "seed"), seconds=lambda s: 1 + 9e-5 * s.draws)  # fmt: skip
def sides(s: Settings, at: tuple[str, float]) -> Side:
    """Descents with a rate epsilon away from both ends of a regime, labels up to so large."""
    side, label = at
    rng, count = np.random.default_rng(s.seed), s.draws if label else min(s.draws, 4000)
    drawn = starts(rng, count, SIDES[side], 3, label)
    drawn["output"] = rng.normal(0, 0.5, count)
    return drawn["learning_rate"], QuadraticMap(1.0, 1.0).outcome(4000, **drawn)


@study.finding(sides["below", 1.0], sides["between", 1.0])
def ended(s: Settings, below: Side, between: Side) -> dict[str, Ended]:
    """Rate times kernel where descents converged; before they began; and planted below 2."""
    v = np.concatenate([below[0], between[0]])
    after = [np.concatenate([getattr(side[1], n) for side in (below, between)])
             for n in ("kernel", "loss")]  # fmt: skip
    kernel, converged = after[0], after[1] < 1e-12
    return {
        "after": (v * kernel)[converged], "before": v[converged],
        "planted": np.linspace(0.1, 1.9, len(v)),
    }  # fmt: skip


@study.compute(each=lambda s: ("width", "label"), reads=("columns", "rows", "steps", "narrow"),
               seconds=lambda s: 0.5 + 1.3e-8 * s.columns * s.rows * s.steps)  # fmt: skip
def diagrams(s: Settings, over: str) -> PhaseDiagram:
    """What descent does over the rate, and over the width or the label."""
    base, v = QuadraticMap(1.0, s.narrow, label=1.0), np.linspace(0.05, 5.0, s.columns)
    values = np.logspace(1.5, 6, s.rows) if over == "width" else np.linspace(-3, 3, s.rows)
    return phase_diagram(base, {"learning_rate": v, over: values}, s.steps)


@study.compute(diagrams["width"], reads=(), seconds=lambda s: 0.5)
def edge(s: Settings, diagram: PhaseDiagram) -> np.ndarray:
    """Where descent begins to diverge, at every fourth width of the diagram."""
    return QuadraticMap(1.0, 1.0, label=1.0).divergence_rate(width=diagram.y[::4])


@study.finding(diagrams["width"])
def planted_diagram(s: Settings, diagram: PhaseDiagram) -> PhaseDiagram:
    """The diagram, had every descent done what the thresholds 2 and 4 say."""
    v = diagram.critical
    return replace(diagram, regime=np.where(v < 2, 0, np.where(v < 4, 1, 2)))


@study.compute(each=lambda s: (*LABELS, "linear"), reads=(), seconds=lambda s: 1.0)
def largest_rates(s: Settings, label: Any) -> np.ndarray:
    """The lowest rate that diverges, times the kernel, at each of `WIDTHS`."""
    if label == "linear":
        return QuadraticMap(1.0, 1.0).divergence_rate(width=np.full(len(WIDTHS), FLAT))
    return QuadraticMap(1.0, 1.0).divergence_rate(width=WIDTHS, label=label)


@study.finding(largest_rates)
def rates(s: Settings, found: dict[Any, np.ndarray]) -> dict[str, np.ndarray]:
    """Largest rates, (labels, widths), and planted ones that are 3 / m or epsilon from 4."""
    return {
        "every label": np.array([found[y] for y in LABELS]),
        "no label": found[0.0][None], "label 1": found[1.0][None],
        "labels": np.array([found[y] for y in LABELS if y]),
        "linear": found["linear"][None],
        "planted": 4 - 3 / WIDTHS[None], "planted at 4": 4 + 0 * WIDTHS[None],
        "planted like epsilon": 4 - margin(WIDTHS)[None],
    }  # fmt: skip


@study.compute(each=lambda s: (500, 3), reads=("draws", "seed"), seconds=lambda s: 5e-5 * s.draws)
def first_kernels(s: Settings, width: int) -> np.ndarray:
    """Kernels of random weights, in units of |x|^2 / d."""
    z = np.random.default_rng(s.seed).normal(size=(s.draws, width))
    return np.where(z >= 0, z**2 + 1, 0).mean(axis=1)


@study.finding
def planted_kernels(s: Settings) -> np.ndarray:
    """Kernels between 0.6 and 1.4."""
    return np.linspace(0.6, 1.4, s.draws)


@study.compute(reads=(), seconds=lambda s: 0.5)
def first_w(s: Settings) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By start: widths, and |w(0)| as the first step of the kernel shows it, or u(0).

    v(1) = v(0) - u(0) (4 - v(0)) - 4 w(0), (3.14).
    """
    widths = np.logspace(2, 6, 9)
    errors = {"same error": np.ones(9), "smaller error": 10 / np.sqrt(widths)}
    found = {}
    for name, error in errors.items():
        path = QuadraticMap(1.0, 1.0, label=1.0).trajectory(
            1, learning_rate=SUBCRITICAL[0], width=widths, output=1 + error
        )
        v, after = SUBCRITICAL[0] * path.kernel.T
        u = SUBCRITICAL[0] ** 2 * error**2 / widths
        found[name] = widths, np.abs(v - after - u * (4 - v)) / 4
        found["u"] = found.get("u", (widths, u))
    return found


@study.compute(each=lambda s: ("below", "above", "no label"), reads=(), seconds=lambda s: 1.0)
def bounds(s: Settings, side: str) -> dict[str, np.ndarray]:
    """How much of the bounds of Theorem B.3.1 descents use; above 1 the bound is broken.

    They begin with errors of 1 down to 0.01 for several labels, wide enough for the theorem.
    """
    rates = (2.5,) if side == "above" else SUBCRITICAL
    labels = (0.0,) if side == "no label" else LABELS
    grid = np.array(list(itertools.product(rates, labels, (1.0, -0.1, 0.01))))
    v, label, error = grid.T
    path = QuadraticMap(1.0, WIDE).trajectory(
        300, learning_rate=v, label=label, output=label + error
    )
    size, c = v**2 * error**2, v * np.abs(label)  # C_u and C
    delta = np.where(v < 2, np.minimum(v, 2 - v), v - 2)
    moved = v * np.abs(path.kernel - 1).max(axis=1) * WIDE * delta
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.abs(path.residual[:, 1:] / path.residual[:, :-1])
    factor = np.where(np.abs(path.residual[:, 1:]) > 1e-150, factor, 0).max(axis=1)
    both = size + c * np.sqrt(size)
    slower = (factor - (1 - delta)) * WIDE * delta  # sqrt(kappa) - (1 - delta)
    used = moved / (9 * size), moved / (8 * both), slower / (both * (8 + delta))
    return dict(zip(("printed", "kernel", "rate"), used, strict=True))
