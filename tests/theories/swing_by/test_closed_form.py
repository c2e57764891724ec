import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by import closed_form as cf
from dynascope.theories.swing_by.stages import crossing_times

SIGNAL = np.array([0.5, 2.0, 0.0, 0.0])  # two concepts in four dimensions
START = np.random.default_rng(0).normal(size=(4, 4))
POINT = np.array([1.0, 2.0, -1.5, 0.5])


def velocity(w):
    return -(w - np.eye(4)) * SIGNAL


def runge_kutta(w, time, steps):
    h = time / steps
    for _ in range(steps):
        k1 = velocity(w)
        k2 = velocity(w + h / 2 * k1)
        k3 = velocity(w + h / 2 * k2)
        w = w + h / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(w + h * k3))
    return w


def test_jacobian_matches_runge_kutta():  # M3
    exact = cf.one_layer_jacobian(cf.flow_decay(SIGNAL, [0.0, 3.0]), START)
    assert np.array_equal(exact[0], START)
    assert np.abs(exact[1] - runge_kutta(START, 3.0, 3000)).max() < 1e-8


def test_descent_decay_is_exact_for_gradient_descent():  # M3
    w = START
    for _ in range(200):
        w = w + 0.03 * velocity(w)
    exact = cf.one_layer_jacobian(cf.descent_decay(SIGNAL, 0.03, [200]), START)[0]
    assert np.abs(exact - w).max() < 1e-12


def test_output_is_jacobian_times_point_only_with_noise_over_all_directions():  # M3
    decay = cf.flow_decay(SIGNAL, np.linspace(0, 5, 11))
    expected = cf.one_layer_jacobian(decay, START) @ POINT
    growth = cf.output_growth(decay, POINT)
    assert np.abs(cf.one_layer_output(decay, START, POINT) - expected).max() < 1e-12
    printed = growth + cf.output_noise(decay, START, POINT, directions=2)
    assert np.abs(printed - expected).max() > 0.1
    concept_point = POINT * [1, 1, 0, 0]  # at a concept combination the misprint is harmless
    printed = cf.output_noise(decay, START, concept_point, directions=2)
    assert np.array_equal(printed, cf.output_noise(decay, START, concept_point))


def test_lanes_do_not_see_each_other():
    decay = cf.flow_decay(SIGNAL, [0.5, 1.0])
    both = cf.one_layer_output(decay, np.stack([START, START.T]), POINT)
    assert np.abs(both[1] - cf.one_layer_output(decay, START.T, POINT)).max() < 1e-14


def test_absolute_bound_holds_and_printed_bound_breaks_with_mixed_signs():  # M4
    times = np.linspace(0, 10, 2001)
    start, point = np.array([[0.3, -0.3]]), np.array([1.0, 1.0])
    noise = cf.output_noise(cf.flow_decay([0.5, 2.0], times), start, point)
    assert cf.printed_noise_bound(start, point)[0] == 0
    assert abs(np.abs(noise).max() - 0.1417) < 0.001
    assert np.abs(noise).max() <= cf.noise_bound(start, point)[0]
    many = np.random.default_rng(1).normal(size=(200, 4, 4))
    noise = cf.output_noise(cf.flow_decay(SIGNAL, times), many, POINT)
    assert (np.abs(noise).max(axis=1) <= cf.noise_bound(many, POINT) * (1 + 1e-12)).all()


@pytest.mark.parametrize("clusters", [2, 3])
def test_learning_order_flips_where_the_strengths_meet(clusters):  # M20
    means, other = np.array([1.0, 2.0]), 0.05
    flip = cf.order_flip_scale((1.0, 2.0), other, clusters)
    signs = []
    for scale in (0.2, 0.999 * flip, 1.001 * flip, 3.0):
        a = np.array([scale, other]) ** 2 + means**2 / clusters
        times = np.linspace(0, 5, 50001)
        path = cf.one_layer_output(cf.flow_decay(a, times), np.zeros((2, 2)), means)
        first, second = crossing_times(path / means, times, 0.5)
        assert abs(first - np.log(2) / a[0]) < 1e-6
        signs.append(np.sign(first - second))
    assert signs == [1, 1, -1, -1]


def test_no_flip_when_the_first_concept_is_always_faster():
    with pytest.raises(BadInput, match="swap"):
        cf.order_flip_scale((2.0, 1.0), 0.05, 2)
