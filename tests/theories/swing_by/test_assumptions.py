import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by.assumptions import (
    check_assumptions,
    find_constants,
    learning_rate_bound,
)

from .systems import pair, strengths

FIGURES = {
    "2": strengths((1, 2)),
    "5": strengths((1, 1.5)),
    "8": strengths((1, 1.5, 2.2)),
    "9": strengths((1, 1.5, 2.2, 2.7)),
    "10": strengths((0.7, 1.7, 3)),
}


@pytest.mark.parametrize(("figure", "gap"), [("5", -0.38), ("8", -0.64), ("9", -1.81)])
def test_figures_without_enough_distinction_are_infeasible(figure, gap):  # M18
    found = find_constants(FIGURES[figure])
    assert not found.feasible and found.blocked_by == "D.5"
    assert found.gap == pytest.approx(gap, abs=0.01)
    assert found.log10_omega is None


@pytest.mark.parametrize(
    ("figure", "power", "log10_omega"),
    [("2", 1, -82), ("10", 1, -115.6), ("2", 2, -66), ("5", 2, -76), ("8", 2, -95), ("10", 2, -95)],
)
def test_largest_start_that_the_assumptions_allow(figure, power, log10_omega):  # M18
    found = find_constants(FIGURES[figure] ** power)
    assert found.feasible and found.blocked_by == ""
    assert found.log10_omega == pytest.approx(log10_omega, abs=1)
    assert found.learning_rate < 0.01  # every figure steps further than D.2 allows


@pytest.mark.parametrize("signal", [(0.25, 1.0), (0.25, 1.0, 4.0), (0.3, 1.2)])
def test_found_constants_pass_the_check_and_a_larger_start_does_not(signal):
    d, found = len(signal), find_constants(signal)
    shape = np.ones((d, d)) + np.eye(d)
    rate = learning_rate_bound(signal)
    omega, P = 10**found.log10_omega, 10**found.log10_P
    checked = check_assumptions(signal, omega * shape, rate, P, C=found.C)
    assert [a.name for a in checked] == ["D.1", "D.2", "D.3", "D.4", "D.5"]
    assert all(a.holds and not a.needed for a in checked)
    larger = check_assumptions(signal, 10 * omega * shape, rate, P, C=found.C)
    assert [a.name for a in larger if not a.holds] == ["D.4"]
    smaller = check_assumptions(signal, 0.1 * omega * shape, rate, P, C=found.C)
    assert [a.name for a in smaller if not a.holds] == ["D.5"]
    faster = check_assumptions(signal, omega * shape, 2 * rate, P, C=found.C)
    step = next(a for a in faster if not a.holds)
    assert step.name == "D.2" and step.margin == pytest.approx(-np.log10(2))
    assert f"{rate:.3g}" in step.needed


def test_rank_one_start_passes_although_the_lemmas_fail_there():
    found = find_constants((0.25, 1.0))
    start = 10**found.log10_omega * np.ones((2, 2))
    checked = check_assumptions(
        (0.25, 1.0), start, learning_rate_bound((0.25, 1.0)), 10**found.log10_P, beta=2.0
    )
    assert all(a.holds for a in checked)


def test_everyday_start_fails_with_its_reasons():
    checked = {a.name: a for a in check_assumptions(FIGURES["5"], pair(0.01, 0.9), 0.01, P=10.0)}
    assert checked["D.1"].holds and checked["D.3"].holds
    assert not checked["D.2"].holds and not checked["D.4"].holds and not checked["D.5"].holds
    assert "three times" in checked["D.5"].needed
    assert checked["D.4"].margin < 0 and "omega" in checked["D.4"].needed


def test_directions_without_signal_or_zero_entries_break_the_first():
    for signal, start in (((1.0, 0.0), pair(0.1, 0.5)), ((1.0, 4.0), pair(0.1, 0.0))):
        checked = check_assumptions(signal, start, 0.001, P=2.0)
        assert not any(a.holds for a in checked)
        assert "no zero" in checked[0].needed
    assert find_constants((0.0, 1.0)).blocked_by == "D.1"


def test_start_is_bounded_by_the_spread_alone_when_the_phase_is_tiny():
    checked = check_assumptions((1.0, 4.0), pair(1e-9, 0.5), 0.001, P=1e-6)
    assert "omega <= 1e-0.30" in checked[3].needed  # 1 / sqrt(2 beta), beta = 2


def test_kappa_too_large_for_any_gap_is_blocked():
    assert find_constants((0.25, 1.0), kappa=12.0).blocked_by == "D.4"


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="jacobian"):
        check_assumptions((1.0, 2.0), np.ones((3, 3)), 0.01, P=2.0)
    with pytest.raises(BadInput, match="P"):
        check_assumptions((1.0, 2.0), np.ones((2, 2)), 0.01, P=-1.0)
    with pytest.raises(BadInput, match="beta"):
        check_assumptions((1.0, 2.0), pair(1.0, 0.5), 0.01, P=2.0, beta=1.5)
    with pytest.raises(BadInput, match="K>=20"):
        find_constants((1.0, 4.0), K=10)
