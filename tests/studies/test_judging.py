"""A claim is put to its cases by one function and one bound; what is missing is said."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.sources import derived
from dynascope.studies import Missing, at_least, average, case, exact
from dynascope.studies.judging import judge
from dynascope.studies.nodes import Node, as_case
from dynascope.studies.study import ClaimSpec

HERE = Node("here")


def judged(own, other=0.0, certain=5.0, value=None, measure=exact, bound=None, note=""):
    """A claim of at least 1 about planted numbers."""
    claim = ClaimSpec(
        "study/claim", "A number is at least 1.", (derived(),), measure,
        bound or at_least(1, "derived"), as_case((own,)), case("another", other),
        case("certain", certain), note, None, False,
    )  # fmt: skip
    return judge(claim, None, lambda node: value)


def test_it_holds_only_where_the_control_fails():
    assert judged(2.0).verdict == "holds"
    found = judged(2.0, 3.0)
    assert found.verdict == "undecided" and found.control.verdict == "holds"
    assert "must fail holds too" in found.note
    found = judged(2.0, measure=lambda x: exact(x, 0.5 if x > 1 else 3.0))
    assert found.verdict == "undecided" and "must fail is undecided" in found.note


def test_it_fails_only_where_the_positive_case_holds():
    assert judged(0.5).verdict == "fails"
    found = judged(0.5, certain=0.7)
    assert found.verdict == "undecided" and found.positive.verdict == "fails"
    assert "must hold fails too" in found.note
    found = judged(0.5, measure=lambda x: exact(x, 0.2 if x < 1 else 9.0))
    assert found.verdict == "undecided" and "must hold is undecided" in found.note
    # What the case in which it must hold does is of no account to a claim that holds.
    assert judged(2.0, certain=0.7).verdict == "holds"


@pytest.mark.parametrize("number", [-1.0, 0.0, 1.0, 7.0])
def test_a_constant_detector_decides_nothing(number):
    assert judged(2.0, measure=lambda x: exact(number)).verdict == "undecided"


def test_what_is_undecided_says_how_many_seeds_would_decide():
    few = judged(0, measure=lambda x: average(np.array([0.8, 1.0, 1.6]) - x))
    assert few.verdict == "undecided" and few.seeds_needed > 3
    assert f"about {few.seeds_needed} seeds would decide" in few.note
    assert "One seed decides nothing" in judged(0, measure=lambda x: average(np.array([3.0]))).note
    assert "Nothing was measured" in judged(0, measure=lambda x: average(np.array([]))).note


def test_bound_and_note_may_be_worked_out_from_the_own_case():
    found = judged(2.0, bound=lambda x: at_least(2 * x, "ours"), note=lambda x: f"saw {x:g}")
    assert found.expected["low"] == 4.0 and found.verdict == "fails" and found.note == "saw 2"
    assert found.origin == "ours" and judged(2.0).origin == "derived"


def test_a_positive_case_is_measured_too():
    found = judged(0.5)
    assert found.positive.measured.value == 5.0 and found.positive.verdict == "holds"


def test_what_is_missing_is_said_and_decides_nothing():
    gone = judged(HERE, value=Missing("no data"))
    assert gone.verdict == "not_applicable" and gone.note == "no data" and gone.control is None
    assert judged(2.0, measure=lambda x: Missing("no seed")).verdict == "not_applicable"
    control = judged(2.0, HERE, value=Missing("no data"))
    assert control.verdict == "undecided" and "no data" in control.control.statement
