import warnings

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by.schur import (
    bottleneck_loss,
    factor_jacobian,
    naive_times,
    outlook,
    schur_complements,
    schur_times,
)
from dynascope.theories.swing_by.stages import half_crossings
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow

from .systems import embed, losses, strengths

MEANS = [(1, 2), (1, 1.5, 2.2), (1, 1.5, 2.2, 2.7)]
SEEDS = 100


def random_starts(scale):
    """Uniform U of all three sizes as lanes of one call, (3, seed, 4, 4), and their signals."""
    random = np.random.default_rng(0)
    drawn = [random.uniform(0, scale, (SEEDS, len(m), len(m))) for m in MEANS]
    weights = np.stack([np.stack([embed(u) for u in lane]) for lane in drawn])
    return weights, np.stack([embed(np.diag(strengths(m)))[None] for m in MEANS])


@pytest.mark.parametrize(("scale", "bound"), [(0.02, 0.01), (0.1, 0.06)])
def test_schur_law_predicts_half_crossings_and_the_naive_estimate_does_not(scale, bound):  # M14
    weights, signal = random_starts(scale)
    times = np.linspace(0, 60, 2001)
    measured = half_crossings(read_jacobian(tied_flow(weights, signal, times, rtol=1e-9)), times)
    for n, means in enumerate(MEANS):
        here, a = slice(len(means)), strengths(means)
        start = read_jacobian(weights[n])[:, here, here]
        found = measured[n, :, here]
        assert np.isfinite(found).all()
        schur = np.abs(schur_times(schur_complements(start, a), a) / found - 1)
        naive = np.abs(naive_times(start, a) / found - 1)
        assert (np.median(schur, axis=0) <= bound).all()
        assert np.median(naive[:, 0]) >= 0.08  # direction 0 is the weakest
        if scale == 0.02:
            assert np.median(schur[:, 0]) <= 0.001


def test_complements_match_a_plain_solve_and_do_not_depend_on_the_order_of_directions():
    random = np.random.default_rng(1)
    u, a = random.normal(size=(7, 5, 5)), np.array([0.3, 2.0, 1.1, 0.9, 4.0])
    w = read_jacobian(u)
    found = schur_complements(w, a)
    for lane in range(7):
        for k in range(5):
            more = np.flatnonzero(a > a[k])
            solved = np.linalg.solve(w[lane][np.ix_(more, more)], w[lane][more, k])
            expected = w[lane, k, k] - w[lane, k, more] @ solved
            assert found[lane, k] == pytest.approx(expected, rel=1e-8)
    shuffle = random.permutation(5)
    shuffled = schur_complements(w[:, shuffle][:, :, shuffle], a[shuffle])
    assert np.abs(shuffled / found[:, shuffle] - 1).max() < 1e-10


def test_equally_strong_directions_do_not_explain_each_other():
    w = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.5], [0.0, 0.5, 1.0]])
    found = schur_complements(w, [1.0, 1.0, 4.0])
    assert found == pytest.approx([1.0, 0.75, 1.0])


def test_ill_conditioned_starts_keep_their_digits():
    share = 1e-9
    w = 1e-80 * np.array([[1.0, np.sqrt(1 - share)], [np.sqrt(1 - share), 1.0]])
    found = schur_complements(w, [1.0, 4.0])
    assert found[0] == pytest.approx(share * 1e-80, rel=1e-5)


def test_width_rules_out_complements_that_are_round_off():
    a = [1.0, 2.0, 3.0, 4.0]
    narrow = np.random.default_rng(0).normal(size=(50, 4, 2))  # rank 2 in four dimensions
    complements = schur_complements(read_jacobian(narrow), a, width=2)
    assert (complements[:, :2] == 0).all() and (complements[:, 2:] > 0).all()
    # Where the two strong rows nearly agree, the weak ones are explained up to round-off only.
    narrow[:, 2] = 1.3 * narrow[:, 3] + 1e-4 * narrow[:, 2]
    w = read_jacobian(narrow)
    assert (schur_complements(w, a)[:, 1] > 1e-12).any()
    assert (schur_complements(w, a, width=2)[:, :2] == 0).all()


