"""Taylor models against dense derivatives, closed forms, and under training."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import dynascope as ds
from compiling import quick  # tests is on the path
from dynascope import dynamics, models, probes, tasks
from dynascope.core.errors import BadInput
from dynascope.runtime.precision import precision

TASK = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.1, 0.2), samples_per_cluster=4)


def start(model, inputs=3, outputs=2):
    network = model.build(inputs, outputs)
    return network.apply, quick(network.init)(jax.random.key(0))


def moved(params, size, seed=1):
    flat, back = ravel_pytree(params)
    return back(flat + size * np.random.default_rng(seed).normal(size=flat.shape))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_expansions_are_the_dense_taylor_sums(activation):
    with precision("float64"):
        f, w0 = start(models.MLP(3, 5, activation))
        x = np.random.default_rng(0).normal(size=(4, 3))
        w = moved(w0, 0.3)
        flat0, back = ravel_pytree(w0)
        d = ravel_pytree(w)[0] - flat0

        def g(v):
            return f(back(v), x)

        dense = quick(lambda v: (g(v), jax.jacrev(g)(v) @ d, jax.hessian(g)(v) @ d @ d))
        value, slope, bend = dense(flat0)
        linear = quick(models.linearize(f, w0))(w, x)
        assert np.allclose(linear, value + slope, rtol=1e-12, atol=1e-13)
        quadratic = quick(models.quadratize(f, w0))(w, x)
        assert np.allclose(quadratic, value + slope + bend / 2, rtol=1e-12, atol=1e-13)


def test_the_remainder_falls_with_the_order():
    """Halving the displacement divides the remainder by 4 and by 8."""
    with precision("float64"):
        f, w0 = start(models.MLP(3, 5, "tanh"))
        x = np.random.default_rng(0).normal(size=(4, 3))
        for expand, order in ((models.linearize, 2), (models.quadratize, 3)):
            g = expand(f, w0)
            gap = quick(lambda w, g=g: jnp.abs(f(w, x) - g(w, x)).max())
            far, close = (float(gap(w)) for w in (moved(w0, 2e-3), moved(w0, 1e-3)))
            assert np.isclose(np.log2(far / close), order, atol=0.05)


def test_quadratic_model_of_two_relu_layers_is_the_gated_bilinear_network():
    """zhu2024 (3.10): g = (m d)^-1/2 sum_i v_i u_i . x [u0_i . x >= 0], far from the start too."""
    m, d = 40, 7
    random = np.random.default_rng(3)
    u0, u = random.normal(size=(2, m, d))
    v0, v = random.normal(size=(2, m))
    x = random.normal(size=(9, d))
    with precision("float64"):

        def f(w, x):
            return jax.nn.relu(x @ w[0].T) @ w[1] / (m * d) ** 0.5

        g = np.asarray(quick(models.quadratize(f, (jnp.asarray(u0), jnp.asarray(v0))))((u, v), x))
    gated = ((x @ u.T) * (x @ u0.T >= 0)) @ v / (m * d) ** 0.5
    assert np.abs(g - gated).max() <= 1e-12 * np.abs(gated).max()
    ungated = np.maximum(x @ u.T, 0) @ v / (m * d) ** 0.5
    assert np.abs(g - ungated).max() > 0.1  # the gates are those of the start


def test_functions_of_trees_with_whole_numbers_and_loops():
    def f(params, x):
        def body(_, h):
            return jnp.tanh(params["w"] * h)

        return {"out": jax.lax.fori_loop(0, 3, body, x) * params["times"]}

    w0 = {"w": jnp.array(0.7), "times": jnp.array(2)}
    with jax.numpy_dtype_promotion("standard"):
        x = jnp.linspace(-1.0, 1.0, 5)
        w = {"w": jnp.array(0.71), "times": jnp.array(2)}
        quadratic = quick(models.quadratize(f, w0))(w, x)["out"]
        assert np.allclose(quadratic, f(w, x)["out"], atol=1e-5)
        assert quadratic.dtype == jnp.float32


def test_expansions_keep_the_dtype_and_work_under_jit_and_vmap():
    f, w0 = start(models.MLP(2, 4, "tanh"))
    x = jnp.ones((6, 3))
    g = models.quadratize(f, w0)
    w = jax.tree.map(lambda p: p.astype(jnp.float32), moved(w0, 0.1))
    assert g(w, x).dtype == jnp.float32
    assert np.allclose(jax.jit(jax.vmap(g, (None, 0)))(w, x), g(w, x), rtol=1e-6)


@pytest.mark.parametrize(
    "rule",
    [
        dynamics.GradientDescent(0.05),
        dynamics.Momentum(0.05),
        dynamics.Adam(0.01),
        dynamics.Optax(optax.rmsprop, 0.01),
    ],
    ids=lambda rule: type(rule).__name__,
)
@pytest.mark.parametrize("kind", [models.Linearized, models.Quadratized])
def test_training_moves_the_displacement_and_leaves_the_anchor_bit_for_bit(kind, rule):
    from dynascope.dynamics.base import Objective

    network = kind(models.MLP(2, 4, "tanh")).build(2, 2)
    before = quick(network.init)(jax.random.key(0))
    samples = quick(TASK.samples)(jax.random.key(1))
    goal = Objective(lambda p, s: TASK.loss(network.bind(p), s), samples, jax.random.key(2), None)
    after = quick(lambda p: rule.advance(rule.begin(p, goal), goal, 0, 20, (0.0, 0.0)).params)(
        before
    )
    for a, b in zip(*(jax.tree.leaves(p["anchor"]) for p in (before, after)), strict=True):
        assert np.array_equal(a, b)
    assert max(float(jnp.abs(d).max()) for d in jax.tree.leaves(after["displacement"])) > 1e-3


@pytest.mark.slow
def test_the_engine_trains_network_and_models_of_it_from_one_start():
    """Close to the start they agree, and the quadratic model for longer."""
    inner = models.MLP(2, 16, "tanh")
    runs = [
        ds.simulate(TASK, model, dynamics.GradientDescent(0.01), steps=40, seeds=2,
                    probes=[probes.Loss()], dtype="float64", progress=False)["loss"].values
        for model in (inner, models.Linearized(inner), models.Quadratized(inner))
    ]  # fmt: skip
    network, linear, quadratic = runs
    assert np.allclose(network[:, 0], linear[:, 0], rtol=1e-14)
    assert (np.abs(quadratic - network)[:, -1] < np.abs(linear - network)[:, -1] / 3).all()


def test_what_cannot_be_expanded_is_refused():
    with pytest.raises(BadInput, match="a function"):
        models.linearize(3, jnp.ones(2))
    with pytest.raises(BadInput, match="floating"):
        models.quadratize(lambda w, x: x, {"n": jnp.array(2)})
    with pytest.raises(BadInput, match="Model"):
        models.Linearized(model=3)
