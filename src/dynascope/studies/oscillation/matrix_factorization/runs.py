"""The map of escapes, descents over the strength, quasi-symmetric starts, candidate models.

chen2025 Observations 1 and 2, Remark 3, Theorem B.3, Figs. 3.2, 3.3, B.3, candidate models
(3.10) to (3.12). K and b are the learning rate times the two largest singular values of the
target.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.studies.oscillation.matrix_factorization import candidates, descents
from dynascope.studies.study import Study
from dynascope.theories.oscillation.quartic import orbit_points

ALPHAS = {"quasi": 0.8, "symmetric": 1.0}  # of starts near (alpha X0, X0 / alpha)
STILL, TWO, FOUR = (0.8, 0.95), (1.05, 1.1, 1.15, 1.2), (1.25, 1.26, 1.275)  # by period
CHAOTIC = (1.31, 1.35)  # beyond 1.3023, where the quartic's doublings end
BEYOND = (1.295, *CHAOTIC)  # the printed 1.28, by more than its rounding
TRACES = (*STILL, *TWO, *FOUR, 1.283, *BEYOND)  # strengths whose spectra are followed


@dataclass(frozen=True)
class Settings(Spec, tag="studies.matrix-factorization"):
    """The size of the map and of the matrices, steps and seeds."""

    grid: int = 24
    dimension: int = 4
    steps: int = 4000
    seeds: int = 20
    seed: int = 0


study = Study(
    "matrix-factorization",
    title="The second singular value decides whether the first may oscillate",
    sources=(chen2025("Obs. 1, 2, Thm. B.3, Figs. 3.2, 3.3, B.3"),),
    settings=Settings,
    scales={"smoke": {"grid": 12, "steps": 1500, "seeds": 8}, "laptop": {},
            "paper": {"grid": 48, "steps": 10_000, "seeds": 50}},
    notes=lambda s: (
        "Fig. 3.2 gives neither grid nor dimension, start or steps: ours are a "
        f"{s.grid} x {s.grid} grid, dimension {s.dimension}, normal entries of "
        f"variance 0.09 / dimension, {s.steps:,} steps.",
        "The bound K + b < 2 of Observation 1 is exactly the line on which the orbit of "
        "period 2 loses its stability to a pair of multipliers on the unit circle; a little "
        "beyond it the motion is bounded, so escape begins above the line.",
        "In Observation 1 the orbit's points have to be read in units of sigma_1.",
        "Fig. 3.3 reads the end of s_max(Y) = s_max(Z) as 1.38; that depends on the second "
        "singular value. What stays equal is the top direction of Y and Z.",
        "Fig. 3.3 reads chaos from 1.28 on; period 4 lasts to 1.2880, the doublings end at 1.3023.",
    ),
)  # fmt: skip


def axes(grid: int, before: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """K by column of the map and b by row, (grid,) each; before the edge with K below 1."""
    strengths = (0.5, 0.95) if before else (1.0, 1.6)
    return np.linspace(*strengths, grid), np.linspace(0.2, 0.45 if before else 1.0, grid)


class Map(NamedTuple):
    """Whether descents escape; all (grid, grid)."""

    strength: np.ndarray  # K
    other: np.ndarray  # b
    escaped: np.ndarray


@study.compute(
    each=lambda s: ("generic", *ALPHAS, "before the edge"),
    seconds=lambda s: 2e-6 * s.grid**2 * s.steps,
)
def escaped(s: Settings, kind: str) -> Map:
    """Fig. 3.2: whether descent from a kind of start escapes, one start in each cell."""
    strength, other = np.meshgrid(*axes(s.grid, before=kind == "before the edge"))
    k, b = strength.ravel(), other.ravel()
    targets = descents.spectra(k, b, s.dimension)
    if kind in ALPHAS:
        factor, alpha = np.sqrt(targets), ALPHAS[kind]
        noise = descents.generic(len(k), s.dimension, s.seed + 1, 0.02)
        start = alpha * factor + noise[0], factor / alpha + noise[1]
    else:
        start = descents.generic(len(k), s.dimension, s.seed)
    out = descents.descend(targets, *start, s.steps).escaped
    return Map(strength, other, out.reshape(s.grid, s.grid))


class Trace(NamedTuple):
    """Descents from all seeds at one strength, after all steps."""

    tops: np.ndarray  # (512, seeds, 2): largest singular values of Y and Z over further steps
    apart: np.ndarray  # (seeds,) largest difference of u1^T Y and u1^T Z


def _trace(strength: float, y: np.ndarray, z: np.ndarray, steps: int) -> Trace:
    seeds, d = y.shape[:2]
    target = descents.spectra(np.full(seeds, strength), np.full(seeds, 0.3), d)
    found = descents.descend(target, y, z, steps)
    apart = np.abs(found.y[:, 0] - found.z[:, 0]).max(axis=1)
    tops = descents.top_values(found, target, 512)
    tops[:, found.escaped], apart[found.escaped] = np.nan, np.nan  # both rest at zero
    return Trace(tops, apart)


@study.compute(each=lambda s: TRACES, seconds=lambda s: 0.5 + 5e-4 * s.steps)
def traces(s: Settings, strength: float) -> Trace:
    """Fig. 3.3: where descents from small generic starts end, with b = 0.3."""
    return _trace(strength, *descents.generic(s.seeds, s.dimension, s.seed + 2), s.steps)


@study.compute(each=lambda s: (1.1, FOUR[0], CHAOTIC[-1]), seconds=lambda s: 0.5 + 5e-4 * s.steps)
def near_orbit(s: Settings, strength: float) -> Trace:
    """The same from starts within 1e-3 of the balanced orbit of period 2.

    There the top values are those of the quartic alone, x <- x + x (K - x^2): of period 4 at 1.25,
    chaotic at 1.35 (its Lyapunov exponent is positive).
    """
    d = s.dimension
    factor = np.sqrt(descents.spectra(np.array([strength]), np.array([0.3]), d))
    factor[:, 0, 0] = orbit_points(strength, 1.0)[0]
    noise = descents.generic(s.seeds, d, s.seed + 2, 1e-3)
    return _trace(strength, factor + noise[0], factor + noise[1], s.steps)


@study.finding
def planted_still(s: Settings) -> dict[float, Trace]:
    """Top values that do not move."""
    return {1.0: Trace(np.ones((512, s.seeds, 2)), np.zeros(s.seeds))}


class QuasiRun(NamedTuple):
    """Descents from near (alpha X0, X0 / alpha), a random X0 in each seed.

    Lengths are those of u1^T Y and u1^T Z over sigma_1. Unlike s_max they do not depend on how
    close the second singular value is.
    """

    strength: float  # K
    losses: np.ndarray  # (300, seeds)
    tops: np.ndarray  # (300, seeds, 2) lengths
    settled: np.ndarray  # (2, seeds, 2) lengths in two late steps


# K and alpha; the last begins on the balanced orbit
QUASI = {"alpha = 1": (1.02, 1.0), "alpha = 0.8": (1.02, 0.8), "beyond the doubling": (1.26, 1.0),
         "on the orbit": (1.02, 1.0)}  # fmt: skip


def _square_roots(s: Settings, strength: float) -> np.ndarray:
    """Random X0 with normal entries, scaled to K, of which (3.9) is true at alpha = 0.8."""
    random = np.random.default_rng(s.seed + 3)
    found: list[np.ndarray] = []
    while len(found) < s.seeds:
        factor = random.normal(size=(8, 8))
        singular = np.linalg.svd(factor, compute_uv=False)
        if 1.02 * (0.8**-2 + (0.8 * singular[1] / singular[0]) ** 2) <= 2:
            found.append(np.sqrt(strength) * factor / singular[0])
    return np.array(found)


@study.compute(each=lambda s: QUASI, reads=("seed", "seeds"), seconds=lambda s: 1 + 0.1 * s.seeds)
def quasi(s: Settings, name: str) -> QuasiRun:
    """Fig. B.3: descent on random 8 x 8 targets, by kind of start."""
    strength, alpha = QUASI[name]
    factor = _square_roots(s, strength)
    noise = 2e-3 * np.random.default_rng(s.seed + 4).normal(size=(2, *factor.shape))
    target = factor @ factor.swapaxes(1, 2)
    top = np.linalg.eigh(target)[1][:, :, -1]  # (seeds, 8)
    if name == "on the orbit":
        stretch = orbit_points(1.0, strength)[0] - 1
        along = top[:, :, None] * (top[:, None] @ factor)
        factor = factor + stretch * along
    y, z = alpha * factor + noise[0], factor / alpha + noise[1]
    states = [(y, z)]
    for steps in (*[1] * 300, 5700, 1):
        y, z, _ = descents.descend(target, y, z, steps)
        states.append((y, z))
    ends = np.array([*states[:300], *states[-2:]])  # (302, 2, seeds, 8, 8)
    tops = np.linalg.norm(np.einsum("si,tfsij->tfsj", top, ends), axis=-1) / np.sqrt(strength)
    tops = tops.swapaxes(1, 2)
    losses = [((y @ z.swapaxes(1, 2) - target) ** 2).sum(axis=(1, 2)) / 2 for y, z in states[:300]]
    return QuasiRun(strength, np.array(losses), tops[:300], tops[-2:])


class ByEdges(NamedTuple):
    """What happens at one strength, over the number of edges from none to all."""

    symmetric: np.ndarray  # (counts, seeds) whether descent on X X^T escaped
    asymmetric: np.ndarray  # (counts, seeds) whether descent on Y Z^T escaped
    beyond: np.ndarray  # (counts, seeds) eigenvalues past 2 / rate at a minimiser of X X^T


@study.compute(
    each=lambda s: (0.9, 1.05, 2.1), seconds=lambda s: (1.5e-3 + 2e-5 * s.seeds) * s.steps
)
def edges(s: Settings, strength: float) -> ByEdges:
    """The candidate models from small generic starts on the target K I."""
    d, seed = s.dimension, s.seed + 6
    target = np.broadcast_to(strength * np.eye(d), (s.seeds, d, d))
    y, z = descents.generic(s.seeds, d, seed)
    found = []
    for number in range(d * (d - 1) // 2 + 1):
        terms = candidates.edge_terms(d, number, s.seeds, seed + number)
        tied = descents.descend(target, y, y, s.steps, terms, tied=True).escaped
        beyond = [(candidates.eigenvalues_at_minimum(strength, t) > 2).sum() for t in terms]
        found.append((tied, descents.descend(target, y, z, s.steps, terms).escaped, beyond))
    return ByEdges(*(np.array(column) for column in zip(*found, strict=True)))


@study.compute(reads=("seeds",), seconds=lambda s: 0.1)
def planted_edges(s: Settings) -> ByEdges:
    """More edges allow fewer: without any nothing escapes, with all of them everything does."""
    escaped = np.array([np.zeros(s.seeds, bool), np.ones(s.seeds, bool)])
    return ByEdges(escaped, escaped, np.full((2, s.seeds), 4))
