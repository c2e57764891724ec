"""The single neuron against samples, differences and its own full-dimensional descent."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.single_neuron.stages import facts
from dynascope.studies.oscillation.single_neuron.witnesses import (
    full_descent,
    numerical_hessian,
    sampled_gradient,
    sphere,
)
from dynascope.theories.oscillation.neuron import (
    Neuron,
    decay_factors,
    deviation_bound,
    first_stage_bound,
    neuron_gradient,
    neuron_hessian,
    neuron_loss,
    reduced_descent,
    reduced_step,
)
from dynascope.theories.oscillation.quartic import quartic_orbit


@pytest.mark.parametrize("d", [2, 5])
def test_the_closed_gradient_is_that_of_a_million_points(d):
    random = np.random.default_rng(d)
    teacher = np.eye(d)[0]
    x = sphere(1_000_000, d, seed=d)
    for _ in range(2):
        w = random.normal(size=d)
        w /= np.linalg.norm(w)
        closed, drawn = neuron_gradient(1.2, w, teacher), sampled_gradient(1.2, w, teacher, x)
        assert closed[0] == pytest.approx(drawn[0], abs=3e-3)
        assert closed[1] == pytest.approx(drawn[1], abs=3e-3)
        error = 1.2 * np.maximum(x @ w, 0) - np.maximum(x @ teacher, 0)
        assert neuron_loss(1.2, w, teacher) == pytest.approx((error**2).mean(), abs=3e-3)


def test_the_gradient_is_that_of_the_loss():
    random = np.random.default_rng(0)
    v, w, h = random.uniform(0.5, 2, size=50), random.normal(size=(50, 4)), 1e-6
    teacher = np.array([0.6, 0.0, 0.0, 0.8])
    for_v, for_w = neuron_gradient(v, w, teacher)
    ahead, behind = (neuron_loss(v + s, w, teacher) for s in (h, -h))
    assert for_v == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    for j, e in enumerate(h * np.eye(4)):
        ahead, behind = (neuron_loss(v, w + s, teacher) for s in (e, -e))
        assert for_w[:, j] == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("v", [0.7, 1.0, 1.6])
def test_hessian_at_a_minimiser(d, v):
    teacher = np.eye(d)[0]
    hessian = neuron_hessian(v, teacher)
    printed = sorted([(v**-2 + v**2) / d, *[v**2 / d] * (d - 1), 0.0])
    assert np.linalg.eigvalsh(hessian) == pytest.approx(printed, abs=1e-10)
    assert hessian == pytest.approx(numerical_hessian(v, teacher / v, teacher), abs=1e-6)


@pytest.mark.parametrize("d", [2, 5, 20])
def test_three_numbers_are_the_descent_in_every_dimension(d):
    random = np.random.default_rng(d)
    teacher, w = (x / np.linalg.norm(x) for x in random.normal(size=(2, d)))
    full = full_descent(0.1, 0.1 * w, teacher, 1.1, 200)
    three = reduced_descent(Neuron(*(n[0] for n in full)), 1.1, 200)
    for a, b in zip(full, three, strict=True):
        assert a == pytest.approx(b, abs=1e-12)


def test_a_start_across_the_teacher_divides_by_nothing():
    trace = reduced_descent(Neuron(*np.array([0.1, 0.0, 0.1])), 1.1, 100)
    output = [0.1, 0.1339, 0.2155, 0.3946, 0.7285, 1.0743, 0.8411]
    across = [0.1, 0.1339, 0.1714, 0.2024, 0.1999, 0.1011, 0.0241]
    assert trace.output[:7] == pytest.approx(output, abs=1e-4)
    assert trace.across[:7] == pytest.approx(across, abs=1e-4)
    dead = reduced_step(Neuron(*np.zeros(3)), 1.1)
    assert np.isfinite(dead).all()
    assert all(np.isfinite(g).all() for g in neuron_gradient(0.5, np.zeros(3), np.eye(3)[0]))


def test_asymptotic_factors_of_two_steps():
    trace = reduced_descent(Neuron(*np.array([0.1, 0.0, 0.1])), 1.1, 100)
    across, imbalance = decay_factors(1.1)
    assert trace.across[20] / trace.across[18] == pytest.approx(across, abs=0.005)
    assert trace.imbalance[62] / trace.imbalance[60] == pytest.approx(imbalance, abs=0.005)
    assert across < imbalance and np.diff(decay_factors(1.4))[0] < 0


def test_the_orbit_is_the_quartics():
    late = reduced_descent(Neuron(*np.array([0.1, 0.0, 0.1])), 1.1, 1000)
    points = quartic_orbit(1.0, 1.1).points
    assert sorted(late.output[-2:]) == pytest.approx(points, abs=1e-12)
    assert sorted(late.along[-2:]) == pytest.approx(points, abs=1e-12)
    assert points == pytest.approx((0.814552, 1.116063), abs=1e-6)


def test_theorem_bound_has_no_violation_on_the_grid():
    seen = facts(
        np.linspace(1.0, 1.1, 21)[1:], np.linspace(0, 0.1, 11)[1:], np.linspace(0, np.pi / 2, 50),
        400,
    )  # fmt: skip
    assert seen.violations == 0 and seen.checks > 3_000_000
    assert seen.worst.max() == pytest.approx(0.0187, abs=1e-3)
    assert seen.spare_steps >= 0
    assert seen.settled == pytest.approx([0.663, 1.246], abs=1e-3)
    broken = facts(np.array([0.2]), np.array([0.1]), np.array([np.pi / 2]), 400)
    assert broken.violations > 0


def test_theorem_35_has_the_printed_base_exponent_and_begin():
    """0.1 (1 - 0.03 K)^(t - T1 - 4), with T1 = ceil(log_2.56(1.35 / (pi beta^2)))."""
    assert first_stage_bound(0.01) == 9  # beta = 0.0135014: log(2357.38) / log(2.56) = 8.26
    found = deviation_bound(np.array([12, 13, 14, 23]), 1.1, 0.01)
    assert found == pytest.approx([np.inf, 0.1, 0.0967, 0.1 * 0.967**10], rel=1e-12)
    assert deviation_bound(14, 1.02, 0.01) == pytest.approx(0.1 * (1 - 0.0306), rel=1e-12)
