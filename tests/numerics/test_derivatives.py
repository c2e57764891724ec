from __future__ import annotations

import math

import jax.numpy as jnp
import pytest

from dynascope.numerics.derivatives import derivatives
from dynascope.numerics.iteration import doubling, steps


def test_six_derivatives_equal_closed_forms():
    s, c = math.sin(0.3), math.cos(0.3)
    assert derivatives(jnp.sin, 0.3, 6) == pytest.approx((s, c, -s, -c, s, c, -s), rel=1e-14)
    logs = [math.log(2.0), *((-1) ** (k + 1) * math.factorial(k - 1) / 2.0**k for k in range(1, 7))]
    assert derivatives(jnp.log, 2.0, 6) == pytest.approx(logs, rel=1e-13)


def test_they_are_taken_in_float64_whatever_the_caller_uses():
    assert derivatives(jnp.exp, 1.0, 2)[0] == pytest.approx(math.e, rel=1e-15)
    assert jnp.float32(1.0).dtype == jnp.zeros(()).dtype


def test_steps_equal_a_plain_loop_at_many_rates():
    import numpy as np

    rates, x = np.array([0.5, 1.1, 1.2]), np.full(3, 0.9)
    for _ in range(50):
        x = x - rates * x * (x * x - 1)
    found = steps(lambda y: (y**2 - 1) ** 2 / 4, np.full(3, 0.9), rates, 50)
    assert found == pytest.approx(x, rel=1e-9)


def test_doubling_of_the_quartic_is_at_the_root_of_five_less_one():
    x, rate = doubling(lambda y: (y**2 - 1) ** 2 / 4, 0.7, 1.23, 2)
    assert rate == pytest.approx(math.sqrt(5) - 1, abs=1e-12)
    y = x - rate * x * (x * x - 1)
    assert y - rate * y * (y * y - 1) == pytest.approx(x, abs=1e-12)


def test_a_search_that_fails_is_not_finite():
    assert not math.isfinite(doubling(lambda x: x * 0, 1.0, 1.0, 2)[1])
