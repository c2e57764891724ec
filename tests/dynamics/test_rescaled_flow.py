"""The engine's flow of diagonal networks, and descent beside it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope import simulate, sweep
from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent, RescaledFlow
from dynascope.engine.record import At, Evenly, Stop
from dynascope.models import (
    AttentionHead,
    DiagonalAttention,
    DiagonalLinear,
    DiagonalTransformer,
    Linear,
)
from dynascope.numerics.log_flow import log_flow
from dynascope.probes import HeadSpectra, Loss, Products
from dynascope.runtime.precision import precision
from dynascope.tasks import ArraySamples, AttentionTeacher, LowRankAttentionTeacher
from dynascope.theories import product_problem

TARGET = np.array([3.0, -2.0, 1.5])
WHITE = ArraySamples(np.eye(3), TARGET, reduction="half")
SMALL = AttentionTeacher(size=4, tokens=3, points=20)


@pytest.mark.slow
def test_engine_and_function_agree():
    """The flow of `simulate` is that of `log_flow` on the same data, start and scales."""
    times = np.linspace(0, 1.5, 16)
    run = simulate(
        SMALL, DiagonalAttention(), RescaledFlow(1e-8), time=1.5, record=Evenly(16),
        probes=[Loss(), Products()],
    )  # fmt: skip
    problem = product_problem(SMALL, DiagonalAttention())
    flow = log_flow(problem.loss, problem.u, problem.v, [1e-8], times)
    np.testing.assert_allclose(run["products"].values[0], flow.products[0], atol=1e-6)
    np.testing.assert_allclose(run["loss"].values[0], flow.losses[0], rtol=1e-6)


def test_scales_are_lanes():
    """Every alpha is a lane; 1e-300 learns the same as 1e-8 (check 21)."""
    run = sweep(
        WHITE, DiagonalLinear(), RescaledFlow(0.5), time=2.0, record=At((2.0,)),
        probes=[Products()], over={"dynamics.alpha": (1e-8, 1e-300)},
    )  # fmt: skip
    end = run["products"].isel(seed=0, step=-1).values
    np.testing.assert_allclose(end, [TARGET, TARGET], atol=2e-3)


def test_descent_multiplies_the_conserved_quantity():
    """Check 5, second half: a step of descent multiplies u^2 - v^2 by 1 - eta^2 g^2."""
    rate, steps = 0.05, 40
    network = DiagonalLinear(init_scale=0.3).build(3, 1)
    run = simulate(
        WHITE, DiagonalLinear(init_scale=0.3), GradientDescent(rate), steps=steps,
        probes=[Products()], dtype="float64",
    )  # fmt: skip
    g = TARGET - run["products"].values[0]
    problem = product_problem(WHITE, DiagonalLinear(init_scale=0.3))
    u, v = problem.u, problem.v
    expected = (u**2 - v**2) * np.prod(1 - rate**2 * g[:-1] ** 2, axis=0)
    with precision("float64"):
        slope = quick(
            jax.grad(lambda p: WHITE.loss(network.bind(p), WHITE.samples(jax.random.key(0))))
        )
        for _ in range(steps):  # descent by hand, in jax, on u and v
            d = slope({"u": jnp.asarray(u), "v": jnp.asarray(v)})
            u, v = u - rate * np.asarray(d["u"]), v - rate * np.asarray(d["v"])
    np.testing.assert_allclose(u * v, run["products"].values[0, -1], rtol=1e-9)
    np.testing.assert_allclose(u**2 - v**2, expected, rtol=1e-9)
    assert np.abs(expected / (problem.u**2 - problem.v**2) - 1).max() > 0.05  # it does move


def test_equal_factors_never_take_the_other_sign():
    """Check 16: with u = v descent cannot reach a negative target; the flow refuses the start."""
    model = DiagonalLinear(0.01, start=((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)))
    down = simulate(WHITE, model, GradientDescent(0.05), steps=600, probes=[Products()])
    np.testing.assert_allclose(down["products"].values[0, -1], [3.0, 0.0, 1.5], atol=2e-3)
    with pytest.raises(BadInput, match=r"\|u\| = \|v\| at coordinate 0.*one sign only"):
        simulate(WHITE, model, RescaledFlow(1e-4), time=3.0, probes=[Products()])
    other = DiagonalLinear(start=((1.0, 2.0, 1.0), (0.5, -2.0, 0.0)))
    with pytest.raises(BadInput, match="at coordinate 1"):
        simulate(WHITE, other, RescaledFlow(1e-4), time=3.0, probes=[Products()])


@pytest.mark.parametrize("model", [
    DiagonalAttention(init_scale=0.5), DiagonalTransformer(2, 2, init_scale=0.5),
    AttentionHead(init_scale=0.5),
])  # fmt: skip
def test_gradients_against_differences(model):
    """Check 8: central differences, within 1e-6."""
    network = model.build(4, 4)
    with precision("float64"):
        params = jax.tree.map(lambda a: a.astype(float), quick(network.init)(jax.random.key(1)))
        samples = SMALL.samples(jax.random.key(2))
        flat, back = jax.flatten_util.ravel_pytree(params)
        value = quick(lambda p: SMALL.loss(network.bind(back(p)), samples))
        slope = quick(jax.grad(value))(flat)
        for i in (0, 5, flat.size - 1):
            e = np.eye(flat.size)[i] * 1e-5
            np.testing.assert_allclose((value(flat + e) - value(flat - e)) / 2e-5, slope[i],
                                       atol=1e-6)  # fmt: skip


def test_pull_at_zero():
    """Check 8: no pull on scores at z = 0; on values about the teacher's, if its scores are 0."""
    task = AttentionTeacher(size=6, tokens=8, points=1000)
    problem = product_problem(task, DiagonalAttention())
    with precision("float64"):
        g = -np.asarray(quick(jax.grad(problem.loss))(jnp.zeros(12)))
        x, _ = task.samples(jax.random.key(0))
        values = jnp.arange(1.0, 7.0)
        from dynascope.tasks.attention_teacher import attention

        y = attention(x, jnp.zeros(6), values)
        loss = lambda z: task.loss(lambda t: attention(t, z[:6], z[6:]), (x, y))  # noqa: E731
        flat = -np.asarray(quick(jax.grad(loss))(jnp.zeros(12)))
    assert not g[:6].any() and g[6:].all()
    np.testing.assert_allclose(flat[6:], values, rtol=0.15)


