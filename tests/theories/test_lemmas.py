import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.assumptions import learning_rate_bound
from dynascope.theories.lemmas import LemmaConstants, stage_times, verify_lemmas
from dynascope.theories.schur import factor_jacobian

from .systems import strengths

SIGNAL = np.array([0.25, 1.0])
RATE = learning_rate_bound(SIGNAL)
STEPS = 88_407


def verify(shape, signal=SIGNAL, steps=STEPS):
    constants = LemmaConstants.mildest(signal)
    start = factor_jacobian(constants.omega * np.asarray(shape, float))
    found = verify_lemmas(start, signal, constants, learning_rate_bound(signal), steps)
    return {check.name: check for check in found}


@pytest.fixture(scope="module")
def regular():
    return verify([[2, 1], [1, 2]])


@pytest.fixture(scope="module")
def rank_one():
    return verify([[1, 1], [1, 1]])


def test_mildest_constants_start_at_ten_to_the_minus_82():
    assert np.log10(LemmaConstants.mildest(SIGNAL).omega) == pytest.approx(-82.04, abs=0.02)
    with pytest.raises(BadInput, match=r"D\.5"):
        LemmaConstants.mildest(strengths((1, 1.5)))


def test_lemmas_hold_at_every_step_in_their_own_regime(regular):  # M19
    held = [name for name, check in regular.items() if check.holds and check.checked]
    assert set(regular) - set(held) == {"Cor D.1"}
    assert regular["D.1"].checked == 4 * (STEPS + 1)
    assert regular["D.8"].worst_gap == pytest.approx(62.8, abs=0.1)


def test_first_corollary_is_violated_as_printed_and_holds_with_p_squared(regular):  # M19
    assert regular["Cor D.1"].violations > 30_000
    # by a factor 10^22.8; a plain U would show 10^55, which is round-off (see tied_descent)
    assert regular["Cor D.1"].worst_gap / np.log(10) == pytest.approx(-22.8, abs=0.1)
    assert regular["Cor D.1 with P^2"].worst_gap > 0


def test_rank_one_start_breaks_the_growth_of_the_weak_direction(rank_one):  # M19
    assert rank_one["D.3"].violations > 0 and rank_one["D.3"].worst_gap < -250
    assert rank_one["D.8 time"].violations == 1  # it never reaches 0.8
    for name in ("D.1", "D.2", "D.5", "D.8"):
        assert rank_one[name].holds


def test_nearly_singular_start_breaks_the_growth_only_for_a_while():
    found = verify([[1 + 1e-6, 1], [1, 1 + 1e-6]])
    assert found["D.3"].worst_gap == pytest.approx(-8.2, abs=0.1)
    assert found["D.8 time"].holds


@pytest.mark.slow
def test_three_directions_and_their_singular_counterexample():
    signal = np.array([0.25, 1.0, 4.0])
    good = verify([[2, 1, 1], [1, 2, 1], [1, 1, 2]], signal, steps=None)
    assert [name for name, check in good.items() if not check.holds] == ["Cor D.1"]
    singular = verify([[2, -1, 1], [-1, 2, 1], [1, 1, 2]], signal, steps=None)
    assert singular["D.3"].worst_gap == pytest.approx(-331, abs=1)
    assert singular["D.3"].first_violation is not None


def test_stage_times_are_the_printed_formulas():
    constants = LemmaConstants.mildest(SIGNAL)
    times = stage_times(SIGNAL, 2 * constants.omega * np.ones(2), RATE, constants)
    assert times.uniform == pytest.approx(14_675, rel=2e-3)
    assert times.own[0] == pytest.approx(58_699, rel=2e-3)
    assert times.own[1] == pytest.approx(times.uniform)
    assert times.learned[0] > times.own[0]


def test_each_predicate_can_fail(rank_one):
    """Outside the regime: large steps, a minor entry fed by noise, an overshooting start."""
    settings = [
        ([[0.01, 0.009], [0.009, 0.01]], (0.5, 2.0), LemmaConstants(0.009, 1.2, 2.0), 0.4),
        (
            [[0.1, 0.06, 1e-4], [0.06, 0.1, 0.06], [1e-4, 0.06, 0.1]],
            (0.5, 1.0, 2.0),
            LemmaConstants(1e-4, 1000.0, 2.0),
            0.05,
        ),
        ([[0.5, 0.35], [0.35, 0.4]], (1.0, 2.0), LemmaConstants(0.3, 2.0, 2.0), 0.9),
    ]
    broken = {name for name, check in rank_one.items() if not check.holds}
    for start, signal, constants, rate in settings:
        found = verify_lemmas(factor_jacobian(start), signal, constants, rate, steps=500)
        broken |= {check.name for check in found if not check.holds}
    assert broken == set(rank_one)


def test_silent_lemma_is_reported_as_unchecked():
    constants = LemmaConstants.mildest(SIGNAL)
    start = factor_jacobian(constants.omega * np.array([[2.0, 1.0], [1.0, 2.0]]))
    found = {c.name: c for c in verify_lemmas(start, SIGNAL, constants, RATE, steps=10)}
    assert found["D.6"].checked == 0 and found["D.6"].worst_gap == np.inf
    assert found["D.8 time"].checked == 0


def test_zeros_in_the_start_are_refused():
    with pytest.raises(BadInput, match="zeros"):
        verify_lemmas(np.eye(2), SIGNAL, LemmaConstants(0.1, 2.0, 2.0), 0.01, steps=1)
