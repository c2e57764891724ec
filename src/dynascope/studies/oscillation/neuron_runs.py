"""Descents of single neurons from many starts, sorted into stages; and dense witnesses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import eigsh

from dynascope.probes.orbits import period
from dynascope.theories.neuron import (
    Neuron,
    deviation_bound,
    first_stage_bound,
    neuron_gradient,
    neuron_hessian,
    reduced_descent,
)
from dynascope.theories.quartic import orbit_points


class Facts(NamedTuple):
    """What the proof of Theorem 3.5 says of a descent, at its worst over a grid of descents."""

    checks: int  # number of (descent, step) at which the theorem bounds the part across
    violations: int
    worst: np.ndarray  # (steps + 1,) part across over its bound; 0 before the bound begins
    spare_steps: float  # printed length of the first stage less the measured one
    fit_growth: float  # smallest factor of v w_x in a step of the first stage, from step 1
    along_growth: float  # the same of w_x
    tilt: float  # largest part across over part along, from step 1
    ends: np.ndarray  # (descents, 3) part across, imbalance and fit where the first stage ends
    entries: np.ndarray  # (descents,) fit in the first step after it
    settled: np.ndarray  # lowest and highest fit once the bound has begun


def facts(strengths: np.ndarray, sizes: np.ndarray, angles: np.ndarray, steps: int) -> Facts:
    """Follow descents from every combination of strength, size of the start and angle."""
    k, size, angle = (v.ravel() for v in np.meshgrid(strengths, sizes, angles, indexing="ij"))
    states = reduced_descent(Neuron(size, size * np.cos(angle), size * np.sin(angle)), k, steps)
    bound = deviation_bound(np.arange(steps + 1)[:, None], k, size)
    growing = states.fit <= states.pull  # the first stage: the part across still grows
    lasts = np.argmin(growing, axis=0)
    inside = growing[:-1].copy()
    inside[0] = False
    began = lasts > 0
    column = np.flatnonzero(began)
    ends = [n[lasts[column] - 1, column] for n in (states.across, states.imbalance, states.fit)]
    fit = states.fit[np.isfinite(bound)]
    return Facts(
        int(np.isfinite(bound).sum()),
        int((states.across >= bound).sum()),
        (states.across / bound).max(axis=1),
        float((first_stage_bound(size) - lasts).min()),
        float((states.fit[1:][inside] / states.fit[:-1][inside]).min(initial=np.inf)),
        float((states.along[1:][inside] / states.along[:-1][inside]).min(initial=np.inf)),
        float((states.across[1:] / states.along[1:]).max()),
        np.stack(ends, axis=1),
        states.fit[lasts, np.arange(len(k))],
        np.array([fit.min(), fit.max()]),
    )


def sampled_gradient(
    v: float, w: np.ndarray, teacher: np.ndarray, x: np.ndarray
) -> tuple[float, np.ndarray]:
    """Gradient of the mean squared error on given points (m, d), for v and for w."""
    mine, right = np.maximum(x @ w, 0), np.maximum(x @ teacher, 0)
    error = v * mine - right
    return float(2 * (error * mine).mean()), 2 * v * (error * (mine > 0)) @ x / len(x)


def sphere(points: int, dimension: int, seed: int) -> np.ndarray:
    """Points evenly spread on the unit sphere, (points, dimension)."""
    drawn = np.random.default_rng(seed).normal(size=(points, dimension))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def full_descent(
    v: float, w: np.ndarray, teacher: np.ndarray, strength: float, steps: int
) -> Neuron:
    """Descent with the closed gradient in all dimensions, reduced to the three numbers."""
    seen = []
    for _ in range(steps + 1):
        along = w @ teacher
        seen.append((v, along, np.linalg.norm(w - along * teacher)))
        for_v, for_w = neuron_gradient(v, w, teacher)
        v, w = float(v - strength * len(w) * for_v), w - strength * len(w) * for_w
    return Neuron(*np.array(seen).T)


def numerical_hessian(v: float, w: np.ndarray, teacher: np.ndarray) -> np.ndarray:
    """Central differences of the closed gradient, for v, then w."""
    place, h = np.concatenate([[v], w]), 1e-7

    def slope(p: np.ndarray) -> np.ndarray:
        for_v, for_w = neuron_gradient(p[0], p[1:], teacher)
        return np.concatenate([[for_v], for_w])

    steps = h * np.eye(len(place))
    return np.array([(slope(place + s) - slope(place - s)) / (2 * h) for s in steps])


def copy_sharpness_on(x: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Sharpness of w_i = k e_i, v_i = 1 / k on given points, over ratios k^2.

    The top eigenvalue of the whole Hessian 2 J^T J / m, with no use of symmetry.

    Args:
        x: Points, (m, d).
        ratios: k^2 of all neurons, (n,).

    Returns:
        Sharpness, (n,).
    """
    m, d = x.shape
    gates = (x > 0).astype(float)
    # Rows of J: k relu(x_i), then x_j [x_i > 0] / k. Their moments do not depend on k.
    slopes = np.concatenate([gates * x, (gates[:, :, None] * x[:, None]).reshape(m, -1)], axis=1)
    moments = 2 / m * slopes.T @ slopes
    scales = np.sqrt([np.repeat([r, 1 / r], [d, d * d]) for r in ratios])
    first = np.ones(len(moments))  # ARPACK's own start is random
    return np.array([
        eigsh(moments * s[:, None] * s, 1, v0=first, return_eigenvectors=False)[0] for s in scales
    ])


