"""Products with few columns against numpy's, and their derivatives against autodiff's."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope.numerics.small_products import product
from dynascope.runtime.precision import precision

# Rows, inner side, columns: on both sides of every bound of the rule.
SHAPES = [(3, 3, 3), (4, 4, 2), (2, 4, 4), (6, 6, 6), (8, 8, 7), (24, 24, 6), (25, 25, 6),
          (64, 64, 4), (64, 64, 5), (2, 64, 2)]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_the_product_and_has_its_derivative(shape):
    rows, inner, columns = shape
    random = np.random.default_rng(0)
    a, b = random.normal(size=(rows, inner)), random.normal(size=(inner, columns))
    weight = random.normal(size=(rows, columns))
    with precision("float64"):
        found = quick(product)(a, b)
        slopes = quick(jax.grad(lambda a, b: (weight * product(a, b)).sum(), (0, 1)))(a, b)
    np.testing.assert_allclose(found, a @ b, rtol=1e-12, atol=1e-12)
    # d tr(weight^T a b): weight b^T and a^T weight
    np.testing.assert_allclose(slopes[0], weight @ b.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slopes[1], a.T @ weight, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "dots"),
    [((64, 64, 4), 4), ((64, 64, 5), 1), ((3, 3, 3), 1), ((24, 24, 2), 1), ((5, 5, 5), 0)],
)
def test_few_columns_go_one_by_one(shape, dots):
    rows, inner, columns = shape
    traced = jax.make_jaxpr(product)(np.ones((rows, inner)), np.ones((inner, columns)))
    assert str(traced).count("dot_general") == dots
