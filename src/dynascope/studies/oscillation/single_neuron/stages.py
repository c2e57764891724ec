"""Descents over the theorem's grid and its controls, sorted into the stages of the proof."""

from typing import NamedTuple

import numpy as np

from dynascope.studies.oscillation.single_neuron.runs import SLOW, Settings, study
from dynascope.theories.oscillation import neuron


class Facts(NamedTuple):
    """What the proof of Theorem 3.5 says of a descent, at its worst over a grid of descents."""

    checks: int  # number of (descent, step) at which the theorem bounds the part across
    violations: int
    worst: np.ndarray  # (steps + 1,) part across over its bound; 0 before the bound begins
    spare_steps: float  # printed length of the first stage less the measured one
    fit_growth: float  # smallest factor of v w_x in a step of the first stage, from step 1
    along_growth: float  # the same of w_x
    tilt: float  # largest part across over part along, from step 1
    ends: np.ndarray  # (descents, 2) part across and imbalance where the first stage ends
    entries: np.ndarray  # (descents,) fit in the first step after it
    settled: np.ndarray  # lowest and highest fit once the bound has begun


def not_below(across: np.ndarray, bound: np.ndarray) -> int:
    """How many are not below their bound; what is no number is below none."""
    return int((~(across < bound)).sum())


def _least(factors: np.ndarray) -> float:
    """The smallest factor; not a number where there is no step to look at."""
    return float(factors.min()) if factors.size else float("nan")


def facts(strengths: np.ndarray, sizes: np.ndarray, angles: np.ndarray, steps: int) -> Facts:
    """Follow descents from every combination of strength, size of the start and angle."""
    k, size, angle = (v.ravel() for v in np.meshgrid(strengths, sizes, angles, indexing="ij"))
    start = neuron.Neuron(size, size * np.cos(angle), size * np.sin(angle))
    states = neuron.reduced_descent(start, k, steps)
    bound = neuron.deviation_bound(np.arange(steps + 1)[:, None], k, size)
    growing = states.fit <= states.pull  # the first stage: the part across still grows
    lasts = np.argmin(growing, axis=0)
    inside = growing[:-1].copy()
    inside[0] = False
    column = np.flatnonzero(lasts > 0)
    ends = [n[lasts[column] - 1, column] for n in (states.across, states.imbalance)]
    fit = states.fit[np.isfinite(bound)]
    return Facts(
        int(np.isfinite(bound).sum()),
        not_below(states.across, bound),
        (states.across / bound).max(axis=1),
        float((neuron.first_stage_bound(size) - lasts).min()),
        _least(states.fit[1:][inside] / states.fit[:-1][inside]),
        _least(states.along[1:][inside] / states.along[:-1][inside]),
        float((states.across[1:] / states.along[1:]).max()),
        np.stack(ends, axis=1),
        states.fit[lasts, np.arange(len(k))],
        np.array([fit.min(), fit.max()]),
    )


@study.compute(
    each=lambda s: ("theorem", "slow", "larger starts", "nearly linear"),
    reads=("strengths", "sizes", "angles", "steps"),
    seconds=lambda s: 3e-7 * (3 * s.strengths + 1) * s.sizes * s.angles * s.steps,
)
def stages(s: Settings, grid: str) -> Facts:
    """The theorem's grid, the same angles and sizes at a small K, and starts up to 0.5.

    Those of "nearly linear" are small and nearly along the teacher: v and w_x are multiplied by
    1 + K together, so that v w_x grows fourfold until it is about 1.
    """
    strengths = np.linspace(1.0, 1.1, s.strengths + 1)[1:]
    sizes = np.linspace(0.0, 0.1, s.sizes + 1)[1:]
    return facts(
        np.array([SLOW]) if grid == "slow" else strengths,
        sizes * {"larger starts": 5, "nearly linear": 0.1}.get(grid, 1),
        np.linspace(*((0.05, 0.2) if grid == "nearly linear" else (0.0, np.pi / 2)), s.angles),
        s.steps,
    )
