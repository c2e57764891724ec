"""Random minimisers and other places, ends of stability, and transition matrices, as inputs."""

import numpy as np

from dynascope.studies.oscillation.matrix_factorization import witnesses
from dynascope.studies.oscillation.matrix_factorization.runs import Settings, study
from dynascope.theories.oscillation.quartic import orbit_points

SHAPES = ((3, 4, 5), (6, 2, 3), (2, 7, 2), (4, 4, 4))  # m x k times k x n
LINE = (1.05, 1.1, 1.2)  # strengths at which the end of stability is looked for
Places = list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # X, Y, and C or a direction


def _factors(s: Settings) -> list[tuple[np.ndarray, np.ndarray]]:
    """Five random pairs of factors of each shape."""
    random = np.random.default_rng(s.seed + 4)
    return [
        (random.normal(size=(m, k)), random.normal(size=(k, n)))
        for m, k, n in SHAPES for _ in range(5)
    ]  # fmt: skip


def _numbers() -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbers instead of matrices."""
    return [(np.array([[x]]), np.array([[y]])) for x in (0.5, 1.0, 2.0) for y in (0.3, 0.9, 1.7)]


@study.compute(each=lambda s: ("minimisers", "elsewhere", "numbers"), reads=("seed",),
               seconds=lambda s: 0.1)  # fmt: skip
def targets(s: Settings, kind: str) -> Places:
    """Factors with the target of which they are minimisers, or with another one."""
    if kind == "numbers":
        return [(x, y, x @ y) for x, y in _numbers()]
    random = np.random.default_rng(s.seed + 5)
    off = 0.0 if kind == "minimisers" else 1.0
    return [(x, y, x @ y + off * random.normal(size=(len(x), y.shape[1]))) for x, y in _factors(s)]


def _diagonal() -> list[tuple[np.ndarray, np.ndarray]]:
    """Diagonal factors, the first entries the largest: along these they are numbers."""
    return [
        (np.diag([x, 0.4, 0.2]), np.diag([y, 0.1, 0.3]))
        for x in (1.0, 2.0)
        for y in (0.9, 1.3, 1.7)  # six: fewer decide nothing
    ]


@study.compute(each=lambda s: ("top", "random", "diagonal"), reads=("seed",),
               seconds=lambda s: 0.1)  # fmt: skip
def directions(s: Settings, kind: str) -> Places:
    """Minimisers with the top eigenvector of their Hessian, or with a random direction."""
    random, found = np.random.default_rng(s.seed + 6), []
    for x, y in _diagonal() if kind == "diagonal" else _factors(s):
        top = np.linalg.eigh(witnesses.hessian(x, y))[1][:, -1]
        found.append((x, y, random.normal(size=len(top)) if kind == "random" else top))
    return found


@study.compute(each=lambda s: ("two columns", "one column", "next to the minimum"), reads=(),
               seconds=lambda s: 1)  # fmt: skip
def ends_of_stability(s: Settings, kind: str) -> dict[float, float]:
    """The b at which the orbit of period 2 loses its stability, by K."""
    strengths = (1.02,) if kind == "next to the minimum" else LINE
    return {k: witnesses.end_of_stability(k, 1 if kind == "one column" else 2) for k in strengths}


@study.compute(
    each=lambda s: ("alpha = 1 and 0.8", "alpha = 0.9", "beyond the line", "at the minimum"),
    reads=(), seconds=lambda s: 0.1,
)  # fmt: skip
def products(s: Settings, kind: str) -> list[np.ndarray]:
    """Products of two transition matrices Q on the orbit, over K and b for which (3.9) is true."""
    found = []
    alphas = {"alpha = 1 and 0.8": (1.0, 0.8), "alpha = 0.9": (0.9,)}.get(kind, (1.0,))
    for alpha in alphas:
        for k in np.linspace(1.01, 1.12, 12):
            points = orbit_points(k, 1.0)
            points = np.sqrt([k, k]) if kind == "at the minimum" else points
            for b in np.linspace(0.05, 1.0, 39):
                worst = max(k / alpha**2 + b * alpha**2, b / alpha**2 + k * alpha**2)
                if (worst > 2.02) if kind == "beyond the line" else (worst < 1.98):
                    low, high = (witnesses.transition(x, x, k, b, alpha) for x in points)
                    found.append(high @ low)
    return found
