"""rank-proof: parts of a stage in closed form, and quotients of known functions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from dynascope.studies.comparisons import at_most
from dynascope.studies.nodes import Missing
from dynascope.studies.rank_increase.draws import from_to, share_within
from dynascope.studies.rank_increase.rank_proof import claims, phases, runs, technical
from dynascope.studies.rank_increase.rank_proof.phases import (
    RHO,
    Given,
    factors,
    parts,
    plateau,
    race,
)
from dynascope.studies.rank_increase.rank_proof.smoothness import DISTANCES, quotients, steepest
from dynascope.studies.rank_increase.rank_proof.technical import part_b

TARGET = np.array([2.0, -0.5])


def half_square(z, target):
    return 0.5 * jnp.sum((z - target) ** 2)


def test_parts_of_a_linear_network_end_where_the_closed_form_says():
    """Off the support w = alpha e^(beta t), and part A ends at |u| + |v| = w = 4 rho."""
    alpha = 1e-200
    found = race(Given(half_square, (TARGET,), np.ones(2), np.zeros(2)), (alpha,), 2, 401)
    flow = found.flows[0]
    assert found.stages.order.tolist() == [0, 1]
    first, second = parts(flow, found.stages)
    for part, beta in ((first, 2.0), (second, 0.5)):
        expected = (np.log(4 * RHO) - np.log(alpha)) / (beta * flow.length)
        assert abs(part.ends / expected - 1) < 1e-4
    assert first.begins == 0 and 0.5 < second.begins < 0.55
    # Part B of the first coordinate, z' = 2 z (beta - z): from rho^2 to beta - 2 sqrt(beta) CLOSE.
    (begins, ends), logit = part_b(flow, found.stages)[1], lambda z: np.log(z / (2 - z))
    close = (np.sqrt(2) - phases.CLOSE / np.sqrt(2)) ** 2  # u and v both off by this share
    expected = (logit(close) - logit(RHO**2)) / (2 * 2.0)
    assert abs((ends - begins) * flow.length / expected - 1) < 0.01


def test_plants_of_the_last_stage_leave_the_others_as_they_were():
    target = np.array([2.0, -1.0, 0.5])
    given = Given(half_square, (target,), np.ones(3), np.zeros(3))
    found = race(given, (1e-150, 1e-300), 3, 401)
    assert technical.duration_spread(found) < 1.1
    assert technical.largest_factor(found) < 1.1
    other = technical.slow_end(found)
    assert abs(technical.duration_spread(other) - 1.5) < 0.1
    assert technical.largest_factor(other) > 2
    before, after = (part_b(r.flows[-1], r.stages) for r in (found, other))
    assert sorted(before) == sorted(after) == [1, 2] and before[1] == after[1]
    assert other.flows[0] is found.flows[0]
    assert claims.wrong_signs(found, 1e-300) == 0
    turned = found._replace(flows=tuple(runs._turned(f, found.stages) for f in found.flows))
    assert claims.wrong_signs(turned, 1e-300) == 1
    turning = runs.turning.function(None, {0: found})[0]
    assert claims.wrong_signs(turning, 1e-300) == 0
    for planted in (turned, turning):
        assert [p.k for p in parts(planted.flows[-1], planted.stages)] == [0, 1, 2]
    resting = runs.resting.function(None, {0: found})[0]
    assert claims.turned(resting, 1e-300) == 0
    before = turning.flows[-1].at(0.3)[1]  # the second and third still have to escape
    assert np.sign(before[1:]).tolist() == [1, -1]


def test_weights_in_the_coordinates_of_the_proof():
    u, v = factors(np.log([3.0, 0.5]), np.log([1.0, 1.5]))
    assert np.allclose(u, [2.0, 1.0]) and np.allclose(v, [1.0, -0.5])
    assert plateau(np.array([4.0, -9.0, 0.0])).tolist() == [[2.0, 3.0, 0.0], [2.0, -3.0, 0.0]]


def test_quotients_of_known_functions():
    """A linear map of norm 3 has the quotient 3 at every distance; a kink's grows as 1 / d."""
    line = {"line": lambda x: 3 * x, "kink": lambda x: jnp.sign(x)}
    found = quotients(line, (), 2, seed=0)
    assert np.allclose(found.largest[0], 3.0)
    assert np.allclose(found.largest[1] * np.array(DISTANCES), 2.0, rtol=0.5)
    assert found.largest[1, -1] > 50 * found.largest[1, 0]
    # |grad of u^2 v^2 / 2| = |u v| |theta| is largest at u = v on the sphere: R^3 / 2.
    steep = steepest(half_square, (np.zeros(1),), 1, radius=2.0)
    assert 3.5 < steep <= 4.0


def test_a_draw_without_a_stage_is_left_out_and_one_that_is_no_number_decides_nothing():
    none = Missing("no stage is long")
    found = share_within([0.1, none, 0.3], at_most(0.2, "ours"))
    assert (found.value, found.n) == (0.5, 2)
    assert share_within([none, none], at_most(0.2, "ours")) is none
    assert share_within([0.1, np.nan], at_most(0.2, "ours")).value is None
    assert share_within([0.1, np.inf], at_most(0.2, "ours")).value == 0.5
    note = from_to(lambda x, k: none if x < 0 else k * x, "Ten times")
    assert note({0: 0.1, 1: 0.25, 2: -1.0}, 10) == "Ten times of each of 2 draws: 1 to 2.5."
