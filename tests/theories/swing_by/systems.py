"""Reference systems of the symmetric model, and what the tests read off them."""

from dataclasses import dataclass

import numpy as np

from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow

PLANE_TIMES = np.linspace(0.0, 30.0, 3001)


@dataclass(frozen=True)
class System:
    means: np.ndarray
    signal: np.ndarray
    start: np.ndarray  # W(0)
    times: np.ndarray
    path: np.ndarray  # W

    @property
    def loss(self) -> np.ndarray:
        return losses(self.path, self.means)


def strengths(means, scales=0.05) -> np.ndarray:
    means = np.asarray(means, float)
    return np.broadcast_to(scales, means.shape) ** 2 + means**2 / len(means)


def losses(path, means) -> np.ndarray:
    wrong = path @ np.asarray(means, float) - np.asarray(means, float)
    return (wrong**2).sum(axis=-1) / 2


def pair(size, correlation) -> np.ndarray:
    return size * np.array([[1.0, correlation], [correlation, 1.0]])


def solve_plane(settings, times=PLANE_TIMES) -> dict[str, System]:
    """All two-dimensional systems in one call: {name: (means, signal, W(0))}."""
    signal = np.stack([np.diag(a) for _, a, _ in settings.values()])
    start = np.stack([w for _, _, w in settings.values()])
    path = read_jacobian(tied_flow(factor_jacobian(start), signal, times))
    return {
        name: System(np.asarray(means, float), np.asarray(a, float), w, times, path[n])
        for n, (name, (means, a, w)) in enumerate(settings.items())
    }


def plane_settings() -> dict:
    a = strengths((1, 2))
    settings = {
        "swing-by": ((1, 2), a, pair(0.01, 0.9)),
        "negative": ((1, 2), a, pair(0.01, -0.9)),
        "equal": ((1.5, 1.5), strengths((1.5, 1.5)), pair(0.01, 0.9)),
        "diagonal": ((1, 2), a, pair(0.01, 0.0)),
        "zero": ((1, 2), a, pair(0.0, 0.0)),
        "closer": ((1, 1.5), strengths((1, 1.5)), pair(0.01, 0.95)),
        "larger": ((1, 1.5), strengths((1, 1.5)), pair(0.04, 0.9)),
        "tight": ((1, 2), a, pair(0.01, 0.99)),
        "rank one": ((1, 2), a, pair(0.01, 1.0)),
    }
    for scale in (0.05, 0.2, 0.5, 1.0, 1.5, 2.0):
        settings[f"scale {scale}"] = ((1, 2), strengths((1, 2), scale), pair(0.01, 0.9))
    return settings


TRIPLE_WEIGHTS = np.array([
    [0.03534, 0.0729, 0.08815],
    [0.09989, 0.02534, 0.0789],
    [0.0387, 0.0068, 0.02808],
])
QUADRUPLE_WEIGHTS = np.array([
    [0.09259, 0.07167, 0.00768, 0.09404],
    [0.03929, 0.06283, 0.01755, 0.05212],
    [0.02205, 0.06548, 0.03059, 0.09968],
    [0.01089, 0.0564, 0.01836, 0.02954],
])


QUADRUPLE_SCALES = np.array([0.05, 0.05, 0.05, 0.5])


def embed(matrix: np.ndarray, size: int = 4) -> np.ndarray:
    """The same system with directions that have neither signal nor weights added to it."""
    return np.pad(matrix, [(0, size - n) for n in matrix.shape])


def solve_references(turn: np.ndarray) -> dict[str, System]:
    """The systems with three and four descents, and the former on rotated data, in one call."""
    times = np.linspace(0.0, 60.0, 6001)
    three, four = strengths((1, 1.5, 2.2)), strengths((1, 1.5, 2.2, 2.7), QUADRUPLE_SCALES)
    settings = {
        "triple": ((1, 1.5, 2.2), np.diag(three), TRIPLE_WEIGHTS),
        "quadruple": ((1, 1.5, 2.2, 2.7), np.diag(four), QUADRUPLE_WEIGHTS),
        "rotated": ((1, 1.5, 2.2), turn.T @ np.diag(three) @ turn, turn.T @ TRIPLE_WEIGHTS),
    }
    signal = np.stack([embed(a) for _, a, _ in settings.values()])
    weights = np.stack([embed(u) for _, _, u in settings.values()])
    path = read_jacobian(tied_flow(weights, signal, times))
    found = {}
    for n, (name, (means, a, _)) in enumerate(settings.items()):
        here = path[n, :, : len(means), : len(means)]
        found[name] = System(np.asarray(means, float), np.diag(a), here[0], times, here)
    return found


def logistic_entry(initial, signal, times):
    """A diagonal entry that no other one touches: logistic growth at rate 2a, (time, ...)."""
    start, rate = np.broadcast_arrays(np.asarray(initial, float), np.asarray(signal, float))
    fade = np.exp(-2 * np.multiply.outer(np.asarray(times, float), rate))
    return 1.0 / (1.0 + (1.0 / start - 1.0) * fade)
