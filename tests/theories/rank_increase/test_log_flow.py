"""The flow in logarithms against scipy, closed forms and the theory's times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from dynascope.core.errors import BadInput
from dynascope.numerics.log_flow import log_flow
from dynascope.numerics.stabilised import MOST_STAGES, chebyshev_step, reach
from dynascope.theories import diagonal_half_times, incremental_stages

from . import systems

U, V = np.array([1.3, -0.4, 0.9]), np.array([0.5, 1.1, -0.2])
START = np.random.default_rng(0).normal(size=(2, 5))


def escapes(flow, target):
    """First time at which every coordinate is half learned, by interpolation, (scales, p)."""
    found = np.empty((len(flow.alphas), len(target)))
    for k, products in enumerate(flow.products):
        for i, beta in enumerate(target):
            learned = products[:, i] / beta
            after = int(np.argmax(learned > 0.5))
            x, y = flow.times[after - 1 : after + 1], learned[after - 1 : after + 1]
            found[k, i] = np.interp(0.5, y, x)
    return found


@pytest.mark.parametrize("stages", [2, 5, MOST_STAGES])
def test_chebyshev_order_and_reach(stages):
    """Order 2 on a curved problem; stable at nine tenths of its reach, not beyond it."""

    curved = jax.jit(lambda y, h: chebyshev_step(lambda y: -(y**2), y, -(y**2), h, stages).state)
    straight = jax.jit(lambda y, h: chebyshev_step(lambda y: -y, y, -y, h, stages).state)

    def error(h):
        y = jnp.array([1.0])
        for _ in range(round(1 / h)):
            y = curved(y, h)
        return abs(float(y[0]) - 0.5)

    assert 3 < error(0.1) / error(0.05) < 5

    def grown(h):
        return abs(float(straight(jnp.array([1.0]), h)[0]))

    assert grown(0.9 * reach(stages)) <= 1.0 < grown(1.2 * reach(stages))


def test_against_scipy_in_u_and_v():
    """An independent solver in plain coordinates, at a scale that those can hold."""
    alpha, times = 0.1, np.linspace(0, 4, 9)

    def slope(t, y):
        u, v = y.reshape(2, 3)
        g = -systems.MOMENTS @ (u * v - systems.RETURNING)
        return np.concatenate([v * g, u * g])

    log = np.log(1 / alpha)
    plain = solve_ivp(slope, (0, 4 * log), alpha * np.concatenate([U, V]), t_eval=times * log,
                      rtol=1e-10, atol=1e-14)  # fmt: skip
    flow = log_flow(systems.returning, U, V, [alpha], times, tolerance=1e-6)
    np.testing.assert_allclose(flow.products[0], (plain.y[:3] * plain.y[3:]).T, atol=2e-5)


def test_conserves_exactly():
    """Check 5, first half, at scales from 0.1 to 1e-300 (check 21)."""
    flow = log_flow(systems.returning, U, V, [0.1, 1e-32, 1e-300], np.linspace(0, 3, 7))
    kept = flow.log_sum + flow.log_difference  # log|u^2 - v^2|
    np.testing.assert_allclose(kept, kept[:, :1] * np.ones((1, 7, 1)), rtol=1e-12)
    np.testing.assert_allclose(flow.products[2, -1], [0, 0.80908, 0.70908], atol=1e-4)


def test_comes_back_with_the_other_sign():
    """Check 4: S2 at 1e-32 flips coordinate 0 at 37.2 to 37.7."""
    # u^2 - v^2 = 1 for coordinate 0, so that a start of finite size shifts nothing.
    u, v = np.array([1.25, 1.3, 1.2]), np.array([0.75, 0.2, 0.1])
    flow = log_flow(systems.returning, u, v, [1e-32], np.linspace(0, 40, 2001))
    flipped = flow.times[np.argmax(flow.products[0, :, 0] < -0.15)]
    assert 37.2 < flipped < 37.7


def test_half_times():
    """Check 6: within 2e-3 at 0.1 and 1e-3 from 1e-4 on; the closed form against quadrature."""
    alphas = [0.1, 1e-4, 1e-32]
    flow = log_flow(systems.separate, *START, alphas, np.linspace(0, 4, 4001), tolerance=1e-5)
    seen = escapes(flow, systems.SEPARATE)
    for row, alpha in zip(seen, alphas, strict=True):
        expected = diagonal_half_times(systems.SEPARATE, *START, alpha)
        np.testing.assert_allclose(row, expected, rtol=2e-3 if alpha == 0.1 else 1e-3)
    for i, beta in enumerate(systems.SEPARATE):
        u, v = 0.1 * START[:, i]
        sign, size = np.sign(beta), abs(beta)
        exact, _ = quad(lambda z, c=u**2 - v**2, b=size: 1 / (np.hypot(c, 2 * z) * (b - z)),
                        sign * u * v, size / 2, limit=200)  # fmt: skip
        closed = diagonal_half_times([beta], START[:1, i], START[1:, i], 0.1)[0] * np.log(10)
        np.testing.assert_allclose(closed, exact, rtol=1e-7)


def test_error_is_one_over_log():
    """Check 7: |escape - T| log(1 / alpha) is the same at every scale, within 10 %."""
    alphas = [0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-32]
    flow = log_flow(systems.separate, *START, alphas, np.linspace(0, 3, 3001), tolerance=1e-5)
    limit = incremental_stages(systems.separate, 5).times
    late = np.abs(escapes(flow, systems.SEPARATE) - limit) / limit
    scaled = late.max(axis=1) * np.log(1 / np.array(alphas))
    assert scaled.max() / scaled.min() < 1.1


def test_ties_grow_together():
    """Check 17: in the flow both of two equal coordinates grow."""
    flow = log_flow(lambda z: 0.5 * jnp.sum((z - 1) ** 2), U[:2], V[:2], [1e-16], [1.5])
    np.testing.assert_allclose(flow.products[0, 0], 1.0, atol=1e-3)


def test_nothing_to_learn_stays_small():
    """Check 18: |z| stays of the order of alpha^2."""
    flow = log_flow(lambda z: 0.5 * jnp.sum(z**2), U, V, [1e-8], [5.0])
    assert np.abs(flow.products).max() < 1e-15


def test_learns_a_negative_sign_from_one_zero_factor():
    """Check 16, last part: v = 0 and a target of -1."""
    flow = log_flow(lambda z: 0.5 * jnp.sum((z + 1) ** 2), [1.0], [0.0], [1e-8], [2.0])
    np.testing.assert_allclose(flow.products[0, 0], -1.0, atol=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0, -0.1, float("nan")])
def test_bad_scale(alpha):
    """Check 21: one line."""
    with pytest.raises(BadInput, match="alpha: got"):
        log_flow(systems.returning, U, V, [alpha], [1.0])


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_factors(sign):
    """Check 16: |u| = |v| is refused in one line."""
    with pytest.raises(BadInput, match=r"\|u\| = \|v\| at coordinate 1"):
        log_flow(systems.returning, U, [0.5, sign * U[1], 0.1], [0.1], [1.0])


@pytest.mark.slow
def test_two_heads_share():
    """Check 15: two tied heads are learned in the ratio of their squared starts."""
    problem = systems.teacher(samples=60, tokens=4, size=4)
    random = np.random.default_rng(3)
    u, v = random.normal(size=(2, 16))
    found = incremental_stages(lambda z: problem.loss(z, number=2), 16)
    flow = log_flow(lambda z: problem.loss(z, number=2), u, v, [1e-32], [1.05 * found.until])
    values = flow.products[0, 0, 8:].reshape(2, 4)
    i = int(np.argmax(np.abs(values).sum(axis=0)))
    x = np.abs(u + np.sign(values[0, i]) * v)[8:].reshape(2, 4)[:, i]
    np.testing.assert_allclose(values[0, i] / values[1, i], (x[0] / x[1]) ** 2, rtol=1e-2)
