"""Two factors: ratios over random states, long descents, Lemma B.2, single paths.

chen2025 Theorem 3.4 and its proof, Proposition 3, Remark 5, Lemma B.2, Fig. B.4; Fig. 3.4 with
Propositions 5 to 7 and Definition 4. K is the learning rate, mu = 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.studies.study import Study
from dynascope.theories.oscillation.balance import (
    factor_step,
    imbalance_ratio,
    stays_positive,
    two_step_bounds,
    unbalanced_orbit,
)
from dynascope.theories.oscillation.quartic import orbit_points

START = (1.5, 0.7)  # works for both rates of Fig. 3.4, which does not give its own
PAST, BEFORE = 1.08, 0.95  # rates of Fig. 3.4
FIGURE = (1.05, 1.25)  # rates of Fig. B.4: period 2 and period 4
RATES = (1.02, 1.1, 1.2, 1.3, 1.4, 1.49)
BEYOND = 1.55
UNBALANCED = (1.65, 1.75, 1.9, 1.97)  # between 1.618 and 2
_along = np.exp(np.linspace(-0.7, 0.7, 2001))
MINIMISERS = np.stack([_along, 1 / _along])  # (2, points) with x y = 1
FAR = (1.6, 1.75, 1.9)  # rates at which the remark after the theorem allows unbalanced orbits


@dataclass(frozen=True)
class Settings(Spec, tag="studies.balance"):
    """How many random states and starts, and how long descents are."""

    states: int = 400_000
    starts: int = 20_000
    steps: int = 3000
    seed: int = 0


study = Study(
    "balance",
    title="Past the edge of stability two factors become equal",
    sources=(chen2025("Thm. 3.4, Props. 3, 5, 6, 7, Def. 4, Lemma B.2, Figs. 3.4, B.4"),),
    settings=Settings,
    scales={"smoke": {"states": 100_000, "starts": 5_000}, "laptop": {},
            "paper": {"states": 2_000_000, "starts": 100_000}},
    notes=(
        "Propositions 5 and 6 forget that every x = y < 1 / sqrt(2) has no slope along its "
        "top eigenvector and a sharpness 1 - x^2; they hold for minimisers.",
        f"Figs. 3.4 and B.4 do not give their starts; ours is {START}.",
        "Lemma B.2 is right as stated; two constants in its proof are not.",
        "Unbalanced orbits do exist: one of period 4 in closed form for every K between 1.618 "
        "and 2. They repel, so descent does not end on them.",
    ),
)  # fmt: skip


def _drawn(s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Random states with x y > 1, and random starts; (2, many) each."""
    random = np.random.default_rng(s.seed)
    states = random.uniform(0.02, 3.0, size=(2, s.states))
    return states[:, states.prod(axis=0) > 1], random.uniform(0.3, 2.0, size=(2, s.starts))


class Ratios(NamedTuple):
    """Two-step ratios of |x - y| over states that stay positive."""

    largest: float
    states: int
    below: int  # how many have a ratio below 1
    bounded: int  # how many keep the bounds of the proof


def _ratios(x: np.ndarray, y: np.ndarray, rate: float) -> Ratios:
    ratio, positive = imbalance_ratio(x, y, 1.0, rate)
    low, high = two_step_bounds(x, y, 1.0, rate)
    after = factor_step(*factor_step(x, y, 1.0, rate), 1.0, rate)
    apart = np.abs(x - y) > 1e-6
    signed = np.where(apart, (after[0] - after[1]) / np.where(apart, x - y, 1.0), ratio)
    kept = positive & (low < signed) & (signed < high)
    ratio = ratio[positive]
    return Ratios(float(ratio.max()), ratio.size, int((ratio < 1).sum()), int(kept.sum()))


@study.compute(
    each=lambda s: (*RATES, 1.5, BEYOND, 1.6, 1.7), reads=("states", "starts", "seed"),
    seconds=lambda s: 2e-6 * s.states,
)  # fmt: skip
def ratios(s: Settings, rate: float) -> Ratios:
    """By how much two steps multiply |x - y|, by rate."""
    x, y = _drawn(s)[0]
    return _ratios(x, y, rate)


@study.compute(each=lambda s: RATES, reads=("states", "seed"), seconds=lambda s: 1e-6 * s.states)
def ratios_below(s: Settings, rate: float) -> Ratios:
    """The same from states with x y < 1, of which theorem and proof do not speak."""
    x, y = np.random.default_rng(s.seed).uniform(0.02, 3.0, size=(2, s.states))
    return _ratios(x[x * y < 1], y[x * y < 1], rate)


@study.compute(each=lambda s: (1.1,), reads=("seed",), seconds=lambda s: 0.1)
def ratios_on_orbit(s: Settings, rate: float) -> Ratios:
    """The same within 1e-4 of the balanced orbit's larger point, where the ratio is 3 - 2K."""
    beside = np.random.default_rng(s.seed).uniform(-1e-4, 1e-4, size=(2, 1000))
    x, y = orbit_points(1.0, rate)[1] + beside
    return _ratios(x, y, rate)


class Descents(NamedTuple):
    """Descents from many starts at one rate; arrays by start."""

    promised: np.ndarray  # whether Lemma B.2 promises that both factors stay positive
    kept: np.ndarray  # whether they do, for 300 steps
    ends: np.ndarray  # (starts, 2) after all steps; not finite, or huge, where it escapes


