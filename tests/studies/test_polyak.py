"""`polyak` at smoke scale, its Monte Carlo against closed forms, and PL* at single points."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope import models
from dynascope.numerics.precision import precision
from dynascope.studies.linearity.gaussian_draws import (
    gradient_norms,
    image_norm,
    inner_product,
    matrix_series,
    series_matrices,
)
from dynascope.studies.linearity.polyak import Polyak


@pytest.fixture(scope="module")
def outcome():
    study = Polyak.at("smoke")
    found = study.analyse({})
    return study, found, {c.id.split("/")[1]: c for c in study.judge(found)}


def test_printed_steps_fail_and_corrected_ones_hold(outcome):
    _, _, claims = outcome
    fails = {slug for slug, c in claims.items() if c.verdict == "fails"}
    assert fails == {"gradient-proof", "lemma-series-printed"}
    undecided = {slug for slug, c in claims.items() if c.verdict == "undecided"}
    assert undecided <= {"change-falls"}
    for claim in claims.values():
        assert claim.control.verdict == "fails", claim


def test_the_chart_of_the_path_shows_the_constant_that_was_measured(outcome):
    study, found, _ = outcome
    path, gradient = study.draw(found)
    first = path.panels[0].marks[0]
    shares = np.array([r.smallest / r.smallest[0] for r in found.runs[0]])
    assert np.allclose(first.y, shares.mean(axis=0))
    loss, bound = path.panels[1].marks[:2]
    assert np.all(np.array(loss.y) <= np.array(bound.y) * (1 + 1e-12))
    assert len(gradient.panels[0].marks) == 4


@pytest.mark.parametrize("depth", [2, 4])
def test_gradient_norms_are_those_of_autodiff_and_of_the_closed_form(depth):
    """E |grad_last f|^2 = 2^-(L-1), and E |grad f|^2 is the infinite-width kernel's diagonal."""
    found = gradient_norms(depth, 2000, 1)
    squares = (found.last**2).mean(), (found.whole**2).mean()
    assert squares[0] == pytest.approx(2.0 ** -(depth - 1), rel=0.1)
    assert squares[1] == pytest.approx({2: 1.0, 4: 0.5}[depth], rel=0.1)
    assert squares[1] >= 2.0 ** -(depth - 1)
    # One network of the first batch, drawn again and differentiated by jax.
    random = np.random.default_rng(1)
    x = random.normal(size=(100, 20))[0]
    sizes = [20, *[64] * (depth - 1), 1]
    params = [{"weight": random.normal(size=(100, b, a))[0]}
              for a, b in pairwise(sizes)]  # fmt: skip
    with precision("float64"):
        network = models.MLP(depth, 64, "relu", parameterization="ntk").build(20, 1)
        slopes = jax.grad(lambda p: network.apply(p, jnp.asarray(x))[0])(params)
    each = [float((np.asarray(s["weight"]) ** 2).sum()) for s in slopes]
    assert np.isclose(found.last[0], each[-1] ** 0.5, rtol=1e-10)
    assert np.isclose(found.whole[0], sum(each) ** 0.5, rtol=1e-10)


def test_polyaks_inequality_is_an_equality_for_one_sample():
    network = models.MLP(3, 8, "tanh", parameterization="ntk").build(4, 1)
    x, y = np.random.default_rng(0).normal(size=(1, 4)), 0.7
    with precision("float64"):
        for seed in range(3):
            params = network.init(jax.random.key(seed))
            value, slope = jax.value_and_grad(lambda p: network.apply(p, jnp.asarray(x))[0, 0])(
                params
            )
            loss, back = jax.value_and_grad(
                lambda p: (network.apply(p, jnp.asarray(x))[0, 0] - y) ** 2 / 2
            )(params)
            kernel, square = (
                sum(float((np.asarray(g) ** 2).sum()) for g in jax.tree.leaves(tree))
                for tree in (slope, back)
            )
            assert square == pytest.approx(2 * kernel * float(loss), rel=1e-12)
            assert float(value) != y


def test_lemmas_hold_for_every_radius_and_the_printed_one_does_not():
    for radius in (0.0, 1.0, 10.0):
        for found in (inner_product(radius, 2.5, 20_000, 0), image_norm(radius, 3.0, 20_000, 0),
                      matrix_series(radius, 3.6, 20_000, 0)["proved"]):  # fmt: skip
            assert found.share <= found.allowed
    printed = matrix_series(10.0, 3.6, 20_000, 0)["printed"]
    assert printed.share > 10 * printed.allowed
    assert series_matrices(0)[1] < 1
