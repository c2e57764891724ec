"""Claims about the kinds of Jacobian entries (Fig. 4); each is bound by the study of the stages."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.probes.entries import entry_kinds, minor_group
from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence, at_least, at_most, compare, single


@claim(
    "entry-kinds",
    "With s concepts in d dimensions there are s major, 2sd - s^2 - s minor and (d - s)^2 "
    "irrelevant entries, d^2 in all.",
    "001 Fig. 4",
)
def counts(study: Any, found: Any) -> Evidence:
    """Pairs (d, s) up to 10 that miss; counting minor entries by groups must miss."""
    pairs = [(d, s) for d in range(1, 11) for s in range(1, d + 1)]
    missed = sum(
        entry_kinds(d, s).counts != (s, 2 * s * d - s * s - s, (d - s) ** 2) for d, s in pairs
    )
    doubled = sum(entry_kinds(d, s).counts[1] != 2 * s * (d - 1) for d, s in pairs)
    control = ("s groups of 2(d - 1) minor entries, counted one by one", single(doubled))
    return compare(at_most(0), single(missed), control)


@claim(
    "each-entry-in-two-groups",
    "Each minor entry belongs to two groups.",
    "001 section 4.2; 000 has at most two",
)
def two_groups(study: Any, found: Any) -> Evidence:
    """Fewest groups of a minor entry with two concepts in three dimensions."""
    control = ("one concept in three dimensions", single(_fewest_groups(3, 1)))
    return compare(
        at_least(2),
        single(_fewest_groups(3, 2)),
        control,
        "An entry that ties a concept to a direction without one belongs to one group.",
    )


@claim(
    "irrelevant-entries",
    "Irrelevant entries do not reach the output at the test point.",
    "001 Fig. 4, section 4.2",
)
def irrelevant(study: Any, found: Any) -> Evidence:
    """Change of the output when they are raised by 1; minor entries must change it."""
    kinds, point = entry_kinds(4, 2), np.array([*study.task.means, 0.0, 0.0])
    change = {k: float(np.abs(getattr(kinds, k) @ point).max()) for k in ("irrelevant", "minor")}
    control = ("minor entries raised by 1", single(change["minor"]))
    return compare(at_most(0), single(change["irrelevant"]), control)


def _fewest_groups(dimension: int, concepts: int) -> int:
    groups = np.stack([minor_group(dimension, concepts, p) for p in range(concepts)]).sum(axis=0)
    return int(groups[entry_kinds(dimension, concepts).minor].min())
