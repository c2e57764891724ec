"""The closed gradient, Hessian and reduced map against points, differences and all dimensions."""

from typing import NamedTuple

import numpy as np

from dynascope.studies.oscillation.single_neuron.runs import FIGURE, Settings, study
from dynascope.theories.oscillation.neuron import Neuron, neuron_gradient, reduced_descent


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


DIMENSIONS = (2, 5)
BATCHES, POINTS = 16, 62_500  # of which gradients are taken


class Gradients(NamedTuple):
    """Gradients at v = 0.8 and some w, for a teacher along the first axis, by batch of points."""

    w: np.ndarray
    for_v: np.ndarray  # (batches,)
    for_w: np.ndarray  # (batches, d)


def closed(w: np.ndarray, turn: float) -> np.ndarray:
    """The closed gradient for v, then w, of a teacher turned by an angle, (1 + d,)."""
    teacher = np.zeros(len(w))
    teacher[:2] = np.cos(turn), np.sin(turn)
    for_v, for_w = neuron_gradient(0.8, w, teacher)
    return np.concatenate([[for_v], for_w])


@study.compute(each=lambda s: DIMENSIONS, reads=("seed",), seconds=lambda s: 0.8)
def gradients(s: Settings, d: int) -> Gradients:
    """The gradient on a million points in batches, by dimension."""
    w = np.random.default_rng(s.seed + d).normal(size=d)
    return _gradients(w / np.linalg.norm(w), s.seed)


@study.compute(each=lambda s: DIMENSIONS, reads=("seed",), seconds=lambda s: 0.8)
def gradients_at_teacher(s: Settings, d: int) -> Gradients:
    """The same at w = u."""
    return _gradients(np.eye(d)[0], s.seed)


def _gradients(w: np.ndarray, seed: int) -> Gradients:
    d = len(w)
    x = sphere(BATCHES * POINTS, d, seed).reshape(BATCHES, POINTS, d)
    parts = [sampled_gradient(0.8, w, np.eye(d)[0], batch) for batch in x]
    return Gradients(w, *(np.array(part) for part in zip(*parts, strict=True)))


@study.compute(
    gradients, each=lambda s, drawn: ("printed", "turned by 0.1", "at the teacher"),
    reads=("seed",), seconds=lambda s: 0.1,
)  # fmt: skip
def said(s: Settings, drawn: dict[int, Gradients], kind: str) -> dict[int, np.ndarray]:
    """The closed gradient at the same weights, for a teacher turned by 0.1 rad, and at w = u."""
    turn = 0.1 if kind == "turned by 0.1" else 0.0
    at = {d: np.eye(d)[0] if kind == "at the teacher" else seen.w for d, seen in drawn.items()}
    return {d: closed(w, turn) for d, w in at.items()}


Spectra = list[tuple[np.ndarray, np.ndarray]]  # eigenvalues that are seen, and said, ascending


def printed_spectrum(v: float, d: int) -> np.ndarray:
    """(|w|^2 + v^2) / d, v^2 / d (d - 1 times) and 0 at the minimiser v w = u, ascending.

    Example:
        >>> printed_spectrum(2.0, 1).tolist()  # of (v w - 1)^2 / 2: 0 and v^2 + w^2
        [0.0, 4.25]
    """
    return np.array([0.0, *[v**2] * (d - 1), v**-2 + v**2]) / d


@study.compute(each=lambda s: ("minimisers", "of another", "one dimension"), reads=(),
               seconds=lambda s: 0.1)  # fmt: skip
def spectra(s: Settings, kind: str) -> Spectra:
    """Eigenvalues of differences of the gradient at minimisers, and the printed ones.

    Those of "of another" are said for the flattest minimiser. In one dimension the loss is
    (v w - 1)^2 / 2 for w > 0, whose eigenvalues at v w = 1 are 0 and v^2 + w^2.
    """
    found = []
    for d in (1,) if kind == "one dimension" else (2, 5, 20):
        for v in (0.7, 1.0, 1.6) if kind != "of another" else (1.6,):
            teacher = np.eye(d)[0]
            matrix = numerical_hessian(v, teacher / v, teacher)
            said = printed_spectrum(1.0 if kind == "of another" else v, d)
            found.append((np.linalg.eigvalsh(matrix), said))
    return found


@study.compute(each=lambda s: (2, 5, 20), reads=("seed",), seconds=lambda s: 0.1)
def full(s: Settings, d: int) -> Neuron:
    """Descents in 2, 5 and 20 dimensions at Fig. B.2's K, reduced to the three numbers."""
    drawn = np.random.default_rng(s.seed + d).normal(size=(2, d))
    teacher, w = (x / np.linalg.norm(x) for x in drawn)
    return full_descent(0.1, 0.1 * w, teacher, FIGURE, 100)


@study.compute(each=lambda s: (2, 5, 20), reads=(), seconds=lambda s: 0.1)
def at_rest(s: Settings, d: int) -> Neuron:
    """Descents that begin at the flattest minimiser, below the edge: v = 1, w = u."""
    return full_descent(1.0, np.eye(d)[0], np.eye(d)[0], 0.5, 100)


@study.finding
def resting(s: Settings) -> dict[int, Neuron]:
    """The three numbers of a neuron that stays there: 1, 1 and 0."""
    stays = Neuron(np.ones(101), np.ones(101), np.zeros(101))
    return dict.fromkeys((2, 5, 20), stays)


@study.compute(
    full, each=lambda s, full: (FIGURE, FIGURE + 0.001), reads=("seed",), seconds=lambda s: 0.1
)
def reduced(s: Settings, full: dict[int, Neuron], strength: float) -> dict[int, Neuron]:
    """Descents of three numbers from the same starts, by K, then by dimension."""
    starts = {d: Neuron(*(n[0] for n in seen)) for d, seen in full.items()}
    return {d: reduced_descent(start, strength, 100) for d, start in starts.items()}
