"""Edits of one matrix of one layer, as settings: what is kept of its singular directions.

To add one: derive from `Selection` and write `which`, or from `Edit` and write `changed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import bad, unknown
from dynascope.core.spec import Spec
from dynascope.edits.directions import Directions
from dynascope.edits.families import MATRICES
from dynascope.edits.truncation import chosen_rank


@dataclass(frozen=True)
class Edit(Spec):
    """A change of one matrix: layers from 0, matrices by the names of `MATRICES`."""

    layer: int
    matrix: str

    def check(self) -> None:
        """Raise for names of no matrix."""
        if self.matrix not in MATRICES:
            raise unknown("matrix", self.matrix, MATRICES)
        if self.layer < 0:
            raise bad("layer", self.layer, "a whole number of at least 0")

    def changed(self, w: np.ndarray, found: Directions) -> np.ndarray:
        """The matrix after the edit, as (inputs, outputs)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Selection(Edit):
    """An edit that keeps some of the singular directions and drops the others."""

    def which(self, size: int) -> np.ndarray:
        """The numbers of those that are kept, of so many; 0 is the largest."""
        raise NotImplementedError

    def changed(self, w: np.ndarray, found: Directions) -> np.ndarray:
        """The sum over those that are kept; all of them is the matrix itself, bit by bit."""
        which = self.which(len(found.sigma))
        if len(which) == len(found.sigma):
            return w
        return found.kept(which).astype(w.dtype)


@dataclass(frozen=True)
class _Share(Selection):
    """A number of directions, or their share."""

    keep: float | None = None
    rank: int | None = None

    def check(self) -> None:
        """Raise for shares outside 0 to 1, and where both or none are given."""
        super().check()
        chosen_rank((1, 1), self.rank, self.keep)

    def count(self, size: int) -> int:
        """How many are kept, of so many."""
        return chosen_rank((size, size), self.rank, self.keep)


@dataclass(frozen=True)
class Truncate(_Share):
    """LASER: the largest singular values stay.

    Example:
        >>> Truncate(0, "mlp_in", keep=0.5).which(4).tolist()
        [0, 1]
    """

    def which(self, size: int) -> np.ndarray:
        """The first ones."""
        return np.arange(self.count(size))


@dataclass(frozen=True)
class KeepSmallest(_Share):
    """The control of LASER: the smallest singular values stay."""

    def which(self, size: int) -> np.ndarray:
        """The last ones."""
        return np.arange(size - self.count(size), size)


@dataclass(frozen=True)
class KeepRandom(_Share):
    """The control of LASER: singular directions drawn at random stay, as many as it keeps."""

    seed: int = 0

    def which(self, size: int) -> np.ndarray:
        """A draw without repeats; of one seed the smaller draw is part of the larger."""
        order = np.random.default_rng([self.seed, self.layer, MATRICES.index(self.matrix)])
        return np.sort(order.permutation(size)[: self.count(size)])


@dataclass(frozen=True)
class DropTop(Selection):
    """The largest singular values go."""

    count: int = 1

    def which(self, size: int) -> np.ndarray:
        """All from there on."""
        if not 0 <= self.count <= size:
            raise bad("count", self.count, f"a whole number from 0 to {size}")
        return np.arange(self.count, size)


@dataclass(frozen=True)
class DropDirection(Selection):
    """One singular direction goes; 0 is the largest."""

    number: int = 0

    def which(self, size: int) -> np.ndarray:
        """All others."""
        if not 0 <= self.number < size:
            raise bad("number", self.number, f"a whole number from 0 to {size - 1}")
        return np.delete(np.arange(size), self.number)


@dataclass(frozen=True)
class ProjectOut(Edit):
    """What a matrix writes along one direction of its outputs goes: W (I - d d^T / |d|^2)."""

    direction: tuple[float, ...] = ()

    def changed(self, w: np.ndarray, found: Directions) -> np.ndarray:
        """The matrix with outputs orthogonal to the direction."""
        d = np.asarray(self.direction, float)
        if d.shape != w.shape[1:] or not np.isfinite(d).all() or not d.any():
            raise bad("direction", d.shape, f"{w.shape[1]} finite numbers, not all 0")
        d = d / np.linalg.norm(d)
        return (w - np.outer(w @ d, d)).astype(w.dtype)


@dataclass(frozen=True)
class DropPart(Spec):
    """The control of every edit: a whole part of a block, "attention" or "mlp", adds nothing."""

    layer: int
    part: str = "mlp"

    def check(self) -> None:
        """Raise for parts that there are none of."""
        if self.part not in ("attention", "mlp"):
            raise unknown("part", self.part, ("attention", "mlp"))


def words(edit: Any) -> str:
    """An edit in a few words, such as "mlp_out of layer 5: the largest 5 %"."""
    if isinstance(edit, DropPart):
        return f"layer {edit.layer} without its {edit.part} part"
    share = ""
    if isinstance(edit, _Share):
        share = f"{edit.rank} directions" if edit.keep is None else f"{edit.keep:.4g} of directions"
    kinds = {
        "Truncate": f"the largest {share}", "KeepSmallest": f"the smallest {share}",
        "KeepRandom": f"random {share}", "ProjectOut": "one output direction projected out",
        "DropTop": f"without the largest {getattr(edit, 'count', '')}",
        "DropDirection": f"without direction {getattr(edit, 'number', '')}",
    }  # fmt: skip
    return f"{edit.matrix} of layer {edit.layer}: {kinds[type(edit).__name__]}"
