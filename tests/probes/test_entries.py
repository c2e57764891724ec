import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes.entries import entry_kinds, minor_group


def test_counts_follow_the_formula_and_cover_everything():  # M25
    for d in range(1, 9):
        for s in range(1, d + 1):
            kinds = entry_kinds(d, s)
            assert kinds.counts == (s, 2 * s * d - s * s - s, (d - s) ** 2)
            assert (kinds.major.astype(int) + kinds.minor + kinds.irrelevant == 1).all()
    assert entry_kinds(5, 5).counts[2] == 0


def test_groups_cover_the_minor_entries_once_or_twice():
    d, s = 6, 3
    groups = [minor_group(d, s, p) for p in range(s)]
    assert all(group.sum() == 2 * (d - 1) for group in groups)
    times = np.sum(groups, axis=0)
    concept = np.arange(d) < s
    both = concept[:, None] & concept & ~np.eye(d, dtype=bool)
    assert (times[both] == 2).all()
    assert (times[entry_kinds(d, s).minor & ~both] == 1).all()
    assert (times[~entry_kinds(d, s).minor] == 0).all()


def test_irrelevant_entries_do_not_reach_the_output_at_concept_combinations():
    kinds = entry_kinds(5, 2)
    w = np.random.default_rng(0).normal(size=(5, 5))
    point = np.array([1.0, 2.0, 0.0, 0.0, 0.0])
    assert np.array_equal(w @ point, np.where(kinds.irrelevant, 0.0, w) @ point)


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="concepts"):
        entry_kinds(2, 3)
    with pytest.raises(BadInput, match="concept"):
        minor_group(3, 2, 2)
