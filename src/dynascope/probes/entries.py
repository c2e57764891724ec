"""Kinds of Jacobian entries (Fig 4): major, minor with its groups, irrelevant. Plain numpy.

With s concepts in d dimensions: the s diagonal entries of concepts are major; the other
entries in a row or column of a concept are minor, and the p-th group is those in row or
column p; the rest never reaches the output at a concept combination and is irrelevant. A
minor entry belongs to one group, or to two when both its indices are concepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynascope.core.errors import bad


@dataclass(frozen=True)
class EntryKinds:
    """Boolean masks over the entries, each (d, d); every entry is in exactly one."""

    major: np.ndarray
    minor: np.ndarray
    irrelevant: np.ndarray

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many are major, minor and irrelevant."""
        return int(self.major.sum()), int(self.minor.sum()), int(self.irrelevant.sum())


def entry_kinds(dimension: int, concepts: int) -> EntryKinds:
    """Sort the entries of a d x d Jacobian by kind.

    Args:
        dimension: d.
        concepts: s, from 1 to d; concepts are the first directions.

    Returns:
        The masks.

    Example:
        >>> entry_kinds(3, 2).counts
        (2, 6, 1)
    """
    if not 1 <= concepts <= dimension:
        raise bad("concepts", concepts, f"a whole number from 1 to the dimension, {dimension}")
    concept = np.arange(dimension) < concepts
    touched = concept[:, None] | concept
    major = np.diag(concept)
    return EntryKinds(major, touched & ~major, ~touched)


def minor_group(dimension: int, concepts: int, concept: int) -> np.ndarray:
    """Mask of the minor entries in the row or column of one concept (counted from 0), (d, d).

    Example:
        >>> int(minor_group(3, 2, 0).sum())  # 2 (d - 1)
        4
    """
    if not 0 <= concept < concepts:
        raise bad("concept", concept, f"a whole number from 0 to {concepts - 1}")
    minor = entry_kinds(dimension, concepts).minor
    here = np.arange(dimension) == concept
    return minor & (here[:, None] | here)