def settled(strength: float) -> Neuron:
    """The last steps of long descents from 20 angles, up to 0.95 pi."""
    angle = np.linspace(0.0, 0.95 * np.pi, 20)
    state = Neuron(np.full(20, 0.1), 0.1 * np.cos(angle), 0.1 * np.sin(angle))
    late = Neuron(*(numbers[-1] for numbers in reduced_descent(state, strength, 3000)))
    return reduced_descent(late, strength, 512)


def on_orbit(ends: Neuron, strength: float) -> np.ndarray:
    """Whether the last two steps are on the orbit's two points, within 1e-9, (starts,)."""
    points = orbit_points(1.0, strength)[:, None]
    misses = [np.abs(np.sort(n[-2:], axis=0) - points).max(axis=0) for n in ends[:2]]
    return np.max([*misses, ends.across[-1]], axis=0) < 1e-9


def periods(ends: Neuron) -> np.ndarray:
    """The period of v from every start; 0 for none."""
    found = [period(trace, tolerance=1e-6) for trace in ends.output.T]
    return np.array([p or 0 for p in found])


def gradient_error(d: int, turn: float, seed: int) -> float:
    """Largest difference of the closed gradient, its teacher turned, from a million points."""
    random = np.random.default_rng(seed + d)
    w, teacher = random.normal(size=d), np.eye(d)[0]
    w /= np.linalg.norm(w)
    turned = np.cos(turn) * teacher + np.sin(turn) * np.eye(d)[1]
    closed = neuron_gradient(0.8, w, turned)
    drawn = sampled_gradient(0.8, w, teacher, sphere(1_000_000, d, seed))
    return float(max(np.abs(a - b).max() for a, b in zip(closed, drawn, strict=True)))


def hessian_error(d: int, v: float | None) -> float:
    """Largest error of an eigenvalue at v; without v, of the flattest ones' at v = 1.6."""
    teacher, at = np.eye(d)[0], 1.6 if v is None else v
    seen = np.linalg.eigvalsh(numerical_hessian(at, teacher / at, teacher))
    said = np.linalg.eigvalsh(neuron_hessian(1.0 if v is None else v, teacher))
    return float(np.abs(seen - said).max())


def map_error(d: int, strength: float, other: float, seed: int) -> float:
    """Largest difference of the full descent at a strength from three numbers at another."""
    random = np.random.default_rng(seed + d)
    teacher, w = (x / np.linalg.norm(x) for x in random.normal(size=(2, d)))
    full = full_descent(0.1, 0.1 * w, teacher, strength, 100)
    three = reduced_descent(Neuron(*(n[0] for n in full)), other, 100)
    return float(max(np.abs(a - b).max() for a, b in zip(full, three, strict=True)))
