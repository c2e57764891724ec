"""Small errors around the balanced orbit of ||Y Z^T - C||^2 / 2: all Floquet multipliers.

chen2025 Observations 1 and 2. Units: eta = 1, so that K is the learning rate times the largest
singular value of C and b that times another one. C is m x n of rank rho, Y is m x r and Z is
n x r; in the singular bases of C the balanced orbit is Y = Z = diag(x, sqrt(b_2), ..., sqrt(b_q))
with q = min(r, rho), and only x moves, with the quartic's map. Let d_i be the entries of that
diagonal and e_i those of Y Z^T - C: x^2 - K, then zeros, then -b_i for i > q. To first order

    dY_ik <- (1 - d_k^2) dY_ik - d_i d_k dZ_ki - e_i dZ_ik,   dZ_ik alike with Y and Z exchanged.

So errors fall into sectors that do not mix: entries ik and ki where both directions are fitted,
and single entries ik where one of d_i, d_k is 0; each with dY = dZ (symmetric) or dY = -dZ
(antisymmetric), or alone where only the longer of Y and Z has the row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dynascope.core.errors import bad
from dynascope.theories.oscillation.quartic import quartic_orbit

Symmetry = Literal["symmetric", "antisymmetric", "alone"]


@dataclass(frozen=True)
class Multipliers:
    """The multipliers of one sector over one round of the orbit of period 2."""

    pair: tuple[int, int]  # numbers of column and row, from 0 for the largest singular value
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


def orbit_multipliers(
    strengths: Iterable[float], shape: tuple[int, int] | None = None, inner: int | None = None
) -> list[Multipliers]:
    """All multipliers of the balanced orbit of period 2 over two steps.

    Args:
        strengths: Learning rate times each singular value of the target, the largest above 1.
        shape: Rows and columns of the target; as many as strengths if not given.
        inner: Columns of Y and Z; the smaller number of rows and columns if not given.

    Returns:
        One entry per sector, (m + n) r numbers in all; a multiplier 1 belongs to a rotation that
        changes nothing.

    Example:
        >>> found = orbit_multipliers([1.1, 0.9])
        >>> [(m.symmetry, round(m.radius, 9)) for m in found if m.pair == (0, 1)]
        [('symmetric', 1.0), ('antisymmetric', 1.0)]
        >>> sum(len(m.values) for m in orbit_multipliers([1.1, 0.5, 0.2], (3, 5), inner=6))
        48
    """
    values = sorted((float(s) for s in strengths if s > 0), reverse=True)
    rank = len(values)
    m, n = shape or (rank, rank)
    r = min(m, n) if inner is None else inner
    if rank > min(m, n) or r < 1:
        raise bad("shape", (m, n, r), f"{rank} rows and columns at least, and one inner column")
    orbit = quartic_orbit(values[0], 1.0) if values else None
    if orbit is None:
        raise bad("strengths", values, "a largest one above 1: below there is no orbit")
    x, fitted = np.array(orbit.points), min(r, rank)
    found = _fitted(values[:fitted], x, orbit.multiplier)
    for k in range(r):
        for i in range(max(m, n)):
            if min(i, k) >= fitted or (i < fitted) != (k < fitted):
                found += _single(values, x, (k, i), fitted, paired=i < min(m, n))
    return found


def _fitted(values: list[float], x: np.ndarray, own: float) -> list[Multipliers]:
    """The sectors of the directions that are fitted, among themselves."""
    k = values[0]
    found = [
        Multipliers((0, 0), "symmetric", (own,)),
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


def _single(
    values: list[float], x: np.ndarray, place: tuple[int, int], fitted: int, *, paired: bool
) -> list[Multipliers]:
    """The sectors of an entry whose column or row is of a direction that is not fitted."""
    k, i = place
    zeros = np.zeros(2)
    square = (x**2 if k == 0 else zeros + values[k]) if k < fitted else zeros  # d_k^2 by time
    if i == 0:
        error = x**2 - values[0]  # e_i by time
    else:
        error = zeros - (values[i] if fitted <= i < len(values) else 0.0)
    if not paired:
        return [Multipliers(place, "alone", (float((1 - square).prod()),))]
    return [
        Multipliers(place, "symmetric", (float((1 - square - error).prod()),)),
        Multipliers(place, "antisymmetric", (float((1 - square + error).prod()),)),
    ]


def single_factors(x: np.ndarray, other: float) -> tuple[np.ndarray, np.ndarray]:
    """How an error of the top column in the row of a direction that is not fitted moves.

    Over the orbit of period 2 they multiply to 1 - (1 + b)(K - b) and 1 - (1 - b)(K + b): the
    latter is above 1 as soon as b is.

    Args:
        x: The top entry of Y = Z at each step, (time,), in units with eta = 1.
        other: b.

    Returns:
        The factor of each step for dY = dZ and for dY = -dZ, (time,) each.
    """
    square = np.asarray(x, float) ** 2
    return 1 - square + other, 1 - square - other
