import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by.assumptions import learning_rate_bound
from dynascope.theories.swing_by.lemmas import LemmaConstants, stage_times, verify_lemmas
from dynascope.theories.swing_by.schur import factor_jacobian
from dynascope.theories.swing_by.tied_flow import tied_descent

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


def gaps_by_loops(w, a, eta, c):
    """Worst gap of D.1 to D.4, D.6 and D.7 by plain loops over steps, entries and times t_0."""
    steps, d = len(w), len(a)
    edge, size = c.P * c.beta * c.omega, np.abs(w)
    worst = dict.fromkeys(("D.1", "D.2", "D.3", "D.4", "D.6", "D.7"), np.inf)

    def note(name, value):
        worst[name] = min(worst[name], value)

    for t, i, j in np.ndindex(steps, d, d):
        grown = eta * t * (a[i] + a[j])
        note("D.1", np.log(size[0, i, j]) + grown * c.kappa - np.log(size[t, i, j]))
        if t <= np.log(c.P) / (2 * eta * max(a) * c.kappa):
            note("D.2", np.log(edge / size[t, i, j]) if w[t, i, j] * w[0, i, j] > 0 else -np.inf)
            note("D.2", np.log(size[t, i, j] / size[0, i, j]) - grown / c.kappa)
        if i == j and t <= np.log(edge / w[0, i, i]) / (2 * eta * a[i] * c.kappa):
            note("D.3", np.log(edge / w[t, i, i]))
            note("D.3", np.log(w[t, i, i] / w[0, i, i]) - grown / c.kappa)
        for later in range(t, steps):
            if i == j and w[t, i, i] >= 1 - 2 / c.K:
                note("D.6", np.log(w[later, i, i] / (1 - 2 / c.K)))
            if a[i] > a[j] and w[t, i, i] > 0.8:
                note("D.7", np.log(max(size[t, i, j], c.omega) / size[later, i, j]))
            ceiling = max(edge, w[t + 1 : later + 1, i, i].max(initial=0))
            if i == j and later > t and w[t, i, i] >= edge and ceiling < 1 - 1 / c.K:
                rate = 2 * eta * (later - t) * a[i] * (1 - ceiling) / c.kappa
                note("D.4", np.log(w[later, i, i] / w[t, i, i]) - rate)
    return worst


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_gaps_match_plain_loops(rate):
    # the smallest entry is fed by noise and outgrows every bound
    a, constants = (0.5, 1.0, 2.0), LemmaConstants(1e-4, 1000.0, 2.0)
    start = factor_jacobian([[0.1, 0.06, 1e-4], [0.06, 0.1, 0.06], [1e-4, 0.06, 0.1]])
    expected = gaps_by_loops(tied_descent(start, a, rate, 100), a, rate, constants)
    found = {c.name: c for c in verify_lemmas(start, a, constants, rate, steps=100)}
    four = expected.pop("D.4")  # checked step by step, which decides the same
    assert (found["D.4"].worst_gap >= 0) == (four >= 0)
    assert expected["D.1"] < 0
    for name, gap in expected.items():
        assert found[name].worst_gap == pytest.approx(gap, abs=1e-12)


def test_silent_lemma_is_reported_as_unchecked():
    constants = LemmaConstants.mildest(SIGNAL)
    start = factor_jacobian(constants.omega * np.array([[2.0, 1.0], [1.0, 2.0]]))
    found = {c.name: c for c in verify_lemmas(start, SIGNAL, constants, RATE, steps=10)}
    assert found["D.6"].checked == 0 and found["D.6"].worst_gap == np.inf
    assert found["D.8 time"].checked == 0


def test_zeros_in_the_start_are_refused():
    with pytest.raises(BadInput, match="zeros"):
        verify_lemmas(np.eye(2), SIGNAL, LemmaConstants(0.1, 2.0, 2.0), 0.01, steps=1)
