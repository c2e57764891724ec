"""rank-proof: parts of a stage in closed form, and quotients of known functions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from dynascope.studies.rank_increase.rank_proof import phases
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