def test_diagonal_blocks_are_those_written_out():
    """Two layers of three heads: the transformer's blocks against the sums of Example 3.2."""
    from dynascope.tasks.attention_teacher import attention

    network = DiagonalTransformer(2, 3).build(4, 4)
    with precision("float64"):
        x = np.random.default_rng(0).normal(size=(5, 3, 4))
        params = jax.tree.map(lambda a: a.astype(float), quick(network.init)(jax.random.key(1)))
        frozen = np.random.default_rng(0).normal(size=(2, 2, 4, 4)) / 2
        y = x
        for heads, (first, second) in zip(
            (params["u"] * params["v"]).reshape(2, 3, 2, 4), frozen, strict=True
        ):
            y = y + sum(attention(y, scores, values) for scores, values in heads)
            y = y + jax.nn.gelu(y @ first) @ second.T
        np.testing.assert_allclose(quick(network.apply)(params, x), y, rtol=1e-12)


def test_full_head_is_its_equation():
    """softmax(X W_K W_Q^T X^T) X W_V W_O^T, with the products formed."""
    from dynascope.tasks.attention_teacher import attention

    network = AttentionHead(3).build(4, 4)
    with precision("float64"):
        x = np.random.default_rng(0).normal(size=(5, 6, 4))
        p = jax.tree.map(lambda a: a.astype(float), quick(network.init)(jax.random.key(1)))
        formed = attention(x, p["K"] @ p["Q"].T, p["V"] @ p["O"].T)
        np.testing.assert_allclose(quick(network.apply)(p, x), formed, rtol=1e-11)


def test_transformer_with_one_layer_and_nothing_frozen_is_a_head_and_its_input():
    """One layer, one head, no feed-forward part: x + attn(x)."""
    x = jax.random.normal(jax.random.key(0), (5, 3, 4))
    deep = DiagonalTransformer(1, 1, feedforward_scale=0.0).build(4, 4)
    head = DiagonalAttention().build(4, 4)
    params = quick(head.init)(jax.random.key(1))
    np.testing.assert_allclose(
        quick(deep.apply)(params, x), x + quick(head.apply)(params, x), rtol=1e-5
    )


def test_low_rank_teacher_has_its_singular_values():
    """And the probe of a head reads those of its products."""
    scores, values = LowRankAttentionTeacher().teacher(jax.random.key(0))
    np.testing.assert_allclose(np.linalg.svd(scores)[1][:4], [1, 0.6, 0.3, 0.1], rtol=1e-4)
    np.testing.assert_allclose(np.linalg.svd(values)[1][:5], [3, 2, 1.2, 0.6, 0.3], rtol=1e-4)
    run = simulate(LowRankAttentionTeacher(points=4), AttentionHead(init_scale=0.1),
                   GradientDescent(0.01), steps=2, probes=[HeadSpectra()])  # fmt: skip
    params = AttentionHead(init_scale=0.1).build(8, 8)
    assert run["head_spectra"].shape == (1, 3, 2, 8)
    assert set(params.init(jax.random.key(0))) == set("KQVO")


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1.5])
def test_bad_scale(alpha):
    """One line."""
    with pytest.raises(BadInput, match="alpha: got"):
        RescaledFlow(alpha)


def test_model_without_products():
    """One line."""
    with pytest.raises(BadInput, match='parameters are "u" and "v"'):
        simulate(WHITE, Linear(0.1), RescaledFlow(0.1), time=1.0, probes=[Loss()])


def test_a_lane_stops():
    """Its rows are those of the free one until then, and stay; the others go on."""
    options = {"time": 2.0, "record": Evenly(41), "probes": [Loss(), Products()]}
    options["over"] = {"dynamics.alpha": (1e-8, 0.3)}
    free = sweep(WHITE, DiagonalLinear(), RescaledFlow(0.5), **options)
    stopped = sweep(
        WHITE, DiagonalLinear(), RescaledFlow(0.5), stop=Stop("loss", below=2.0), **options
    )
    at = stopped["stopped_step"].values[:, 0]
    assert at.tolist() == np.argmax(free["loss"].values[:, 0] < 2.0, axis=1).tolist()
    assert 0 < at.min() < at.max() == stopped.sizes["step"] - 1
    for lane, end in enumerate(at):
        for name in ("loss", "products"):
            mine, other = stopped[name].values[lane, 0], free[name].values[lane, 0]
            assert (mine[: end + 1] == other[: end + 1]).all()
            assert (mine[end:] == mine[end]).all()
