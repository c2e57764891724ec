"""`polyak`: its Monte Carlo against closed forms, PL* at single points, planted descents."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope import models
from dynascope.instruments.network.measuring import Training
from dynascope.runner.evaluation import Evaluation
from dynascope.runtime.precision import precision
from dynascope.studies import studies
from dynascope.studies.linearity.polyak import claims as measures
from dynascope.studies.linearity.polyak import orders
from dynascope.studies.linearity.polyak import runs as study_runs
from dynascope.studies.linearity.polyak.draws import (
    GradientNorms,
    block_norms,
    gradient_norms,
    image_norm,
    inner_product,
    matrix_series,
    random_columns,
    series_matrices,
)

STUDY = "polyak"


def test_the_chart_of_the_path_shows_the_constant_that_was_measured(outcome):
    study = studies.get(STUDY)
    value = Evaluation(study, study.at("smoke"), outcome.store, progress=False).value
    _, path, gradient = outcome.charts
    first = path.panels[0].marks[0]
    narrowest = next(iter(value(measures.connected).values()))
    shares = np.array([r.smallest / r.smallest[0] for r in narrowest])
    assert np.allclose(first.y, shares.mean(axis=0))
    loss, bound = path.panels[1].marks[:2]
    assert np.all(np.array(loss.y) <= np.array(bound.y) * (1 + 1e-12))
    assert len(gradient.panels[0].marks) == 4


def planted(mu, records=21, every=10):
    """A constant kernel with eigenvalues mu and 1; the loss falls as (1 - mu)^t, rate 1."""
    kernels = np.broadcast_to(np.diag([mu, 1.0]), (records, 2, 2))
    loss = (1 - mu) ** (every * np.arange(records))
    return {16: [Training(kernels, loss, 2 * mu * loss, np.zeros(records))]}


def test_a_planted_descent_is_as_fast_as_promised_or_is_not():
    settings = studies.get(STUDY).at("smoke")  # 200 steps, 20 records
    run = planted(0.1)[16][0]
    for mu, share in ((0.11, 1), (0.09, 0)):  # the loss of another mu
        row = {16: [run._replace(loss=planted(mu)[16][0].loss)]}
        assert measures.as_fast_as_promised(row, settings).value == share
    assert measures.kept(planted(0.1)).value == 1
    halves = run.kernels - np.diag([0.06, 0.0]) * np.linspace(0, 1, 21)[:, None, None]
    assert measures.kept({16: [run, run._replace(kernels=halves)]}).value == 0.5


def test_the_inequality_is_tight_where_the_gradient_is_as_small_as_it_may_be():
    runs = planted(0.1)
    assert measures.keep_inequality(runs).value == 1
    below = runs[16][0]._replace(slope=runs[16][0].slope * (1 - 1e-6))
    assert measures.keep_inequality({16: [below]}).value == 0
    diverged = runs[16][0]._replace(kernels=np.full((21, 2, 2), np.nan))
    assert measures.keep_inequality({16: [*runs[16], diverged]}).n == 1


def test_an_infinite_loss_with_a_finite_kernel_is_no_counterexample():
    """Weights that run away may leave dead ReLUs, whose kernel stays finite."""
    kernels = np.array([np.diag([1.0, 2.0])] * 2)
    fine = Training(kernels, np.ones(2), np.full(2, 3.0), np.zeros(2))
    gone = fine._replace(loss=np.array([1.0, np.inf]), slope=np.array([3.0, np.nan]))
    found = measures.keep_inequality({16: [fine, gone]})
    assert (found.value, found.n) == (1.0, 1)


def test_the_change_of_a_planted_constant_has_its_power():
    def moved(width):
        kernels = np.array([np.diag([0.1, 1.0]), np.diag([0.1 + width**-0.5, 1.0])])
        return Training(kernels, np.ones(2), np.ones(2), np.ones(2))

    found = measures.change({m: [moved(m)] * 3 for m in (16, 64, 256)})
    assert found.value == pytest.approx(-0.5)


def test_ratios_of_gradients_take_the_worst_depth():
    norms = {L: GradientNorms(np.full(3, 2.0 ** (-(L - 1) / 2)), np.full(3, 9.0)) for L in (2, 4)}
    exact = measures.least(lambda n, L: n.last / 2 ** (-(L - 1) / 2))
    assert exact(norms).value == pytest.approx(1)
    assert measures.last_square(norms).value == pytest.approx(0, abs=1e-12)
    norms[4] = GradientNorms(norms[4].last / 2, norms[4].whole)
    assert exact(norms).value == pytest.approx(0.5)
    assert measures.last_square(norms).value == pytest.approx(0.75)


def test_planted_descents_are_descents_on_their_kernels():
    """A step on K = diag(mu, 1) at rate 1: r' = (I - K) r, and |grad L|^2 = r K r."""
    found = study_runs.planted.function(studies.get(STUDY).at("smoke"))["linear"]
    for run in found[64]:
        first = run.loss[0]
        assert np.allclose(run.loss[1:] / run.loss[1], 0.9 ** (2 * 10 * np.arange(20)))
        assert run.loss[1] <= 0.9**20 * first and run.slope[0] <= 2 * first
        assert run.slope[0] >= 2 * 0.1 * first


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
        for found in (
            inner_product(radius, 2.5, 20_000, 0),
            image_norm(radius, 3.0, 20_000, 0),
            matrix_series(radius, 3.6, 20_000, 0),
            random_columns(radius, 1.3, 500, 0),
        ):
            assert found["lemma"].share <= found["lemma"].allowed
            if radius == 10.0:  # what the adversary adds is needed
                assert found["without"].share > found["lemma"].share
    printed = matrix_series(10.0, 3.6, 20_000, 0)["printed"]
    assert printed.share > 10 * printed.allowed
    assert series_matrices(0)[1] < 1 < series_matrices(0, 20.0)[1]


