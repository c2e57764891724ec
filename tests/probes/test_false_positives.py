import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.probes.curves import bump, descents, terminal_rate
from dynascope.probes.false_positives import (
    correlated,
    decaying_curve,
    false_positive_rate,
    flat_curve,
    straight_path,
)
from dynascope.probes.trajectories import learning_order, swing_by

CLUSTERS = [[1.0, 0.0], [0.0, 2.0]]
TIMES = np.linspace(0, 1, 500)


def several(curve):
    return descents(curve).n_descents > 1


def several_beyond_noise(curve):
    return descents(curve, threshold="noise").n_descents > 1


def rises(curve):
    return bump(curve) > 0.002


def swings(path):
    return swing_by(path, (1.0, 2.0), CLUSTERS, threshold="noise").happened


def moves(curve):
    found = terminal_rate(curve, TIMES)
    return abs(found.rate) > 3 * found.error


def ordered(path):
    return learning_order(path, (1.0, 2.0), np.linspace(0, 3, 500)).order == (1, 0)


@pytest.mark.parametrize("detector", [several, several_beyond_noise, rises])
def test_no_false_positive_without_noise_or_far_below_the_threshold(detector):
    for noise in (0.0, 2e-4):
        assert false_positive_rate(detector, noise, n=200).value == 0


@pytest.mark.parametrize("noise", [1e-3, 1e-2, 5e-2])
def test_plain_threshold_is_fooled_and_the_noise_aware_one_is_not(noise):
    assert false_positive_rate(several, noise, n=200).value > 0.9
    assert false_positive_rate(rises, noise, n=200).value > 0.9
    assert false_positive_rate(several_beyond_noise, noise, n=300).value <= 0.01


def test_noise_that_remembers_fools_the_noise_estimate():
    """The limit stated in `noise_level`: thin such curves first."""
    fooled = false_positive_rate(several_beyond_noise, 0.01, n=200, null=correlated(0.9))
    assert fooled.value > 0.5

    def thinned(curve):
        return several_beyond_noise(curve[::20])

    assert false_positive_rate(thinned, 0.01, n=200, null=correlated(0.9)).value <= 0.03


def test_swing_by_is_not_seen_on_straight_noisy_paths():
    for noise in (0.0, 0.01, 0.05):
        assert false_positive_rate(swings, noise, n=200, null=straight_path).value <= 0.01


def test_a_flat_curve_has_no_rate():
    assert false_positive_rate(moves, 0.05, n=500, null=flat_curve).value <= 0.02


def test_equal_rates_have_no_preferred_order():
    def tied(random, noise):
        return straight_path(random, noise, rates=(1.0, 1.0), target=(1.0, 1.0))

    def second_first(path):
        return learning_order(path, (1.0, 1.0), np.linspace(0, 3, 500)).order == (1, 0)

    rate = false_positive_rate(second_first, 0.02, n=400, null=tied)
    assert abs(rate.value - 0.5) < 4 * rate.spread / rate.n**0.5 and rate.low < 0.5 < rate.high
    assert false_positive_rate(ordered, 0.02, n=50, null=straight_path).value == 1  # the control


def test_correlated_noise_has_the_variance_and_memory_it_says():
    random = np.random.default_rng(0)
    clean = np.exp(-5 * TIMES)
    noise = np.stack([correlated(0.9)(random, 1.0) - clean for _ in range(300)])
    assert noise.std() == pytest.approx(1, abs=0.05)
    assert np.mean(noise[:, 1:] * noise[:, :-1]) == pytest.approx(0.9, abs=0.06)


def test_curves_do_not_depend_on_how_many_are_drawn():
    seen = []
    for n in (2, 5):
        curves = []
        false_positive_rate(curves.append, 0.1, n=n, seed=7)
        seen.append(curves[1])
    assert np.array_equal(*seen)
    assert decaying_curve(np.random.default_rng(0), 0.0)[0] == 1.0


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="noise"):
        false_positive_rate(several, -0.1)