def test_times_at_the_edges():
    assert schur_times([0.0, 0.5, 0.9, 0.1], [1.0, 1.0, 1.0, 0.0]).tolist() == [
        np.inf,
        0.0,
        0.0,
        np.inf,
    ]
    assert naive_times([[1.0]], [0.0]).tolist() == [np.inf]


def test_factor_gives_back_the_matrix_and_keeps_missing_rank_missing():
    u = np.random.default_rng(0).normal(size=(9, 4, 4))
    w = read_jacobian(u)
    assert np.abs(read_jacobian(factor_jacobian(w)) - w).max() < 1e-13
    singular = 1e-82 * np.array([[2.0, -1.0, 1.0], [-1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    factor = factor_jacobian(singular)
    assert (factor[:, 2] == 0).all()
    assert np.abs(read_jacobian(factor) - singular).max() < 1e-96


def test_narrow_weights_end_at_the_bottleneck_and_rank_one_starts_are_trapped():  # M15
    means, a = np.array([1.0, 1.5, 2.2]), strengths((1, 1.5, 2.2))
    random = np.random.default_rng(2)
    weights = np.zeros((4, 3, 3))
    for width in (1, 2, 3):
        weights[width - 1, :, :width] = random.uniform(0, 0.1, (3, width))
    weights[3] = factor_jacobian(np.full((3, 3), 0.01))
    final = losses(read_jacobian(tied_flow(weights, a, [0.0, 200.0])), means)[:, -1]
    expected = [bottleneck_loss(means, a, width) for width in (1, 2, 3)]
    assert expected == pytest.approx([1.625, 0.5, 0.0])
    assert final == pytest.approx([*expected, 1.625], abs=1e-3)
    fates = [o.fate for o in outlook(np.full((3, 3), 0.01), a, horizon=200.0)]
    assert fates == ["rank-deficient", "rank-deficient", "in time"]


@pytest.mark.parametrize(("ratio", "close"), [(1.0, True), (1.04, True), (1.06, False)])
def test_outlook_warns_of_close_signals(ratio, close):
    start = 0.01 * np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.1], [0.1, 0.1, 1.0]])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = outlook(start, [1.0, ratio, 0.3], horizon=100.0)
    assert [o.close for o in found] == [close, close, False]
    assert len(seen) == close and all("0, 1" in str(w.message) for w in seen)


@pytest.mark.parametrize(("ratio", "low", "high"), [(1.02, 0.04, 0.11), (2.0, 0.0, 0.02)])
def test_the_law_is_off_for_close_signals_as_the_warning_says(ratio, low, high):
    weights = np.random.default_rng(1).uniform(0, 0.05, (60, 2, 2))
    a, times = np.array([1.0, ratio]), np.linspace(0, 20, 2001)
    path = read_jacobian(tied_flow(weights, a, times, rtol=1e-8))
    seen = half_crossings(path, times)
    predicted = schur_times(schur_complements(path[:, 0], a), a)
    assert low <= np.median(np.abs(predicted / seen - 1), axis=0).max() <= high


def test_outlook_tells_delay_from_trap():
    """The failure figure with A squared: 90% of starts look stuck at 100, none is trapped."""
    a = strengths((0.7, 1.7, 3.0)) ** 2
    random = np.random.default_rng(0)
    first = [
        outlook(read_jacobian(random.uniform(0, 0.1, (3, 3))), a, horizon=100.0)[0]
        for _ in range(400)
    ]
    assert {o.fate for o in first} == {"delay", "in time"}
    assert sum(o.fate == "delay" for o in first) / 400 == pytest.approx(0.9, abs=0.05)
    assert np.median([o.time for o in first]) == pytest.approx(132, abs=8)
    assert all(0 < o.share < 1 and o.naive_time < o.time for o in first)
    assert outlook([[0.1]], [0.0], horizon=1.0)[0].fate == "no signal"


@pytest.mark.parametrize(
    ("jacobian", "signal", "word"),
    [
        ([[1.0, 0.0]], [1.0], "jacobian"),
        ([[np.nan]], [1.0], "jacobian"),
        ([[-1.0]], [1.0], "negative"),
        ([[1.0]], [-1.0], "signal"),
    ],
)
def test_bad_input_is_refused(jacobian, signal, word):
    with pytest.raises(BadInput, match=word):
        schur_complements(jacobian, signal)
    with pytest.raises(BadInput, match="width"):
        bottleneck_loss([1.0], [1.0], 0)
