"""The two-layer network with moving and frozen gates, and the general quadratic model."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope import dynamics, probes, simulate, tasks
from dynascope.core.errors import BadInput
from dynascope.models import QuadraticModel, TwoLayerReLU
from dynascope.runtime.precision import precision
from dynascope.theories import QuadraticMap


def inputs(n=5, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def jacobian(network, params, x):
    parts = quick(jax.jacrev(lambda p: network.apply(p, x)[:, 0]))(params)
    return np.concatenate([np.asarray(parts[k]).reshape(len(x), -1) for k in sorted(parts)], axis=1)


def moved(params, size=0.5):
    rng = np.random.default_rng(1)
    shift = {k: size * rng.normal(size=v.shape) for k, v in params.items() if k != "gates"}
    return params | {k: params[k] + v for k, v in shift.items()}


def test_frozen_gates_are_the_second_order_expansion_of_the_network():
    x = inputs()
    with precision("float64"):
        real, frozen = (TwoLayerReLU(20, gates).build(3, 1) for gates in ("moving", "frozen"))
        start = quick(real.init)(jax.random.key(3))
        end = moved(quick(frozen.init)(jax.random.key(3)))
        step = {k: end[k] - start[k] for k in start}
        first = lambda p: jax.jvp(lambda q: real.apply(q, x), (p,), (step,))[1]  # noqa: E731
        slope, second = quick(lambda p: jax.jvp(first, (p,), (step,)))(start)
        expected = quick(real.apply)(start, x) + slope + second / 2
        assert np.allclose(frozen.apply(end, x), expected, rtol=1e-12, atol=1e-13)
        assert not np.allclose(real.apply({k: end[k] for k in start}, x), expected, rtol=1e-2)


@pytest.mark.parametrize("gates", ["moving", "frozen"])
def test_the_kernel_is_that_of_the_formula(gates):
    x = inputs()
    with precision("float64"):
        network = TwoLayerReLU(20, gates).build(3, 1)
        params = moved(quick(network.init)(jax.random.key(3)))
        dense = jacobian(network, params, x)
        u, v, own = (
            np.asarray(params[k]) for k in ("u", "v", "gates" if "gates" in params else "u")
        )
    on = x @ own.T >= 0
    hidden, through = x @ u.T * on, on * v
    formula = ((through @ through.T) * (x @ x.T) + hidden @ hidden.T) / (20 * 3)
    assert np.allclose(dense @ dense.T, formula, rtol=1e-12)
    if gates == "frozen":
        assert not dense[:, : 20 * 3].any()  # the gates' copy has no gradient


def test_the_kernel_of_the_general_quadratic_model():
    x = inputs()
    with precision("float64"):
        network = QuadraticModel(0.2).build(3, 1)
        params = network.init(jax.random.key(0))
        dense = jacobian(network, params, x)
        flat = QuadraticModel(0.0).build(3, 1)
        assert np.allclose(flat.apply(params, 5 * x), flat.apply(params, x))
    assert not dense[:, :3].any()  # signs
    slope = x / np.linalg.norm(x, axis=1, keepdims=True)
    slope = slope + 0.2 * np.asarray(params["signs"] * params["weights"])
    assert np.allclose(dense[:, 3:], slope, rtol=1e-12)


@pytest.mark.slow
def test_the_engine_follows_the_exact_map():
    task, model = tasks.OneExample(dimension=7, label=0.8), TwoLayerReLU(100, "frozen")
    with precision("float64"):
        from dynascope.core.randomness import key_for

        x = np.asarray(task.samples(key_for(0, "data"))[0])
        network = model.build(7, 1)
        params = network.init(key_for(0, "init"))
        kernel = float(np.sum(jacobian(network, params, x) ** 2))
        output = float(network.apply(params, x)[0, 0])
    rate = 2.6 / kernel
    run = simulate(
        task, model, dynamics.GradientDescent(rate), steps=40, probes=[probes.Loss()],
        dtype="float64", progress=False,
    )  # fmt: skip
    path = QuadraticMap(rate, 100, 0.8, float(x[0] @ x[0]) / 7, output, kernel).trajectory(40)
    assert np.allclose(run["loss"].values[0], path.loss, rtol=1e-8, atol=1e-12 * path.loss.max())
    assert path.loss.max() > 2 * path.loss[0]


def test_an_input_of_zero_moves_nothing():
    with precision("float64"):
        network = TwoLayerReLU(10).build(1, 1)
        params = network.init(jax.random.key(0))
        x = jnp.zeros((2, 1))
        assert not jacobian(network, params, x).any()
        assert not np.asarray(network.apply(params, x)).any()


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(BadInput, match="width"):
        TwoLayerReLU(0)
    for model in (TwoLayerReLU(4), QuadraticModel()):
        with pytest.raises(BadInput, match="output_size: got 2"):
            model.build(3, 2)
