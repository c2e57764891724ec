"""rank-proof: parts of a stage in closed form, and quotients of known functions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from dynascope.studies.rank_increase.rank_proof import claims, phases, runs, technical
from dynascope.studies.rank_increase.rank_proof.phases import RHO, factors, parts, plateau, race
from dynascope.studies.rank_increase.rank_proof.smoothness import DISTANCES, quotients, steepest
from dynascope.studies.rank_increase.rank_proof.technical import part_b

TARGET = np.array([2.0, -0.5])


def test_parts_of_a_linear_network_end_where_the_closed_form_says():
    """Off the support w = alpha e^(beta t), and part A ends at |u| + |v| = w = 4 rho."""
    alpha = 1e-200
    loss = lambda z: 0.5 * jnp.sum((z - TARGET) ** 2)  # noqa: E731
    found = race(loss, np.ones(2), np.zeros(2), (alpha,), 2, 401)
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
    loss = lambda z: 0.5 * jnp.sum((z - target) ** 2)  # noqa: E731
    found = race(loss, np.ones(3), np.zeros(3), (1e-150, 1e-300), 3, 401)
    assert technical.duration_spread(found).value < 1.1
    assert technical.largest_factor(found).value < 1.1
    other = technical.other_end.function(None, found)
    assert abs(technical.duration_spread(other).value - 1.5) < 0.1
    assert technical.largest_factor(other).value > 2
    before, after = (part_b(r.flows[-1], r.stages) for r in (found, other))
    assert sorted(before) == sorted(after) == [1, 2] and before[1] == after[1]
    assert other.flows[0] is found.flows[0]
    assert claims.wrong_signs(found, 1e-300).value == 0
    turned = found._replace(flows=tuple(runs._turned(f, found.stages) for f in found.flows))
    assert claims.wrong_signs(turned, 1e-300).value == 1
    turning = runs.turning.function(None, found)
    assert claims.wrong_signs(turning, 1e-300).value == 0
    for planted in (turned, turning):
        assert [p.k for p in parts(planted.flows[-1], planted.stages)] == [0, 1, 2]
    before = turning.flows[-1].at(0.3)[1]  # the second and third still have to escape
    assert np.sign(before[1:]).tolist() == [1, -1]


def test_weights_in_the_coordinates_of_the_proof():
    u, v = factors(np.log([3.0, 0.5]), np.log([1.0, 1.5]))
    assert np.allclose(u, [2.0, 1.0]) and np.allclose(v, [1.0, -0.5])
    assert plateau(np.array([4.0, -9.0, 0.0])).tolist() == [[2.0, 3.0, 0.0], [2.0, -3.0, 0.0]]


def test_quotients_of_known_functions():
    """A linear map of norm 3 has the quotient 3 at every distance; a kink's grows as 1 / d."""
    line = {"line": lambda x: 3 * x, "kink": lambda x: jnp.sign(x)}
    found = quotients(line, 2, seed=0)
    assert np.allclose(found.largest[0], 3.0)
    assert np.allclose(found.largest[1] * np.array(DISTANCES), 2.0, rtol=0.5)
    assert found.largest[1, -1] > 50 * found.largest[1, 0]
    # |grad of u^2 v^2 / 2| = |u v| |theta| is largest at u = v on the sphere: R^3 / 2.
    steep = steepest(lambda z: 0.5 * jnp.sum(z**2), 1, radius=2.0)
    assert 3.5 < steep <= 4.0
