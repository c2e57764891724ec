"""Random draws are the same numbers compiled or not, whatever is drawn at once."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from dynascope.numerics.draws import normal, signs, uniform
from dynascope.runtime.precision import precision


@pytest.mark.parametrize("draw", [normal, signs, uniform], ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(), (0, 3), (70, 61)], ids=str)
def test_a_draw_is_the_same_to_the_bit_inside_and_outside_of_a_compiled_call(draw, shape):
    key = jax.random.key(5)
    with precision("float64"):
        plain, compiled = draw(key, shape), jax.jit(lambda k: draw(k, shape))(key)
    assert plain.shape == compiled.shape == shape and plain.dtype == compiled.dtype == "float64"
    assert np.array_equal(plain, compiled)


def test_the_numbers_are_those_of_jax():
    key = jax.random.key(2)
    assert np.array_equal(normal(key, (5, 3)), jax.random.normal(key, (5, 3)))