def _descents(x: np.ndarray, y: np.ndarray, rate: float, steps: int) -> Descents:
    promised = stays_positive(x, y, 1.0, rate)
    kept = np.ones(len(x), bool)
    with np.errstate(over="ignore", invalid="ignore"):  # those that escape may overflow
        for step in range(steps):
            x, y = factor_step(x, y, 1.0, rate)
            kept &= (step >= 300) | ((x > 0) & (y > 0))
    return Descents(promised, kept, np.stack([x, y], axis=1))


@study.compute(
    each=lambda s: (BEFORE, 1.02, 1.05, 1.1, 1.2, 1.25, *FAR),
    seconds=lambda s: 0.2 + 5e-8 * s.starts * s.steps,
)
def descents(s: Settings, rate: float) -> Descents:
    """Where long descents from random starts end, by rate."""
    x, y = _drawn(s)[1]
    return _descents(x, y, rate, s.steps)


@study.compute(each=lambda s: (1.1,), reads=("steps", "seed"), seconds=lambda s: 0.1)
def near_orbit(s: Settings, rate: float) -> Descents:
    """Descents that begin within 1e-3 of the balanced orbit's larger point."""
    beside = np.random.default_rng(s.seed).uniform(-1e-3, 1e-3, size=(2, 200))
    x, y = orbit_points(1.0, rate)[1] + beside
    return _descents(x, y, rate, s.steps)


def _path(start: tuple[float, float], rate: float) -> np.ndarray:
    """(201, 2) factors by step."""
    states = [np.array(start)]
    for _ in range(200):
        x, y = states[-1]
        states.append(np.array(factor_step(x, y, 1.0, rate)))
    return np.array(states)


@study.compute(each=lambda s: (*FIGURE, PAST, BEFORE, 0.2), reads=(), seconds=lambda s: 0.1)
def paths(s: Settings, rate: float) -> np.ndarray:
    """(201, 2) factors by step from START, by rate."""
    return _path(START, rate)


@study.compute(
    each=lambda s: ("near the flattest", "factor 0.9", "factor 0.25", "along the minimisers"),
    reads=(), seconds=lambda s: 0.1,
)  # fmt: skip
def planted_paths(s: Settings, kind: str) -> np.ndarray:
    """Paths of which everything is known, (201, 2)."""
    if kind == "near the flattest":
        return _path((1.01, 0.99), BEFORE)
    if kind.startswith("factor"):  # of |x - y| over two steps
        gap = float(kind.split()[1]) ** (np.arange(201) / 2)
        return np.stack([1 + gap / 2, 1 - gap / 2], axis=1)
    along = np.linspace(3.0, 1.5, 201)  # all beyond the end of the stable minimisers
    return np.stack([along, 1 / along], axis=1)


@study.compute(
    each=lambda s: ("unbalanced", "of another rate", "balanced", "minimum"), reads=(),
    seconds=lambda s: 0.1,
)  # fmt: skip
def orbits(s: Settings, kind: str) -> np.ndarray:
    """Places of orbits with their rates, (places, 3): K, x and y."""
    unbalanced = [(k, *unbalanced_orbit(k)[0]) for k in UNBALANCED]
    return np.array({
        "unbalanced": unbalanced,
        "of another rate": [(k - 0.02, x, y) for k, x, y in unbalanced],
        "balanced": [(k, x, x) for k in (1.05, 1.1, 1.2) for x in orbit_points(1.0, k)],
        "minimum": [(k, 1.0, 1.0) for k in UNBALANCED],
    }[kind])  # fmt: skip


def _points(kind: str, rate: float) -> np.ndarray:
    """(3, places): x, y and eta."""
    x = np.linspace(0.05, 0.7, 14)  # on the diagonal, below 1 / sqrt(2)
    away = np.linspace(0.1, 2.0, 30)
    grid = np.stack(np.meshgrid(*[np.linspace(0.05, 2.0, 40)] * 2)).reshape(2, -1)
    points = {
        "diagonal": np.stack([x, x]),
        "minimisers": MINIMISERS,
        "flattest and sharp": np.array([(1.0, 3.0), (1.0, 1 / 3)]),
        "sharp": np.array([(3.0, 4.0), (1 / 3, 0.25)]),
        "off": np.stack([away, 2 * away + 0.05]),
        "quadrant": np.concatenate([grid, MINIMISERS], axis=1),
    }[kind]
    return np.concatenate([points, np.full((1, points.shape[1]), rate)])


KINDS = ("diagonal", "minimisers", "flattest and sharp", "sharp", "off", "quadrant")


@study.compute(
    each=lambda s: [(kind, rate) for kind in KINDS for rate in (PAST, BEFORE)], reads=(),
    seconds=lambda s: 0.1,
)  # fmt: skip
def places(s: Settings, item: tuple[str, float]) -> np.ndarray:
    """Places in the quadrant and a rate, (3, places): x, y and eta."""
    return _points(*item)


@study.compute(each=lambda s: ("product 1", "free", "twice and half"), reads=("seed",),
               seconds=lambda s: 0.1)  # fmt: skip
def factors(s: Settings, kind: str) -> list[np.ndarray]:
    """Two to eight random factors whose product is 1, and without that; (5000, n) each.

    Or pairs of 2 and 1/2, whose sharpness is 4.25.
    """
    if kind == "twice and half":
        return [np.tile([2.0, 0.5], (100, n)) for n in (1, 2, 3)]
    random = np.random.default_rng(s.seed + 1)
    logs = [random.normal(size=(5000, n)) for n in range(2, 9)]
    if kind == "product 1":
        logs = [x - x.mean(axis=1, keepdims=True) for x in logs]
    return [np.exp(x) for x in logs]
