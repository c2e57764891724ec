"""Several changes at once."""

from __future__ import annotations

import itertools

import pytest

from dynascope.core.errors import BadInput
from dynascope.runner.changes import with_changes
from dynascope.tasks import IdentityMapping

CHANGES = {"means": (1.0, 2.0, 3.0, 4.0), "scales": (0.1,) * 4, "dimension": 4}


@pytest.mark.parametrize("order", list(itertools.permutations(CHANGES)))
def test_changes_that_need_each_other_may_come_in_any_order(order):
    start = IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=2)
    found = with_changes(start, {name: CHANGES[name] for name in order})
    assert found == IdentityMapping(CHANGES["means"], CHANGES["scales"], dimension=4)


def test_the_later_of_two_overlapping_changes_wins():
    found = with_changes(IdentityMapping(), {"means": (3.0, 4.0), "means[0]": 5.0})
    assert found.means == (5.0, 4.0)


def test_the_first_change_that_never_fits_is_told():
    with pytest.raises(BadInput, match="scales: got"):
        with_changes(IdentityMapping(), {"means": (1.0, 2.0, 3.0), "origin": True})
    with pytest.raises(BadInput, match="did you mean 'means'"):
        with_changes(IdentityMapping(), {"mean": 1, "origin": True})


def test_the_spec_itself_stays_as_it_was():
    start = IdentityMapping()
    assert with_changes(start, {}) is start
    with_changes(start, {"means": (9.0, 9.0)})
    assert start == IdentityMapping()
