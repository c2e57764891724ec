import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope.core.errors import BadInput, UnknownName
from dynascope.theories.swing_by.entry_flow import (
    convert_time,
    flow_terms,
    jacobian_velocity,
    peak_identity,
    suppression_threshold,
)

from .systems import logistic_entry


def random_system(dimension):
    random = np.random.default_rng(dimension)
    u = random.normal(size=(dimension, dimension)) / dimension
    return u, u @ u.T, random.uniform(0.1, 2.0, dimension)


def entry_by_entry(w, a):
    """(D.4)-(D.6) with plain loops."""
    d = len(a)
    growth, suppression, noise = np.zeros((3, d, d))
    for i in range(d):
        for j in range(d):
            growth[i, j] = w[i, j] * (a[i] + a[j])
            lean = w[i, i] * (3 * a[i] + a[j]) + (i != j) * w[j, j] * (3 * a[j] + a[i])
            suppression[i, j] = w[i, j] * lean / 2
            for k in set(range(d)) - {i, j}:
                noise[i, j] += w[k, i] * w[k, j] * (a[i] + a[j] + 2 * a[k]) / 2
    return growth, suppression, noise


@pytest.mark.parametrize("dimension", range(2, 7))
def test_terms_match_the_printed_sums_and_add_up_to_the_flow(dimension):  # M5
    _, w, a = random_system(dimension)
    terms = flow_terms(w, a)
    for got, expected in zip(terms, entry_by_entry(w, a), strict=True):
        assert np.abs(got - expected).max() < 1e-12
    total = terms.growth - terms.suppression - terms.noise
    assert np.abs(total - jacobian_velocity(w, a)).max() < 1e-12


@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_gradient_of_the_loss_is_twice_the_printed_flow(dimension):  # M5, F0.1
    u, w, a = random_system(dimension)

    def loss(u):
        return jnp.sum((u @ u.T - jnp.eye(dimension)) ** 2 * a) / 2

    with jax.enable_x64(True):
        slope = -np.asarray(jax.grad(loss)(jnp.asarray(u)))
    true_velocity = slope @ u.T + u @ slope.T
    assert np.abs(true_velocity / (2 * jacobian_velocity(w, a)) - 1).max() < 1e-6


def test_terms_work_on_jax_arrays_and_lanes():
    _, w, a = random_system(3)
    with jax.enable_x64(True):
        lanes = jax.jit(jax.vmap(lambda x: flow_terms(x, jnp.asarray(a))))(jnp.stack([w, 2 * w]))
    batched = flow_terms(np.stack([w, 2 * w]), a)
    for compiled, plain in zip(lanes, batched, strict=True):
        assert np.abs(np.asarray(compiled) - plain).max() < 1e-14
    assert np.abs(batched.noise[1] - flow_terms(2 * w, a).noise).max() < 1e-15


def test_uncoupled_diagonal_is_logistic(plane):  # M6
    system = plane["diagonal"]
    expected = logistic_entry(np.diagonal(system.start), system.signal, system.times)
    assert np.abs(np.diagonal(system.path, axis1=1, axis2=2) - expected).max() < 1e-8


def test_minor_entry_in_the_plane_has_no_noise_and_peaks_at_the_identity(plane):  # M7
    system = plane["swing-by"]
    noise = flow_terms(system.path, system.signal).noise
    assert (noise[:, 0, 1] == 0).all()
    expected = system.path[:, 0, 1] ** 2 * system.signal.sum()
    assert np.abs(noise[:, 0, 0] - expected).max() < 1e-15
    peak = np.abs(system.path[:, 0, 1]).argmax()
    left, right = peak_identity(system.path, system.signal)
    assert abs(left[peak] / right[peak] - 1) < 0.01
    assert left[peak - 50] < right[peak - 50] and left[peak + 50] > right[peak + 50]
    assert abs(system.path[peak, 0, 1] - 0.1015) < 1e-4 and abs(system.times[peak] - 1.45) < 0.02


def test_suppression_starts_below_one_and_at_four_fifths_for_a_factor_three():
    assert suppression_threshold(3.0, 1.0) == pytest.approx(0.8)
    assert (suppression_threshold(np.linspace(1.001, 10, 50), 1.0) < 1).all()
    assert suppression_threshold(1.0, 1.0) == 1.0


def test_clocks_convert_there_and_back():
    rate = {"learning_rate": 0.1, "dimension": 64, "reduction": "mean"}
    for clock in ("paper", "true", "step"):
        assert convert_time(3.0, "paper", clock, **rate) == pytest.approx(
            1 / convert_time(1 / 3.0, clock, "paper", **rate)
        )
    assert convert_time(1, "step", "true", **rate) == pytest.approx(0.003125)
    assert convert_time(100, "step", "paper", learning_rate=0.01) == pytest.approx(2.0)
    assert np.array_equal(convert_time(np.array([1.0, 2.0]), "true", "paper"), [2.0, 4.0])


def test_clocks_refuse_what_they_cannot_know():
    with pytest.raises(UnknownName, match="paper"):
        convert_time(1.0, "papper", "true")
    with pytest.raises(BadInput, match="learning_rate"):
        convert_time(1.0, "step", "true")
    with pytest.raises(BadInput, match="dimension"):
        convert_time(1.0, "step", "true", learning_rate=0.1, reduction="mean")
    with pytest.raises(BadInput, match="2x2"):
        peak_identity(np.eye(3), np.ones(3))