def test_adversaries_reach_what_the_lemmas_allow():
    """In one dimension the adversary adds R |b| exactly: the share is that of |N(0, 1)| > t."""
    from scipy.stats import norm

    found = inner_product(3.0, 1.5, 200_000, 0)["lemma"]
    b = np.random.default_rng(0).normal(size=20) / 20**0.5
    assert found.share == pytest.approx(2 * norm.sf(1.5 / np.linalg.norm(b)), rel=0.03)


@pytest.mark.parametrize("power", [pytest.param(0.5, marks=pytest.mark.slow), 0.0])
def test_orders_are_those_of_autodiff(power):
    """Derivatives and Hessian blocks of three layers of five softplus neurons, by jax."""
    width, seed = 5, 3
    found = orders.orders(width, seed, power)
    rng = np.random.default_rng(seed)
    x, w1 = rng.normal(size=orders.INPUTS), rng.normal(size=(width, orders.INPUTS))
    w2, w3 = rng.normal(size=(width, width)), rng.normal(size=width)
    u, _, v = np.linalg.svd(w2)
    w2 = w2 + orders.RADIUS * np.outer(u[:, 0], v[0])
    over = width**-power
    assert np.linalg.norm(w2 - np.outer(u[:, 0], v[0]) * orders.RADIUS, 2) == pytest.approx(
        np.linalg.norm(w2, 2) - orders.RADIUS
    )

    def first(w):
        return jax.nn.softplus(w[0].reshape(width, -1) @ x / orders.INPUTS**0.5)

    def z2(w):
        return over * w[1].reshape(width, width) @ first(w)

    def second(w):
        return jax.nn.softplus(z2(w))

    with precision("float64"):
        weights = [jnp.asarray(w1.ravel()), jnp.asarray(w2.ravel()), jnp.asarray(w3)]
        hessian = quick(jax.hessian(lambda w: over * w[2] @ second(w)))(weights)
        neurons = (np.asarray(quick(first)(weights)), np.asarray(quick(second)(weights)))
        jacobians = [
            quick(jax.jacobian(first))(weights)[0],
            *quick(jax.jacobian(second))(weights)[:2],
        ]
        bends = np.asarray(quick(lambda w: jax.vmap(jax.grad(jax.nn.sigmoid))(z2(w)))(weights))
        by_layer = [np.asarray(j) for j in quick(jax.jacobian(z2))(weights)[:2]]
    blocks = [np.linalg.norm(np.asarray(b), 2) for row in hessian for b in row]
    assert found.block == pytest.approx(max(blocks), rel=1e-9) and blocks[-1] == 0
    assert found.neurons == pytest.approx(max(h.max() for h in neurons))
    assert found.inputs == pytest.approx(max(np.linalg.norm(h) for h in neurons))
    assert found.spectral == pytest.approx(max(np.linalg.norm(np.asarray(j), 2) for j in jacobians))
    assert found.frobenius == pytest.approx(max(np.linalg.norm(np.asarray(j)) for j in jacobians))
    variances = [
        over**2 * np.linalg.norm(
            sum(k**2 * (a @ a) * np.outer(b, b) for k, a, b in zip(bends, one, other)), 2
        )
        for one in by_layer for other in by_layer
    ]  # fmt: skip
    assert found.variance == pytest.approx(max(variances), rel=1e-9)


@pytest.mark.slow
def test_each_hessian_block_is_that_of_autodiff():
    """All five norms, not the largest alone."""
    width = 4
    rng = np.random.default_rng(0)
    x, w1 = rng.normal(size=3), rng.normal(size=(width, 3))
    w2, w3, over = rng.normal(size=(width, width)), rng.normal(size=width), width**-0.5
    h1, g1, k1 = orders.softplus(w1 @ x)
    _, g2, k2 = orders.softplus(over * w2 @ h1)
    size = float(np.linalg.norm(x))
    found = orders.hessian_blocks(size, over, w2, w3, (h1, g1, k1), (g2, k2))

    def f(w):
        hidden = jax.nn.softplus(w[0].reshape(width, 3) @ x)
        return over * w[2] @ jax.nn.softplus(over * w[1].reshape(width, width) @ hidden)

    with precision("float64"):
        hessian = jax.hessian(f)([jnp.asarray(w.ravel()) for w in (w1, w2, w3)])
    for (i, j), norm in found.items():
        assert norm == pytest.approx(np.linalg.norm(np.asarray(hessian[i - 1][j - 1]), 2), rel=1e-9)


def test_block_norms_and_counts_of_weights():
    found = block_norms(5, 0)
    h = np.random.default_rng(0).normal(size=(5, 9, 9))
    h = h + h.transpose(0, 2, 1)
    assert found.blocks[2, 5] == pytest.approx(np.linalg.norm(h[2, 3:6, 6:9], 2))
    assert found.whole[4] == pytest.approx(np.linalg.norm(h[4], 2))
    seen = study_runs.weights_seen.function(studies.get(STUDY).at("smoke"))
    assert seen["mixed"] == {m: 10 * m**2 for m in (4, 8, 12)}
