"""One ReLU neuron that learns another: v relu(w.x) against relu(u.x), x even on the sphere.

chen2025 section 3.5 and appendix B.9. With |u| = 1 and the angle a between w and u the population's
squared loss has a closed gradient. Gradient descent stays in the plane of w and u, where three
numbers move: v, the part of w along the teacher, and the length of the part across it. In units
of the strength K = learning rate / dimension their map knows no dimension. Arrays broadcast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Neuron(NamedTuple):
    """Where the reduced system is; the three numbers may be arrays."""

    output: np.ndarray  # v
    along: np.ndarray  # part of w along the teacher
    across: np.ndarray  # length of the rest of w, at least 0

    @property
    def fit(self) -> np.ndarray:
        """The output weight times the part along the teacher: 1 at every minimiser."""
        return self.output * self.along

    @property
    def imbalance(self) -> np.ndarray:
        """The output weight less the part along the teacher."""
        return self.output - self.along

    @property
    def pull(self) -> np.ndarray:
        """What `fit` has to exceed for the part across to shrink; at most 1 / 2 pi."""
        square = self.along**2 + self.across**2
        return self.along * self.across / (np.pi * np.where(square > 0, square, 1.0))


def neuron_loss(v: ArrayLike, w: ArrayLike, teacher: ArrayLike) -> np.ndarray:
    """Population loss E (v relu(w.x) - relu(u.x))^2 for a teacher u of length 1.

    Args:
        v: Output weight, (...).
        w: Input weights, (..., d).
        teacher: u, (d,).

    Returns:
        The loss, (...).

    Example:
        >>> float(neuron_loss(2.0, [0.5, 0.0], [1.0, 0.0]))
        0.0
    """
    v, w, length, angle, _ = _polar(v, w, teacher)
    shared = length / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    return ((v * length) ** 2 + 1 - 2 * v * shared) / (2 * w.shape[-1])


def neuron_gradient(
    v: ArrayLike, w: ArrayLike, teacher: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of `neuron_loss` for v, (...), and for w, (..., d); arguments as there.

    A neuron of length 0 has no angle and counts as aligned.

    Example:
        >>> dv, dw = neuron_gradient(1.0, [0.0, 1.0], [1.0, 0.0])
        >>> round(float(dv), 6), [round(float(g), 6) for g in dw]  # (1 - 1/pi) / 2 across
        (0.340845, [-0.25, 0.340845])
    """
    v, w, length, angle, across = _polar(v, w, teacher)
    u, d = np.asarray(teacher, float), w.shape[-1]
    for_v = v * length**2 - length / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    on_teacher = v / np.pi * (np.pi - angle + np.sin(2 * angle) / 2)
    on_rest = v / np.pi * np.sin(angle) ** 2
    for_w = v[..., None] ** 2 * w - on_teacher[..., None] * u - on_rest[..., None] * across
    return for_v / d, for_w / d


def _polar(v: ArrayLike, w: ArrayLike, teacher: ArrayLike) -> tuple[np.ndarray, ...]:
    """Both weights as arrays, the length of w, its angle, the unit vector of its rest (or 0)."""
    v, w, u = (np.asarray(a, float) for a in (v, w, teacher))
    along = w @ u
    rest = w - along[..., None] * u
    size = np.linalg.norm(rest, axis=-1)
    unit = rest / np.where(size > 0, size, 1.0)[..., None]
    return v, w, np.hypot(along, size), np.arctan2(size, along), unit


def neuron_hessian(v: float, teacher: ArrayLike) -> np.ndarray:
    """Hessian (3.5) of `neuron_loss` at the minimiser w = u / v, for v, then w.

    Its eigenvalues are (|w|^2 + v^2) / d, v^2 / d (d - 1 times) and 0; the flattest minimiser
    has v = 1 and sharpness 2 / d, so the edge of stability is the learning rate d.

    Example:
        >>> [round(float(x), 12) for x in np.linalg.eigvalsh(neuron_hessian(1.0, [1.0, 0.0]))]
        [0.0, 0.5, 1.0]
    """
    u = np.asarray(teacher, float)
    d = len(u)
    hessian = np.zeros((d + 1, d + 1))
    hessian[0, 0] = 1 / v**2
    hessian[0, 1:] = hessian[1:, 0] = u
    hessian[1:, 1:] = v**2 * np.eye(d)
    return hessian / d


def reduced_step(state: Neuron, strength: ArrayLike) -> Neuron:
    """One step of descent for the three numbers (B.58 to B.61), at K = learning rate / d.

    Example:
        >>> state = Neuron(*np.array([0.1, 0.0, 0.1]))
        >>> [round(float(x), 4) for x in reduced_step(state, 1.1)]
        [0.1339, 0.055, 0.1339]
    """
    v, x, y = state
    angle = np.arctan2(y, x)
    square = x**2 + y**2
    safe = np.where(square > 0, square, 1.0)
    # K times the slopes; at x = 0 nothing is divided by x, as the printed form would.
    dv = x * (1 - v * x) - v * y**2 + (y - angle * x) / np.pi
    dx = v * ((1 - v * x) - (angle - x * y / safe) / np.pi)
    dy = y * (-(v**2) + v * y / (np.pi * safe))
    return Neuron(v + strength * dv, x + strength * dx, np.abs(y + strength * dy))


def reduced_descent(state: Neuron, strength: ArrayLike, steps: int) -> Neuron:
    """All states of a descent: the three arrays get a leading axis of steps + 1."""
    states = [Neuron(*np.broadcast_arrays(*state, np.asarray(strength, float))[:3])]
    for _ in range(steps):
        states.append(reduced_step(states[-1], strength))
    return Neuron(*(np.stack(numbers) for numbers in zip(*states, strict=True)))


def first_stage_bound(start: ArrayLike) -> np.ndarray:
    """Theorem 3.5: how many steps at most w's part across the teacher still grows.

    Args:
        start: The length of w and the value of v at the start, from above 0 to 0.1.

    Returns:
        Whole numbers of steps, as floats.

    Example:
        >>> float(first_stage_bound(0.1))
        4.0
    """
    beta = (1 + 1.1 / np.pi) * np.asarray(start, float)
    return np.ceil(np.log(1.35 / (np.pi * beta**2)) / np.log(2.56))


def deviation_bound(steps: ArrayLike, strength: ArrayLike, start: ArrayLike) -> np.ndarray:
    """Theorem 3.5: what the part across stays below; infinite before the bound begins."""
    late = np.asarray(steps, float) - first_stage_bound(start) - 4
    bound = 0.1 * (1 - 0.03 * np.asarray(strength, float)) ** np.maximum(late, 0)
    return np.where(late >= 0, bound, np.inf)


def decay_factors(strength: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """By how much two steps on the orbit of period 2 multiply the part across, and the imbalance.

    |1 - K| and 3 - 2K: the part across dies first as long as K < 4/3.

    Example:
        >>> [round(float(x), 12) for x in decay_factors(1.1)]
        [0.1, 0.8]
    """
    k = np.asarray(strength, float)
    return np.abs(1 - k), 3 - 2 * k
