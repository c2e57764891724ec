"""The single neuron: measuring functions on planted input, and known rates."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.oscillation.single_neuron import claims, runs, witnesses
from dynascope.studies.oscillation.single_neuron.stages import Facts, not_below, stages
from dynascope.theories.oscillation.neuron import Neuron, neuron_hessian
from dynascope.theories.oscillation.quartic import orbit_points

FEW = runs.Settings(strengths=2, sizes=2, angles=5, steps=60)


def test_the_squared_error_is_that_of_the_mean_and_not_of_the_noise():
    random = np.random.default_rng(0)
    truth, noise = np.array([0.3, -0.1, 0.2]), random.normal(size=(4000, 3))
    drawn = {2: witnesses.Gradients(np.ones(2), *np.split(truth + noise, [1], axis=1))}
    drawn[2] = drawn[2]._replace(for_v=drawn[2].for_v[:, 0])
    assert abs(claims.squared_error(drawn, {2: truth}).value) < 0.1, "noise alone has length 3"
    far = claims.squared_error(drawn, {2: truth + np.array([1.0, 0.0, 2.0])})
    assert far.value == pytest.approx(5, abs=0.3) and far.n == 2000


def test_printed_eigenvalues_are_those_of_the_closed_hessian():
    for d in (2, 5):
        dense = np.linalg.eigvalsh(neuron_hessian(1.6, np.eye(d)[0]))
        assert witnesses.printed_spectrum(1.6, d) == pytest.approx(dense, abs=1e-12)


def test_two_step_rates_are_the_known_ones():
    """0.100 and 0.800 within 0.005."""
    trace = runs.population.function(runs.Settings(), 1.1)
    assert claims.two_step_factor(trace, "across", 18).value == pytest.approx(0.1, abs=0.005)
    assert claims.two_step_factor(trace, "imbalance", 60).value == pytest.approx(0.8, abs=0.005)


def test_only_aligned_balanced_ends_are_on_the_orbit():
    points = orbit_points(1.0, 1.1)
    on, swapped = np.stack([points, points[::-1]], axis=1), np.stack([points, points], axis=1)
    assert claims.on_orbit({1.1: Neuron(on, on, np.zeros((2, 2)))}, (1.1,)).value == 1
    tilted = np.array([[0.0, 0.0], [0.0, 1e-3]])
    assert claims.on_orbit({1.1: Neuron(on, on, tilted)}, (1.1,)).value == 0.5
    off = np.array([[0.0, 0.1], [0.0, 0.1]])
    assert claims.on_orbit({1.1: Neuron(swapped, on + off, np.zeros((2, 2)))}, (1.1,)).value == 0.5


def test_period_four_is_not_period_two():
    cycles = np.stack([np.tile([1.0, 2, 3, 4], 128), np.tile([1.0, 2], 256)], axis=1)
    assert claims.with_period_four(Neuron(cycles, cycles, cycles)).value == 0.5


@pytest.mark.parametrize(
    "broken", [{"tilt": 2.8}, {"entries": np.array([0.7])}, {"ends": np.array([[0.5, 0.0]])},
               {"ends": np.array([[0.1, -0.02]])}, {"ends": np.array([[0.1, 0.18]])}]
)  # fmt: skip
def test_the_box_has_all_its_sides(broken):
    inside = Facts(1, 0, np.zeros(1), 0.0, 3.0, 2.0, 1.0, np.array([[0.1, 0.0]]),
                   np.array([0.5]), np.array([0.5, 1.0]))  # fmt: skip
    assert claims.in_box(inside).value == 1
    assert claims.in_box(inside._replace(**broken)).value == 0


@pytest.mark.parametrize(("ends", "room"), [((0.5, 1.0), 0.319), ((0.2, 1.6), -0.1),
                                            ((0.1, 1.2), -0.081), ((0.3, 1.45), 0.05)])  # fmt: skip
def test_the_basin_has_two_ends(ends, room):
    seen = Facts(1, 0, np.zeros(1), 0.0, 3.0, 2.0, 1.0, np.zeros((1, 2)), np.zeros(1),
                 np.array(ends))  # fmt: skip
    assert claims.room_in_basin(seen).value == pytest.approx(room)


def test_violations_are_those_counted_and_not_below_means_below():
    seen = Facts(7, 3, np.zeros(1), 0.0, 3.0, 2.0, 1.0, np.zeros((1, 2)), np.zeros(1), np.zeros(2))
    assert claims.violations(seen).value == 3
    assert claims.violations(seen._replace(violations=0)).value == 0
    across, bound = np.array([0.1, 0.2, 0.3, np.nan]), np.array([0.2, 0.2, 0.2, np.inf])
    assert not_below(across, bound) == 3, "at the bound, above it, and no number"
    assert not_below(across[:1], bound[:1]) == 0


def test_the_grids_are_the_theorems_a_slow_one_and_larger_starts():
    theorem, slow, large = (stages.function(FEW, g) for g in ("theorem", "slow", "larger starts"))
    assert theorem.checks == 2 * slow.checks, "the same starts at two strengths and at one"
    assert large.checks > theorem.checks, "the bound begins earlier"
    assert theorem.violations == 0 < slow.violations
    assert len(slow.entries) == 10 and len(theorem.entries) == len(large.entries) == 20
    assert claims.in_box(theorem).value == 1 > claims.in_box(large).value


def test_the_residual_is_that_of_the_last_fifty_steps():
    across = np.concatenate([np.ones(51), np.full(50, -1e-5)])
    assert claims.with_residual(Neuron(across, across, across)).value == 1
    both = np.stack([across, np.where(np.arange(101) < 51, 1.0, 1e-7)])
    assert claims.with_residual(Neuron(both, both, both)).value == 0.5


def test_planted_inputs_are_what_they_are_said_to_be():
    trace = runs.planted_trace.function(None)
    assert trace.across.argmax() == 3
    assert claims.two_step_factor(trace, "across", 18).value == pytest.approx(0.1)
    assert claims.two_step_factor(trace, "imbalance", 60).value == pytest.approx(0.8)
    assert claims.with_period_four(runs.planted_cycle.function(None)).value == 1


@pytest.mark.parametrize("d", witnesses.DIMENSIONS)
def test_the_closed_gradient_at_the_teacher_is_worked_out_by_hand(d):
    """At w = u the error is (v - 1) x.u where x.u > 0; half of the mean of (x.u)^2 is 1 / 2d."""
    along = np.eye(d)[0]
    by_hand = [-0.2 / d, *(-0.16 / d * along)]  # (v - 1) / d for v, and v times that along u
    assert witnesses.closed(along, 0.0) == pytest.approx(np.array(by_hand), abs=1e-12)
