"""Small errors around the balanced orbit of ||Y Z^T - C||^2 / 2: all Floquet multipliers.

002 Observations 1 and 2. Units: eta = 1, so that K is the learning rate times the largest
singular value of C and b that times another one. On the balanced orbit Y = Z = diag(x, sqrt(b),
...), only x moves, with the quartic's map. Errors fall into sectors of two matrix entries that
do not mix: (1,1), (1,p) and (p,q), each with dY = dZ (symmetric) or dY = -dZ (antisymmetric).
The matrices below take an error from one step to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dynascope.core.errors import bad
from dynascope.theories.quartic import quartic_orbit

Symmetry = Literal["symmetric", "antisymmetric"]


@dataclass(frozen=True)
class Multipliers:
    """The multipliers of one sector over one round of the orbit of period 2."""

    pair: tuple[int, int]  # numbers of the singular values, from 0 for the largest
    symmetry: Symmetry
    values: tuple[complex, ...]

    @property
    def radius(self) -> float:
        """The largest modulus."""
        return max(abs(v) for v in self.values)


def neimark_sacker_line(strength: float) -> float:
    """The b = 2 - K at which the orbit loses its stability to a pair on the unit circle.

    This is Observation 1's bound eta (sigma_1^2 + sigma_2^2) < 2, and it is exact.

    Example:
        >>> neimark_sacker_line(1.25)
        0.75
    """
    return 2 - strength


def transfer(x: np.ndarray, strength: float, other: float, symmetry: Symmetry) -> np.ndarray:
    """How an error in the entries (1,p) and (p,1) moves in one step.

    Args:
        x: The top entry of Y = Z at each step, (time,), in units with eta = 1.
        strength: K.
        other: b.
        symmetry: Whether dY = dZ or dY = -dZ.

    Returns:
        Matrices, (time, 2, 2).
    """
    sign = 1.0 if symmetry == "symmetric" else -1.0
    square = np.asarray(x, float) ** 2
    mixed = -sign * x * np.sqrt(other)
    top = 1 - other - sign * (square - strength)
    rows = np.array([[top, mixed], [mixed, 1 - square]])
    return np.moveaxis(rows, -1, 0)


def orbit_multipliers(strengths: Iterable[float]) -> list[Multipliers]:
    """All multipliers of the balanced orbit of period 2 over two steps.

    Args:
        strengths: Learning rate times each singular value of the target, the largest above 1.

    Returns:
        One entry per sector; a multiplier 1 belongs to a rotation that changes nothing.

    Example:
        >>> found = orbit_multipliers([1.1, 0.9])
        >>> [(m.symmetry, round(m.radius, 9)) for m in found if m.pair == (0, 1)]
        [('symmetric', 1.0), ('antisymmetric', 1.0)]
    """
    values = sorted((float(s) for s in strengths), reverse=True)
    orbit = quartic_orbit(values[0], 1.0)
    if orbit is None:
        raise bad("strengths", values[0], "a largest one above 1: below there is no orbit")
    x, k = np.array(orbit.points), values[0]
    found = [
        Multipliers((0, 0), "symmetric", (orbit.multiplier,)),
        Multipliers((0, 0), "antisymmetric", (3 - 2 * k,)),
    ]
    kinds: tuple[Symmetry, Symmetry] = ("symmetric", "antisymmetric")
    for p, b in enumerate(values[1:], 1):
        for kind in kinds:
            first, second = transfer(x, k, b, kind)
            pair = np.linalg.eigvals((second @ first).astype(complex))
            found.append(Multipliers((0, p), kind, tuple(pair.tolist())))
        for q, c in enumerate(values[p:], p):
            rest = ((1 - b - c) ** 2, 1.0)
            if p == q:  # one entry: (1 - 2b)^2 for dY = dZ, and 1 for dY = -dZ
                found += [Multipliers((p, p), kind, (v,)) for kind, v in zip(kinds, rest)]
            else:
                found += [Multipliers((p, q), kind, rest) for kind in kinds]
    return found
