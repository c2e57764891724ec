"""Lemmas D.1 to D.8 as predicates over a run of gradient descent on U.

Symbols, as in appendix D: a signal strengths, alpha and gamma alpha the smallest and largest;
omega and beta omega the smallest and largest |w_ij(0)|; P beta omega the edge of the initial
phase; eta the step size in paper time; K, kappa free constants (see `assumptions`).

Every predicate is written as a gap: the logarithm of bound over value (of value over bound
for lower bounds), so a negative gap is a violation and its size says by how many e-foldings.
Every step of the run is checked, none is skipped; logarithms are used throughout because the
theorem's own regime starts at omega of 1e-82.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.theories.swing_by.assumptions import find_constants
from dynascope.theories.swing_by.entry_flow import flow_terms
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_descent

_ROUND_OFF = 1e-10  # in the logarithm; bounds that start as equalities need it


@dataclass(frozen=True)
class LemmaConstants:
    """The constants that the lemmas speak about; `mildest` finds the least extreme ones."""

    omega: float
    beta: float
    P: float
    K: float = 20.0
    kappa: float = 1.1

    @classmethod
    def mildest(cls, signal: ArrayLike, beta: float = 2.0) -> LemmaConstants:
        """The constants with the largest omega for which D.1 to D.5 hold together."""
        found = find_constants(signal, beta)
        if found.log10_omega is None or found.log10_P is None:
            raise bad(
                "signal", np.asarray(signal).tolist(), f"strengths that {found.blocked_by} allows"
            )
        return cls(10**found.log10_omega, beta, 10**found.log10_P)

    @property
    def edge(self) -> float:
        """Logarithm of P beta omega, where the initial phase ends."""
        return math.log(self.P) + math.log(self.beta) + math.log(self.omega)


@dataclass(frozen=True)
class StageTimes:
    """Bounds of the lemmas, in steps.

    `uniform` is T_1 of D.2; `own` is T_1^(i) of D.3, one per direction; `learned` is t* of
    D.8 as printed, by which w_ii should have reached 0.8.
    """

    uniform: float
    own: tuple[float, ...]
    learned: tuple[float, ...]


def stage_times(
    signal: ArrayLike, start: ArrayLike, learning_rate: float, constants: LemmaConstants
) -> StageTimes:
    """How long the lemmas say that each stage lasts.

    Args:
        signal: Signal strengths a, (d,).
        start: The major entries w_ii(0), (d,).
        learning_rate: eta, in paper time.
        constants: See `LemmaConstants`.

    Returns:
        The stage times, in steps.
    """
    a, c = np.asarray(signal, float), constants
    own = (c.edge - np.log(start)) / (2 * learning_rate * a * c.kappa)
    rise = c.kappa * (math.log(0.8) - c.edge) / (0.3 * learning_rate * a)
    uniform = math.log(c.P) / (2 * learning_rate * float(a.max()) * c.kappa)
    return StageTimes(uniform, tuple(own.tolist()), tuple((own + rise).tolist()))


@dataclass(frozen=True)
class LemmaCheck:
    """Outcome of one lemma on one run.

    `worst_gap` is natural-logarithmic; negative means violated by that many e-foldings. It is
    infinite, and `checked` is 0, when the premise of the lemma never came true.
    """

    name: str
    statement: str
    checked: int
    violations: int
    worst_gap: float
    first_violation: int | None  # step

    @property
    def holds(self) -> bool:
        """Whether no step violates it."""
        return self.violations == 0


@dataclass(frozen=True)
class _Run:
    """A path of W with what the predicates need; `w` is (time, d, d)."""

    w: np.ndarray
    a: np.ndarray
    eta: float
    constants: LemmaConstants

    @cached_property
    def step(self) -> np.ndarray:
        return np.arange(len(self.w), dtype=float)[:, None]

    @cached_property
    def log(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.abs(self.w))

    @cached_property
    def major(self) -> np.ndarray:
        return np.diagonal(self.w, axis1=1, axis2=2)

    @cached_property
    def log_major(self) -> np.ndarray:
        return np.diagonal(self.log, axis1=1, axis2=2)

    @cached_property
    def stages(self) -> StageTimes:
        return stage_times(self.a, self.major[0], self.eta, self.constants)

    def grown(self, power: float) -> np.ndarray:
        """The logarithm of |w_ij(0)|, plus eta t (a_i + a_j) power, (time, d, d)."""
        pair = self.a[:, None] + self.a
        return self.log[0] + self.eta * power * self.step[:, :, None] * pair


def _only(gap: np.ndarray, where: np.ndarray) -> np.ndarray:
    """NaN marks what a lemma does not speak about."""
    return np.where(where, gap, np.nan)


def _growth_above(run: _Run) -> np.ndarray:
    return run.grown(run.constants.kappa) - run.log


def _growth_below(run: _Run) -> np.ndarray:
    inside = run.constants.edge - run.log
    above = run.log - run.grown(1 / run.constants.kappa)
    gap = np.where(np.sign(run.w) == np.sign(run.w[0]), np.minimum(inside, above), -np.inf)
    return _only(gap, (run.step <= run.stages.uniform)[:, :, None])


def _major_growth_below(run: _Run) -> np.ndarray:
    inside = run.constants.edge - run.log_major
    bound = run.log_major[0] + 2 * run.eta * run.step * run.a / run.constants.kappa
    gap = np.minimum(inside, run.log_major - bound)
    return _only(gap, run.step <= np.array(run.stages.own))


def _later_growth_below(run: _Run) -> np.ndarray:
    # Step by step with the tightest lambda, the value reached; every longer stretch with a
    # larger lambda is a sum of such steps, so this is the whole lemma.
    before, after = run.log_major[:-1], run.log_major[1:]
    ceiling = np.maximum(run.major[1:], math.exp(run.constants.edge))
    bound = 2 * run.eta * run.a * (1 - ceiling) / run.constants.kappa
    premise = (before >= run.constants.edge) & (ceiling < 1 - 1 / run.constants.K)
    return _only(after - before - bound, premise)


def _major_bounded(run: _Run) -> np.ndarray:
    gap = math.log(1 + 2 / run.constants.K) - run.log_major
    return np.where(run.major >= 0, gap, -np.inf)


def _major_update(run: _Run) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -math.log(run.constants.K) - np.log(np.abs(np.diff(run.major, axis=0)))


def _major_stays(run: _Run) -> np.ndarray:
    floor = math.log(1 - 2 / run.constants.K)
    return _only(run.log_major - floor, np.logical_or.accumulate(run.log_major >= floor))


def _minor_suppressed(run: _Run) -> np.ndarray:
    grown = (run.major > 0.8)[:, :, None]  # row i suppresses (i, j) where a_i > a_j
    lowest = np.minimum.accumulate(np.where(grown, run.log, np.inf))
    gap = np.maximum(lowest, math.log(run.constants.omega)) - run.log
    return _only(gap, (lowest < np.inf) & (run.a[:, None] > run.a))


def _minor_bounded(run: _Run) -> np.ndarray:
    return _only(run.constants.edge - run.log, ~np.eye(run.a.size, dtype=bool))


def _learned_in_time(run: _Run) -> np.ndarray:
    reached = run.major >= 0.8
    took = np.where(reached.any(axis=0), reached.argmax(axis=0), np.inf)
    deadline = np.array(run.stages.learned)
    # The verdict falls at the last step, if the run is long enough for one.
    gap = np.full(run.major.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap[-1] = _only(np.log(deadline / took), (deadline <= len(run.w) - 1) | (took <= deadline))
    return gap


def _noise_bounded(run: _Run, power: int) -> np.ndarray:
    c = run.constants
    noise = flow_terms(run.w / c.omega, run.a).noise  # scaled, or omega^2 could underflow
    bound = math.log(2 * run.a.max() * run.a.size) + power * math.log(c.P) + 2 * math.log(c.beta)
    with np.errstate(divide="ignore"):
        return bound - np.log(np.abs(noise))


_LEMMAS: dict[str, tuple[str, Callable[[_Run], np.ndarray]]] = {
    "D.1": ("no entry grows faster than exp(kappa eta t (a_i + a_j))", _growth_above),
    "D.2": ("until T_1 all entries keep sign, grow, and stay in the initial phase", _growth_below),
    "D.3": ("until T_1^(i) the major entry i grows in the initial phase", _major_growth_below),
    "D.4": ("past the initial phase a major entry grows exponentially", _later_growth_below),
    "D.5": ("a major entry stays between 0 and 1 + 2/K", _major_bounded),
    "Cor D.2": ("a major entry moves by at most 1/K per step", _major_update),
    "D.6": ("a major entry that reached 1 - 2/K stays above it", _major_stays),
    "D.7": ("a major entry above 0.8 keeps its weaker minor entries down", _minor_suppressed),
    "D.8": ("minor entries never leave the initial phase", _minor_bounded),
    "D.8 time": ("a major entry reaches 0.8 by the printed time", _learned_in_time),
    "Cor D.1": (
        "noise is at most 2 P gamma alpha d beta^2 omega^2",
        lambda r: _noise_bounded(r, 1),
    ),
    "Cor D.1 with P^2": ("the same with P squared", lambda r: _noise_bounded(r, 2)),
}


def verify_lemmas(
    weights: ArrayLike,
    signal: ArrayLike,
    constants: LemmaConstants,
    learning_rate: float,
    steps: int | None = None,
) -> tuple[LemmaCheck, ...]:
    """Run gradient descent on U and hold every lemma against every step.

    Args:
        weights: U(0), (d, width); W(0) = U U^T must not contain zeros. `factor_jacobian` of
            `schur` makes one from a W(0), singular ones included.
        signal: Signal strengths a, (d,).
        constants: See `LemmaConstants`.
        learning_rate: eta, in paper time.
        steps: How many; None runs 5% past the printed time of the slowest direction.

    Returns:
        One check per lemma and corollary.
    """
    start = read_jacobian(np.asarray(weights, float))
    a = np.asarray(signal, float)
    if not start.all():
        raise bad("weights", "a Jacobian with zeros", "non-zero entries, as D.1 assumes")
    if steps is None:
        times = stage_times(a, np.diagonal(start), learning_rate, constants)
        steps = math.ceil(1.05 * max(times.learned))
    run = _Run(tied_descent(weights, a, learning_rate, steps), a, learning_rate, constants)
    return tuple(_check(name, words, gap(run)) for name, (words, gap) in _LEMMAS.items())


def _check(name: str, statement: str, gap: np.ndarray) -> LemmaCheck:
    broken = gap < -_ROUND_OFF  # NaN, where the lemma is silent, compares as false
    steps = np.flatnonzero(broken.reshape(len(gap), -1).any(axis=1))
    checked = int(np.count_nonzero(~np.isnan(gap)))
    worst = float(np.nanmin(gap)) if checked else math.inf
    first = int(steps[0]) if steps.size else None
    return LemmaCheck(name, statement, checked, int(broken.sum()), worst, first)
