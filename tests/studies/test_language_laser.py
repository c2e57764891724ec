"""The planted models of language-laser: what the search finds is what was put in."""

import numpy as np
import pytest

from dynascope.studies.recall.language_laser.planted import (
    PLACES,
    planted,
    searched,
    writing,
)
from dynascope.studies.recall.language_laser.runs import CONTROLS, gain, study


def by_hand(model, attention, largest, smallest):
    """Log of p(answer) / p(generic), (answer,), in float64, where that much was added in all."""
    table = np.asarray(model.params["tokens"]["weight"], float)
    fixed = np.asarray(model.params["blocks"]["attention"]["output_bias"][0], float)
    third = np.diag(table[0])  # row k: what the generic word has in coordinate k
    z = table[1:] + attention * table[0] + largest * third[PLACES["largest"]]
    z = z + smallest * third[PLACES["smallest"]] + np.where(table[0] == 0, fixed, 0.0)
    z = z - z.mean(1, keepdims=True)
    logits = z / np.sqrt((z**2).mean(1, keepdims=True) + 1e-5) @ table.T
    return np.diag(logits[:, 1:]) - logits[:, 0]


def test_the_search_finds_the_direction_that_writes_the_generic_word():
    # In blocks of strength 1/2 and 1, 3/2 in all: what is cut in the second leaves a third.
    model = writing(attention=0.5, largest=-1.5, smallest=3.0)
    found = searched(model)
    base = by_hand(model, 0.75, -2.25, 4.5)
    after = {
        "best": by_hand(model, 0.75, -2.25, 1.5),
        "smallest_there": by_hand(model, 0.75, -0.75, 4.5),
        "dropped_there": by_hand(model, 0.75, -0.75, 1.5),
        "random_there": by_hand(model, 0.75, -0.75, 1.5),  # none of eight draws hits either
    }
    assert found.layer == 1 and "largest 0.0625" in found.edit
    held = found.base[:, 0] - found.base[:, 1]
    for name, wanted in after.items():
        at = [np.abs(base - value).argmin() for value in held]  # which answers judge
        assert held == pytest.approx(base[at], abs=1e-4)
        assert gain(found, name) == pytest.approx((wanted - base)[at], abs=1e-4), name


def test_where_the_smallest_direction_speaks_against_the_generic_word_all_cuts_harm():
    found = searched(writing(attention=1.0, smallest=-3.0))
    assert gain(found).max() < -1
    assert (found.scores["best"][:, 0] < found.base[:, 0]).all()
    attention, feed_forward = found.written.sum(1)
    assert (attention > 1).all() and (feed_forward < -1).all()


def test_controls_of_a_direction_that_no_one_keeps_do_as_well():
    found = planted.function(study.at("smoke"))["controls too"]
    for control in CONTROLS:
        assert gain(found, control) == pytest.approx(gain(found), abs=1e-3), control
